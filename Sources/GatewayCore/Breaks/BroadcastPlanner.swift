// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The gateway's decision about a request of a broadcaster.
package enum BroadcastPlan: Hashable, Sendable {
    /// Nothing has to be recorded.
    case answer(BroadcastReply.Body)
    /// To be appended to the log; the answer is what `Board.apply` makes of it.
    case append(BreakEntry)
}

/// Turns requests of broadcasters into entries for the event log, by the gateway's clock and configuration.
package struct BroadcastPlanner: Sendable {
    package var policy: BreakPolicy
    /// The policy that turns signals into breaks.
    package var cues: CuePolicy
    /// How often watchers are asked to report.
    package var reportInterval: Duration = WatcherBook.reportIntervalMax

    package init(policy: BreakPolicy, cues: CuePolicy = CuePolicy()) {
        self.policy = policy
        self.cues = cues
    }

    /// Decides about a request.
    ///
    /// The planner checks the right to the stream first, so that a broadcaster learns nothing of a stream that is not theirs. It
    /// tries rules that the board holds on a copy of the board first, so that the log does not fill with requests that are refused
    /// anyway. The board decides again when the entry comes back from the log, because other requests may have been faster.
    ///
    /// - Parameters:
    ///   - request: the broadcaster's request.
    ///   - principal: the broadcaster.
    ///   - board: the board as it is.
    ///   - now: when the request was received.
    ///   - listeners: how many listeners are expected to ask for a batch.
    ///   - trace: of the request; `nil`: it is not traced.
    /// - Returns: an answer, or the entry to append.
    package func plan(
        _ request: BroadcastRequest,
        by principal: BroadcastPrincipal,
        on board: Board,
        at now: Timestamp,
        listeners: Int,
        trace: TraceContext? = nil
    ) -> BroadcastPlan {
        if let stream = request.kind.stream, !principal.mayPublish(on: stream) {
            return .answer(.refused(principal.refusal(for: stream)))
        }
        if request.kind.isAboutLists, !principal.mayChangeLists {
            return .answer(.refused(principal.refusalForLists))
        }
        do throws(Refusal) {
            let kind: BreakEntry.Kind
            switch request.kind {
            case .publish(let publish):
                kind = .publish(try self.entry(for: publish, on: board, at: now, listeners: listeners))
            case .punch(let punch):
                kind = .punch(punch, start: try self.start(of: punch, on: board, at: now))
            case .update(let update):
                kind = .update(try self.entry(for: update, on: board, at: now, listeners: listeners))
            case .end(let end): kind = .end(end)
            case .cancel(let key): kind = .cancel(key)
            case .postpone(let postpone):
                kind = .postpone(try self.entry(for: postpone, on: board, at: now, listeners: listeners))
            case .list(let list): return .answer(Self.page(list, of: board, for: principal, at: now))
            case .signal(let signal):
                kind = .signal(try self.entry(for: signal, on: board, at: now, listeners: listeners))
            case .putList(let list): kind = .putList(list)
            case .removeList(let name):
                if let refusal = self.use(of: name) { throw refusal }
                kind = .removeList(name)
            case .lists(nil): return .answer(.adLists(board.lists.records.map(\.info)))
            case .lists(let name?):
                guard let list = board.lists[name] else { throw .noSuchList(name) }
                return .answer(.adList(list.info, list.advertisements))
            case .watchReport(let report):
                return .answer(.cueRule(self.cues.cueRule(for: report.stream, reportInterval: self.reportInterval)))
            }
            let entry = BreakEntry(
                at: now,
                broadcaster: principal.name,
                expectedRevision: request.expectedRevision,
                trace: trace,
                kind: kind
            )
            switch board.trial(of: entry) {
            case .changed(let each, _):
                if let refusal = Self.unplayable(each, after: kind) { throw refusal }
                return .append(entry)
            case .list(let list, .nothing): return .answer(.adList(list.info, []))
            case .housekept, .activated, .list: return .append(entry)
            case .unchanged(let each): return .answer(.break(each.info(at: now)))
            case .refused(let refusal): throw refusal
            }
        } catch {
            let conflict = request.kind.key.flatMap {
                board.revisionConflict(of: $0, expected: request.expectedRevision)
            }
            return .answer(.refused(conflict ?? error))
        }
    }

    /// Why a change must not be made: it would leave an exact break of which nothing can be played.
    ///
    /// This is decided here and not by the board, which takes what the log has: the broadcaster gets the answer before
    /// anything is recorded.
    private static func unplayable(_ each: Break, after change: BreakEntry.Kind) -> Refusal? {
        switch change {
        case .publish, .update, .punch, .postpone: break
        // A break that a signal opens is not exact, and a broadcaster's own length goes before what signals say.
        case .end, .cancel, .signal, .putList, .removeList, .announce, .expire, .housekeeping, .rules: return nil
        }
        guard each.exact else { return nil }
        let names = [AudienceVariant.defaultName] + each.record.variants.map(\.name)
        for (name, list) in zip(names, each.record.lists) where each.playableSteps(of: list).isEmpty {
            guard let last = list.last else { continue }
            let variant = names.count == 1 ? "" : " of the variant \(name)"
            return Refusal(
                .invalid,
                "The break \(each.key.id) is exact, and not even its last advertisement\(variant) fits: that lasts"
                    + " \(last.duration.inSecondsText). Make the break longer, or let its last advertisement be cut."
            )
        }
        return nil
    }

    private func entry(
        for publish: BroadcastRequest.Publish,
        on board: Board,
        at now: Timestamp,
        listeners: Int
    ) throws(Refusal) -> BreakEntry.Publish {
        // A repeat is the same break whatever the clock says by now.
        let known = board.known(publish.key) != nil
        var start: Timestamp?
        if let said = publish.start {
            start = known ? now : try self.resolve(said, at: now, leadTimeMin: self.policy.leadTimeMin)
        }
        let announce = start.map { max(now, $0 - self.policy.announceAhead) } ?? now
        return BreakEntry.Publish(
            request: publish,
            start: start,
            announce: announce,
            window: self.policy.window(opens: announce, start: start, listeners: listeners, hold: publish.hold),
            holdUntil: start == nil ? now + (publish.hold ?? self.policy.hold) : nil,
            // In the form that the log keeps: every reader of it must come to the same result.
            safetyDuration: .milliseconds(self.policy.safetyDuration.inMilliseconds)
        )
    }

    private func start(
        of punch: BroadcastRequest.Punch,
        on board: Board,
        at now: Timestamp
    ) throws(Refusal) -> Timestamp {
        // A repeat is the same punch whatever the clock says by now.
        let known = board.known(punch.key)
        if let start = known?.record.start, known?.record.punchedAs == punch.asSaid {
            return start
        }
        return try self.resolve(punch.start ?? .after(self.policy.punchLead), at: now, leadTimeMin: .zero)
    }

    private func entry(
        for update: BroadcastRequest.Update,
        on board: Board,
        at now: Timestamp,
        listeners: Int
    ) throws(Refusal) -> BreakEntry.Update {
        guard let said = update.start else { return BreakEntry.Update(request: update) }
        if case .at(let said) = said, let instant = board.known(update.key)?.record.start, instant.isSaid(by: said) {
            // It starts then already, whether that is over by now or not. Another gateway may have moved it meanwhile:
            // what follows from the start goes along.
            let announce = max(now, instant - self.policy.announceAhead)
            return BreakEntry.Update(
                request: update,
                start: instant,
                announce: announce,
                window: self.policy.window(opens: announce, start: instant, listeners: listeners)
            )
        }
        let start = try self.resolve(said, at: now, leadTimeMin: self.policy.leadTimeMin)
        let announce = max(now, start - self.policy.announceAhead)
        return BreakEntry.Update(
            request: update,
            start: start,
            announce: announce,
            window: self.policy.window(opens: announce, start: start, listeners: listeners)
        )
    }

    private func entry(
        for postpone: BroadcastRequest.Postpone,
        on board: Board,
        at now: Timestamp,
        listeners: Int
    ) throws(Refusal) -> BreakEntry.Postpone {
        let known = board.known(postpone.key)?.record.start
        // Where it has none the board says why it cannot be moved.
        var from = postpone.from ?? known ?? now
        // Who asks may know instants in whole milliseconds only; from here on they are exact, so that the log decides exactly.
        // By less it could not be told whether it has been moved already.
        if let said = postpone.from, let known, postpone.by >= .milliseconds(2) {
            if known.isSaid(by: said) {
                from = known
            } else if known.isSaid(by: said + postpone.by) {
                from = known - postpone.by
            }
        }
        let start = from + postpone.by
        // A repeat is the same at any later time of the clock. A later start does not shorten the lead of any listener.
        if known == from, known != start { _ = try self.resolve(.at(start), at: now, leadTimeMin: .zero) }
        let announce = max(now, start - self.policy.announceAhead)
        return BreakEntry.Postpone(
            request: postpone,
            from: from,
            announce: announce,
            window: self.policy.window(opens: announce, start: start, listeners: listeners)
        )
    }

    /// A start by the gateway's clock.
    private func resolve(_ said: BreakStart, at now: Timestamp, leadTimeMin: Duration) throws(Refusal) -> Timestamp {
        let start: Timestamp
        switch said {
        case .now: start = now
        case .after(let lead): start = now + lead
        case .at(let instant):
            guard instant >= now - self.policy.startLateMax else {
                throw Refusal(.startInPast, "The start \(instant) is over: it is \(now).")
            }
            start = max(instant, now)
        }
        let lead = start - now
        guard lead <= self.policy.startAheadMax else {
            throw Refusal(
                .tooFarAhead,
                "The start is \(lead.inSecondsText) ahead; the limit startAheadMax is \(self.policy.startAheadMax.inSecondsText)."
            )
        }
        guard lead >= leadTimeMin else {
            throw Refusal(
                .leadTimeTooShort,
                "The start leaves \(lead.inSecondsText) of lead; the limit leadTimeMin is \(leadTimeMin.inSecondsText)."
            )
        }
        return start
    }

    /// One page of the list of breaks: by stream, in the order in which they were published; only of streams that the principal
    /// has a right to.
    private static func page(
        _ list: BroadcastRequest.List,
        of board: Board,
        for principal: BroadcastPrincipal,
        at now: Timestamp
    ) -> BroadcastReply.Body {
        let after = BreakMark(bytes: list.after)
        if let stream = list.stream, let id = list.id {
            guard let each = board.known(BreakKey(stream: stream, id: id)),
                after.map({ ($0.stream, $0.number) < (stream, each.number) }) ?? true
            else { return .list([], after: []) }
            return .list([each.info(at: now)], after: [])
        }
        var infos: [BreakInfo] = []
        var bytes = 0
        var looked = 0
        var last: BreakMark?
        var isWhole = true
        board.scan(of: list.stream, after: after, where: principal.mayPublish) { each in
            let info = each.info(at: now)
            looked += 1
            let isWanted = list.id.map { $0 == each.key.id || $0 == each.record.alias } ?? true
            if isWanted {
                bytes += info.firstAdvertisementTitle.utf8.count + Self.infoBytesMax
                bytes += info.signals.count * Self.claimBytesMax
            }
            guard infos.count < WireLimits.breaksPerPageMax, bytes <= Self.pageBytesMax, looked <= Self.pageLooksMax
            else {
                isWhole = false
                return false
            }
            if isWanted { infos.append(info) }
            last = BreakMark(each)
            return true
        }
        return .list(infos, after: isWhole ? [] : last?.bytes ?? [])
    }

    /// The most breaks that are looked at for one page, also where few of them are asked for.
    private static let pageLooksMax = 4 * WireLimits.breaksPerPageMax

    /// More than a break takes in a list, but for the title of its first advertisement and its signals.
    private static let infoBytesMax = 896
    /// More than what the signals of one event say takes.
    private static let claimBytesMax = 192
    /// The limit on a page, so that its reply is not too large for its reader.
    private static let pageBytesMax = WireLimits.replyFrameBytesMax - 1_024
}

extension Timestamp {
    /// Whether it is the instant that a caller means who knows it in whole milliseconds, truncated or rounded.
    ///
    /// The gateway's clock is finer than what programs that ask can hold: the instants of JavaScript, for instance.
    fileprivate func isSaid(by said: Timestamp) -> Bool {
        let difference = self - said
        return difference > .milliseconds(-1) && difference < .milliseconds(1)
    }
}

extension BroadcastRequest.Kind {
    /// The stream that it is about; `nil`: a list of all.
    package var stream: StreamID? {
        switch self {
        case .list(let list): list.stream
        case .watchReport(let report): report.stream
        default: self.changedStream
        }
    }

    /// The stream that it would change; `nil`: none.
    package var changedStream: StreamID? {
        if case .signal(let signal) = self { return signal.stream }
        return self.key?.stream
    }

    /// Whether it is about ad lists.
    package var isAboutLists: Bool {
        switch self {
        case .putList, .removeList, .lists: true
        case .publish, .punch, .update, .end, .cancel, .list, .postpone, .signal, .watchReport: false
        }
    }

    /// The break that it names.
    package var key: BreakKey? {
        switch self {
        case .publish(let publish): publish.key
        case .punch(let punch): punch.key
        case .update(let update): update.key
        case .postpone(let postpone): postpone.key
        case .end(let end): end.key
        case .cancel(let key): key
        case .list, .signal, .putList, .removeList, .lists, .watchReport: nil
        }
    }
}

extension BreakMark {
    /// Reads what `bytes` wrote; anything else begins at the first page.
    fileprivate init?(bytes: [UInt8]) {
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard parts.count == 2, let number = UInt64(parts[1]), let stream = try? StreamID(String(parts[0])) else {
            return nil
        }
        self.init(stream: stream, number: BreakNumber(rawValue: number))
    }

    fileprivate var bytes: [UInt8] { Array("\(self.stream) \(self.number)".utf8) }
}
