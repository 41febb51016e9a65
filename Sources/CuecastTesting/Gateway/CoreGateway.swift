// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// A gateway of one stream in memory: all of its decisions are those of `GatewayCore`.
///
/// It has no clock, sends nothing and waits for nothing: its owner says what time it is, delivers the notices and asks again at
/// the instant that `runTimers` names. Faults, a lost reply for instance, are made by the owner as it delivers.
package struct CoreGateway: Sendable {
    /// Why nothing came of what a broadcaster asked.
    package enum Refused: Error, Hashable, Sendable {
        /// It cannot be sent to a gateway at all.
        case invalid(WireError)
        /// The gateway does not do it as things stand.
        case byRule(Refusal)
    }

    /// The outcome that stands for an advertisement and a session.
    package struct StandingOutcome: Hashable, Sendable {
        package let session: SessionID
        package let key: BreakKey
        package let outcome: Outcome
    }

    package let stream: StreamID
    package private(set) var board: Board
    /// Which run of the gateway this is.
    package private(set) var instance: UInt64
    /// The valid outcomes, in the order of their reports.
    package private(set) var standing: [StandingOutcome] = []
    private let headInterval: Duration
    private let planner: BroadcastPlanner
    private let timers: BreakTimers
    private var handler: ListenerRequestHandler
    private var heads: HeadSchedule
    private var books = LedgerBooks()
    /// How many records the lane of acknowledgements has.
    private var groupCount: UInt64 = 0

    /// A gateway without breaks.
    ///
    /// - Parameters:
    ///   - stream: the stream whose position it repeats.
    ///   - policy: how breaks are announced.
    ///   - cues: the cue policy.
    ///   - headInterval: how often the stream's position is repeated when nothing else happens; at least 1 ms.
    ///   - now: when it starts.
    package init(
        stream: StreamID,
        policy: BreakPolicy = BreakPolicy(),
        cues: CuePolicy = CuePolicy(),
        headInterval: Duration = .seconds(5),
        at now: Timestamp
    ) {
        self.stream = stream
        self.headInterval = headInterval
        self.planner = BroadcastPlanner(policy: policy, cues: cues)
        self.timers = BreakTimers(policy: policy)
        self.board = Board(epoch: 7)
        self.instance = 100
        self.handler = Self.handler(instance: self.instance, headInterval: headInterval, board: self.board)
        self.heads = HeadSchedule(interval: headInterval)
        self.heads.subscribed(stream, at: now)
    }

    private static func handler(
        instance: UInt64,
        headInterval: Duration,
        board: Board
    ) -> ListenerRequestHandler {
        var settings = ListenerRequestHandler.Settings(instance: instance)
        settings.headInterval = headInterval
        return ListenerRequestHandler(settings: settings, board: board, keys: .fixed, metrics: MetricRegistry())
    }

    /// Where the stream stands.
    package var head: Position { self.board.position(of: self.stream) }

    /// The stream's breaks.
    package var breaks: [BreakID: Break] {
        var breaks: [BreakID: Break] = [:]
        self.board.scan(of: self.stream) { each in
            breaks[each.key.id] = each
            return true
        }
        return breaks
    }

    package subscript(id: BreakID) -> Break? { self.board[BreakKey(stream: self.stream, id: id)] }

    // MARK: The broadcaster's side

    /// Does what the broadcaster asks.
    ///
    /// - Parameters:
    ///   - kind: the kind of the request.
    ///   - window: when listeners are to ask for their batches, in place of what the policy says.
    ///   - now: when the gateway receives it.
    /// - Returns: the notices that come of it; none where nothing changes for listeners.
    /// - Throws: the gateway's refusal.
    package mutating func ask(
        _ kind: BroadcastRequest.Kind,
        window: RequestWindow? = nil,
        at now: Timestamp
    ) throws(Refused) -> [Notice] {
        let request: BroadcastRequest
        do throws(WireError) {
            request = try BroadcastRequest(id: 1, kind: kind).checked()
        } catch {
            throw .invalid(error)
        }
        switch self.planner.plan(request, by: .anybody, on: self.board, at: now, listeners: 1) {
        case .answer(.refused(let refusal)): throw .byRule(refusal)
        case .answer: return []
        case .append(var entry):
            if let window { entry.kind = entry.kind.with(window) }
            let results = self.append([entry], at: now)
            if case .refused(let refusal) = results.first { throw .byRule(refusal) }
            return Self.notices(of: results)
        }
    }

    private mutating func append(_ entries: [BreakEntry], at now: Timestamp) -> [EntryResult] {
        let results = self.board.apply(BreakGroup(entries: entries), offset: self.board.offset + 1)
        self.handler.board = self.board
        if !Self.notices(of: results).isEmpty { self.heads.noticed(self.stream, at: now) }
        return results
    }

    private static func notices(of results: [EntryResult]) -> [Notice] {
        results.compactMap { if case .changed(_, let notice) = $0 { notice } else { nil } }
    }

    /// Does what its time has come for.
    ///
    /// - Parameter now: the gateway's clock.
    /// - Returns: the notices that come of it, heads last, and when to call again if nothing is asked before.
    package mutating func runTimers(at now: Timestamp) -> (notices: [Notice], next: Timestamp?) {
        var notices: [Notice] = []
        while true {
            let (entries, next) = self.timers.due(on: self.board, at: now) { _ in 1 }
            guard entries.isEmpty else {
                notices += Self.notices(of: self.append(entries, at: now))
                continue
            }
            for _ in self.heads.due(at: now) { notices.append(.head(self.head, sent: now)) }
            return (notices, [next, self.heads.next].compactMap { $0 }.min())
        }
    }

    // MARK: The listeners' side

    /// Answers a request, once what it records is durable.
    ///
    /// - Parameters:
    ///   - frame: the request.
    ///   - push: the push state of its connection, before and after the request: where notices of a session are pushed, the
    ///     caller delivers them there, after the answer.
    ///   - now: the gateway's clock.
    /// - Returns: the reply.
    package mutating func answer(_ frame: [UInt8], push: inout PushPlace, at now: Timestamp) -> [UInt8] {
        let handled = self.handler.handle(frame, from: PeerFacts(transport: "memory", push: push), at: now)
        switch handled.effects.push {
        case .begins(let session, let stream, _, _): push = .taken(session: session, stream: stream)
        case .ends: push = .free
        case nil: break
        }
        switch handled.answer {
        case .now(let reply): return reply.frame
        case .afterToken: preconditionFailure("a gateway in memory protects no stream")
        case .afterCatchUp: preconditionFailure("a gateway in memory has its log for itself")
        case .afterGroup(let deferred):
            self.flush()
            return self.handler.finish(deferred, isDurable: true, at: now).frame
        }
    }

    /// Answers a request of a connection that nothing can be pushed on.
    package mutating func answer(_ frame: [UInt8], at now: Timestamp) -> [UInt8] {
        var push = PushPlace.none
        return self.answer(frame, push: &push, at: now)
    }

    /// Ends before what a request asks to be recorded is durable.
    package mutating func fail(_ frame: [UInt8], at now: Timestamp) {
        _ = self.handler.handle(frame, from: PeerFacts(transport: "memory"), at: now)
        self.restart(losesHistory: false)
    }

    /// Makes durable what has gathered, and brings it into the books.
    private mutating func flush() {
        while !self.handler.hasGatheredNothing {
            let (number, group) = self.handler.takeGroup()
            _ = self.handler.answered(number, isDurable: true)
            self.groupCount += 1
            let record = LoggedRecord(offset: self.groupCount, bytes: group.encoded())
            guard let posting = try? LedgerPosting(record) else {
                preconditionFailure("a gateway reads what it wrote")
            }
            for row in self.books.post(posting) { self.standing.append(self.standing(row)) }
        }
    }

    private func standing(_ row: LedgerPosting.OutcomeRow) -> StandingOutcome {
        var found: Break?
        self.board.scan(of: self.stream) { each in
            found = each
            return each.number != row.breakNumber
        }
        guard let each = found, each.number == row.breakNumber,
            let list = each.record.list(of: AdOrdinal.variant(of: row.ordinal))
        else {
            preconditionFailure("an outcome is recorded of a break that is on the board")
        }
        return StandingOutcome(
            session: row.session,
            key: each.key,
            outcome: Outcome(row.outcome, of: list[AdOrdinal.place(of: row.ordinal)].id)
        )
    }

    /// Begins another run: what was not durable is gone.
    ///
    /// - Parameter losesHistory: whether positions of the run before mean nothing any more.
    package mutating func restart(losesHistory: Bool) {
        self.instance += 1
        if losesHistory { self.board = Board(epoch: self.board.epoch + 1, self.board.record) }
        self.handler = Self.handler(instance: self.instance, headInterval: self.headInterval, board: self.board)
    }

    // MARK: The books

    /// The report that the ledger gives when everything is settled.
    package mutating func report() -> Report {
        self.flush()
        self.books.record(self.breaks.values.map(\.summary), through: self.board.offset)
        return Report(breaks: self.books.entries(at: .latest) { _ in true }, offsets: [:], more: false)
    }
}

extension BreakPolicy {
    /// A break is announced when it is published, however late it starts.
    package static var announcingAtOnce: BreakPolicy {
        var policy = BreakPolicy()
        policy.announceAhead = policy.startAheadMax
        return policy
    }
}

extension BreakEntry.Kind {
    /// The same with another request window, where it has one.
    fileprivate func with(_ window: RequestWindow) -> Self {
        switch self {
        case .publish(var publish):
            publish.window = window
            return .publish(publish)
        case .update(var update):
            if update.window != nil { update.window = window }
            return .update(update)
        case .postpone(var postpone):
            postpone.window = window
            return .postpone(postpone)
        case .signal(var signal):
            signal.window = window
            return .signal(signal)
        case .punch, .end, .cancel, .putList, .removeList, .announce, .expire, .housekeeping, .rules: return self
        }
    }
}
