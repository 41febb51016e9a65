// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Cuecast
internal import CuecastWire

/// What a scripted gateway knows and decides; it has no clock and sends nothing.
struct Script: Sendable {
    /// The epoch of a gateway's first run.
    private static let firstEpoch: UInt64 = 7

    let stream: StreamID
    /// How many notices can be recovered; older positions get a snapshot.
    var historyMax = 256
    var headInterval: Duration
    var instance: UInt64 = 1
    private(set) var epoch = Self.firstEpoch
    private(set) var sequence: UInt64 = 0
    private(set) var history: [Notice] = []
    private(set) var breaks: [BreakID: ScriptedEntry] = [:]
    /// What stands about each advertisement, in the order in which it was told.
    private(set) var outcomes: [ScriptedOutcome] = []
    /// How often an outcome was told that stood already.
    private(set) var repeatedOutcomes = 0
    private(set) var requests: [ScriptedRequest] = []
    private(set) var sessions: [String] = []
    var refusals: [PlannedRefusal] = []

    /// A refusal for some kinds of requests, so many times.
    struct PlannedRefusal: Sendable {
        let kinds: Set<ScriptedRequest.Kind>
        let refusal: ScriptedRefusal
        var times: Int
    }

    init(stream: StreamID, headInterval: Duration) {
        self.stream = stream
        self.headInterval = headInterval
    }

    var head: Position { Position(epoch: self.epoch, sequence: self.sequence) }

    // MARK: The broadcaster's side

    mutating func publish(
        _ scripted: ScriptedBreak,
        start: Timestamp?,
        preStream: Bool = false,
        holdUntil: Timestamp? = nil,
        at now: Timestamp
    ) throws(ScriptedGatewayError) -> Notice {
        var entry = try self.entry(scripted, preStream: preStream, holdUntil: holdUntil)
        entry.start = start
        guard self.breaks[entry.key.id] == nil else {
            throw .wrongState("The break \(entry.key.id) exists already.")
        }
        try self.checkOverlap(of: entry)
        return self.announce(.available, entry, at: now)
    }

    private func entry(
        _ scripted: ScriptedBreak,
        preStream: Bool,
        holdUntil: Timestamp?
    ) throws(ScriptedGatewayError) -> ScriptedEntry {
        do throws(WireError) {
            let all = scripted.advertisements.reduce(Duration.zero) { $0 + $1.duration }
            let entry = ScriptedEntry(
                key: BreakKey(stream: self.stream, id: try BreakID(scripted.id)),
                number: BreakNumber(rawValue: UInt64(self.breaks.count + 1)),
                advertisements: try scripted.advertisements.map { (each) throws(WireError) in try each.content() },
                preStream: preStream,
                exact: scripted.isExact,
                holdUntil: holdUntil,
                duration: scripted.isOpenEnded || preStream ? nil : scripted.duration ?? all,
                endMode: scripted.endMode.wire
            )
            // What a batch must keep is checked where a batch is read.
            let batch = ListenerReply.Batch(delivery: [], advertisements: entry.advertisements)
            _ = try ListenerReply(
                decoding: ListenerReply(requestID: 1, gatewayTime: .latest, body: .batch(batch)).encoded()
            )
            let longest = Duration.milliseconds(Int64(WireLimits.breakDurationMillisecondsMax))
            if let duration = entry.duration, duration < .milliseconds(1) || duration > longest {
                throw .invalid(field: "duration", rule: "a break lasts 1 ms to 6 h")
            }
            return entry
        } catch {
            throw .invalid(error.description)
        }
    }

    private func checkOverlap(of entry: ScriptedEntry) throws(ScriptedGatewayError) {
        guard let interval = entry.interval else { return }
        for other in self.breaks.values where other.key != entry.key {
            guard other.interval?.overlaps(interval) ?? false else { continue }
            throw .wrongState("The break \(other.key.id) holds part of that time.")
        }
    }

    private mutating func announce(_ kind: Notice.Kind, _ entry: ScriptedEntry, at now: Timestamp) -> Notice {
        self.sequence += 1
        var entry = entry
        let notice = entry.notice(kind, position: self.head, at: now)
        entry.notice = notice
        entry.announced = entry.announced ?? now
        self.breaks[entry.key.id] = entry
        self.history.append(notice)
        if self.history.count > self.historyMax { self.history.removeFirst() }
        return notice
    }

    private func open(_ id: String, at now: Timestamp) throws(ScriptedGatewayError) -> ScriptedEntry {
        guard let entry = (try? BreakID(id)).flatMap({ self.breaks[$0] }) else {
            throw .wrongState("There is no break \(id).")
        }
        guard !entry.isOver(at: now) else { throw .wrongState("The break \(id) is over.") }
        return entry
    }

    mutating func punch(_ id: String, start: Timestamp, at now: Timestamp) throws(ScriptedGatewayError) -> Notice {
        var entry = try self.open(id, at: now)
        guard entry.isCued else { throw .wrongState("The break \(id) is not cued: only a cued break is punched.") }
        entry.start = start
        try self.checkOverlap(of: entry)
        return self.announce(.updated, entry, at: now)
    }

    mutating func update(
        _ id: String,
        start: Timestamp?,
        duration: Duration?,
        at now: Timestamp
    ) throws(ScriptedGatewayError) -> Notice {
        var entry = try self.open(id, at: now)
        if let start {
            guard let before = entry.start else { throw .wrongState("The break \(id) has no start to change.") }
            guard now < before else { throw .wrongState("The break \(id) has started: its start cannot change.") }
            entry.start = start
        }
        if let duration {
            entry.duration = duration
            entry.ended = nil
        }
        if let end = entry.end, end <= now { throw .wrongState("With that the break \(id) would be over already.") }
        try self.checkOverlap(of: entry)
        return self.announce(.updated, entry, at: now)
    }

    mutating func end(
        _ id: String,
        at end: Timestamp,
        endMode: EndMode?,
        now: Timestamp
    ) throws(ScriptedGatewayError) -> Notice {
        var entry = try self.open(id, at: now)
        guard let planned = entry.end else { throw .wrongState("The break \(id) has no start: cancel it instead.") }
        if let start = entry.start, end <= start {
            throw .wrongState("The break \(id) starts later than that: cancel it instead.")
        }
        guard end <= planned else {
            throw .wrongState("The break \(id) ends sooner as it is: update its duration to make it longer.")
        }
        entry.ended = end
        entry.endMode = endMode ?? entry.endMode
        return self.announce(.ended, entry, at: now)
    }

    mutating func cancel(_ id: String, at now: Timestamp) throws(ScriptedGatewayError) -> Notice {
        var entry = try self.open(id, at: now)
        entry.cancelled = now
        return self.announce(.cancelled, entry, at: now)
    }

    /// Begins another run; without the history of notices where that is lost.
    mutating func restart(losesHistory: Bool) {
        self.instance += 1
        guard losesHistory else { return }
        self.epoch += 1
        self.sequence = 0
        self.history = []
    }

    // MARK: The listeners' side

    /// Decides about one request frame.
    ///
    /// - Parameters:
    ///   - frame: the request.
    ///   - now: the gateway's clock.
    ///   - clock: between the gateway's clock and this device's.
    ///   - isAnswered: whether the player gets the reply; what is not answered is not done either.
    /// - Returns: the reply's frame; `nil`: no answer.
    mutating func answer(_ frame: [UInt8], at now: Timestamp, clock: ScriptClock, isAnswered: Bool) -> [UInt8]? {
        do throws(WireError) {
            let request = try ListenerRequest(decoding: frame)
            var told = ScriptedRequest(request, received: clock.local(now))
            defer { self.requests.append(told) }
            guard isAnswered else {
                told.isRefused = true
                return nil
            }
            let body = self.refusal(of: told.kind).map(ListenerReply.Body.refused) ?? self.body(request, now, clock)
            if case .refused = body { told.isRefused = true }
            return ListenerReply(requestID: request.id, gatewayTime: now, body: body).encoded()
        } catch {
            let id = ListenerRequest.requestID(of: frame)
            return ListenerReply(requestID: id, gatewayTime: now, body: .refused(Refusal(error))).encoded()
        }
    }

    private mutating func refusal(of kind: ScriptedRequest.Kind) -> Refusal? {
        guard let index = self.refusals.firstIndex(where: { $0.kinds.contains(kind) }) else { return nil }
        let refusal = self.refusals[index].refusal
        self.refusals[index].times -= 1
        if self.refusals[index].times <= 0 { self.refusals.remove(at: index) }
        return refusal.wire
    }

    private mutating func body(
        _ request: ListenerRequest,
        _ now: Timestamp,
        _ clock: ScriptClock
    ) -> ListenerReply.Body {
        do throws(Refusal) {
            switch request.kind {
            case .join(let join):
                let session = request.session.description
                if !self.sessions.contains(session) { self.sessions.append(session) }
                return .joined(self.joined(join, at: now))
            case .getBatch(let get): return .batch(try self.batch(get, request.session, at: now))
            case .acknowledge(let told): return try self.record(told, request.session, clock)
            case .getTime, .leave: return .done
            }
        } catch {
            return .refused(error)
        }
    }

    private func joined(_ join: ListenerRequest.Join, at now: Timestamp) -> ListenerReply.Joined {
        var joined = ListenerReply.Joined(
            kind: .snapshot,
            head: self.head,
            notices: [],
            instance: self.instance,
            headInterval: self.headInterval,
            lease: .seconds(300)
        )
        guard join.stream == self.stream else {
            // A stream of which nothing was published.
            joined.head = Position(epoch: self.epoch, sequence: 0)
            return joined
        }
        if let last = join.last, last.epoch == self.epoch, last.sequence <= self.sequence {
            let missing = Int(self.sequence - last.sequence)
            if missing == 0 {
                joined.kind = .current
                return joined
            }
            if missing <= self.history.count {
                joined.kind = .recovered
                joined.notices = Array(self.history.suffix(missing))
                return joined
            }
        }
        let delayMax = max(join.delay.now, join.delay.max)
        joined.notices = self.breaks.values
            .filter { $0.cancelled == nil && $0.over + delayMax > now }
            .compactMap { entry in
                entry.notice.map { last in
                    // What was told in an earlier epoch stands before everything of this one.
                    let position =
                        last.position.epoch == self.epoch ? last.position : Position(epoch: self.epoch, sequence: 0)
                    return entry.notice(.available, position: position, at: last.sent)
                }
            }
            .sorted { ($0.position.sequence, $0.expires) < ($1.position.sequence, $1.expires) }
        return joined
    }

    private func find(_ key: BreakKey) throws(Refusal) -> ScriptedEntry {
        guard key.stream == self.stream, let entry = self.breaks[key.id] else {
            throw Refusal(.notFound, "There is no break \(key).")
        }
        return entry
    }

    private func batch(
        _ get: ListenerRequest.GetBatch,
        _ session: SessionID,
        at now: Timestamp
    ) throws(Refusal) -> ListenerReply.Batch {
        let entry = try self.find(get.key)
        guard entry.cancelled == nil else { throw Refusal(.tooLate, "The break \(get.key.id) is cancelled.") }
        guard let first = entry.firstPlayable(at: now - get.delay.now) else {
            throw Refusal(.tooLate, "Nothing of the break \(get.key.id) can be played any more.")
        }
        return ListenerReply.Batch(
            delivery: DeliveryToken(session: session, breakNumber: entry.number).bytes,
            start: entry.start,
            duration: entry.lasting,
            skipped: first,
            endMode: entry.endMode,
            exact: entry.exact,
            advertisements: Array(entry.advertisements[first...])
        )
    }

    private mutating func record(
        _ told: ListenerRequest.Acknowledge,
        _ session: SessionID,
        _ clock: ScriptClock
    ) throws(Refusal) -> ListenerReply.Body {
        let entry = try self.find(told.key)
        let token = try? DeliveryToken(bytes: told.delivery)
        guard let token, token.session == session, token.breakNumber == entry.number else {
            throw Refusal(.deliveryInvalid, "The delivery is not of this session and the break \(told.key.id).")
        }
        let times = OutcomeTime(announced: entry.announced ?? clock.now, now: clock.now)
        var seen: Set<AdvertisementID> = []
        for outcome in told.outcomes {
            let id = outcome.advertisementID
            guard entry.advertisements.contains(where: { $0.id == id }) else {
                throw Refusal(.notFound, "The break \(told.key.id) has no advertisement \(id).")
            }
            guard seen.insert(id).inserted else {
                throw Refusal(.invalid, "The advertisement \(id) stands there twice.")
            }
            if let refusal = times.refusal(outcome.occurred, of: id) { throw refusal }
        }
        for outcome in told.outcomes {
            let new = ScriptedOutcome(
                outcome,
                session: session,
                breakID: told.key.id,
                occurred: clock.local(outcome.occurred)
            )
            let stands = self.outcomes.contains { old in
                old.adID == new.adID && old.breakID == new.breakID && old.session == new.session
            }
            if stands { self.repeatedOutcomes += 1 } else { self.outcomes.append(new) }
        }
        return .acknowledged(recorded: told.outcomes.count)
    }
}

/// Between the gateway's clock and this device's.
struct ScriptClock: Sendable {
    let origin: ContinuousClock.Instant
    /// The gateway's clock at `origin`.
    let start: Timestamp

    func gateway(_ instant: ContinuousClock.Instant) -> Timestamp { self.start + self.origin.duration(to: instant) }

    func local(_ instant: Timestamp) -> ContinuousClock.Instant { self.origin + (instant - self.start) }

    var now: Timestamp { self.gateway(.now) }
}
