// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Brings outcomes and deliveries to the log, each of them once: what memory knows is not logged again, and the rest gathers in groups
/// within the limits on what may wait.
struct Recorder: Sendable {
    /// The result of an accepted acknowledgement.
    struct Recorded {
        /// How many outcomes are recorded.
        let outcomes: Int
        /// The group that holds the last of them; `nil`: all are durable.
        let group: UInt64?
    }

    /// The most that may wait for the log.
    private struct Limits {
        let acknowledgements: Int
        let acknowledgementBytes: Int
        let deliveries: Int
    }

    /// Whether memory knows the outcomes of one acknowledgement.
    private enum Novelty {
        /// All of them are news.
        case news
        /// None is; those that are not durable yet are in this group.
        case repeats(group: UInt64?)
        /// Some are, or some contradict what is known, or they are in several groups.
        case mixed
    }

    /// The groups on their way to the log, and the requests that wait for them.
    private(set) var groups: PendingGroups
    /// The outcomes and deliveries that were logged lately.
    private var recent: RecentOutcomes
    /// Whether the log has no room for new work: acknowledgements are refused, deliveries go on as long as they may wait.
    var isLogFull = false
    private let limits: Limits
    private let metrics: MetricRegistry
    private let repeats: MetricRegistry.Cell

    init(_ settings: ListenerRequestHandler.Settings, metrics: MetricRegistry, waiting: any WaitingCount) {
        self.recent = RecentOutcomes(
            outcomesMax: settings.rememberedOutcomesMax,
            fixedSecret: settings.fixedHashSecret
        )
        self.groups = PendingGroups(
            number: self.recent.gathering,
            recordBytesMax: settings.recordBytesMax,
            count: waiting
        )
        self.limits = Limits(
            acknowledgements: settings.acknowledgementsWaitingMax,
            acknowledgementBytes: settings.acknowledgementBytesWaitingMax,
            deliveries: settings.deliveriesWaitingMax
        )
        self.metrics = metrics
        self.repeats = metrics.cell(.repeatedOutcomes)
    }

    // MARK: - Deliveries

    /// Refuses a batch whose delivery would be one more than may wait.
    @inline(__always)
    func checkDeliveriesFit() throws(Refusal) {
        guard self.groups.waiting.deliveries < self.limits.deliveries else {
            self.metrics.count(.limitsHit, .limit(.deliveriesWaitingMax))
            throw .logBehind
        }
    }

    /// Records that a session got a batch.
    ///
    /// - Returns: `false` where memory knows of the same batch, or of a larger one: then nothing is recorded.
    @inline(__always)
    mutating func recordDelivery(
        of number: BreakNumber,
        from first: UInt32,
        to session: SessionID,
        at now: Timestamp
    ) -> Bool {
        // The room is made first: what is remembered names the group that it is in.
        self.makeRoom(for: GatheredGroup.deliveryBytesMax)
        guard self.recent.noteDelivery(self.recent.key(session, number), from: first, at: now) else { return false }
        self.groups.append(
            AcknowledgementGroup.Delivery(
                session: session,
                breakNumber: number,
                variant: AdOrdinal.variant(of: first),
                first: first,
                at: now
            )
        )
        return true
    }

    // MARK: - Outcomes

    /// Records the outcomes of an acknowledgement that was accepted.
    ///
    /// - Parameters:
    ///   - found: its outcomes.
    ///   - bytes: all of it, with nothing in it that is not understood.
    ///   - left: where in the bytes the field of its ticket is: the ticket is not needed later, and readers of the log must not get
    ///     it.
    ///   - session: the session of the outcome.
    ///   - number: of which break.
    ///   - now: the gateway's clock.
    /// - Returns: how many are recorded, and when.
    /// - Throws: where the log has no room, or too much waits for it.
    @inline(__always)
    mutating func record(
        _ found: FoundOutcomes,
        _ bytes: [UInt8],
        leavingOut left: Range<Int>,
        by session: SessionID,
        of number: BreakNumber,
        at now: Timestamp
    ) throws(Refusal) -> Recorded {
        let key = self.recent.key(session, number)
        switch self.novelty(of: found, key) {
        case .repeats(let group): return try self.repeated(found.ordinals.count, in: group)
        case .mixed: return try self.recordNews(of: found, bytes, key, of: number, at: now)
        case .news:
            try self.gather(bytes, leavingOut: left, found.ordinals, of: number, at: now)
            for index in found.ordinals.indices {
                self.recent.remember(key, ordinal: found.ordinals[index], found.outcomes[index].details, at: now)
            }
            return Recorded(outcomes: found.ordinals.count, group: self.recent.gathering)
        }
    }

    @inline(__always)
    private func novelty(of found: FoundOutcomes, _ key: RecentOutcomes.Key) -> Novelty {
        var isNew = false
        var waitsFor: UInt64?
        for index in found.ordinals.indices {
            switch self.recent.known(key, ordinal: found.ordinals[index], found.outcomes[index].details) {
            case .nothing:
                guard isNew || index == 0 else { return .mixed }
                isNew = true
            case .differs: return .mixed
            case .durable: guard !isNew else { return .mixed }
            case .waits(let group):
                guard !isNew, waitsFor == nil || waitsFor == group else { return .mixed }
                waitsFor = group
            }
        }
        return isNew ? .news : .repeats(group: waitsFor)
    }

    /// Records nothing: memory knows all of it.
    ///
    /// - Parameters:
    ///   - outcomes: how many are recorded.
    ///   - group: the group that they are in, where that is not durable yet.
    /// - Returns: how many are recorded, and when.
    /// - Throws: where too many wait for their groups already.
    private mutating func repeated(_ outcomes: Int, in group: UInt64?) throws(Refusal) -> Recorded {
        if let group {
            guard self.groups.waiting.repeats < self.limits.acknowledgements else {
                self.metrics.count(.limitsHit, .limit(.acknowledgementsWaitingMax))
                throw .logBehind
            }
            self.groups.countRepeat(of: group)
        }
        self.repeats.add(outcomes)
        return Recorded(outcomes: outcomes, group: group)
    }

    /// Records what memory does not know, written anew without the rest.
    private mutating func recordNews(
        of found: FoundOutcomes,
        _ bytes: [UInt8],
        _ key: RecentOutcomes.Key,
        of number: BreakNumber,
        at now: Timestamp
    ) throws(Refusal) -> Recorded {
        var news: [Int] = []
        var contradictions: [Int] = []
        var groups: [Int: UInt64] = [:]
        for index in found.ordinals.indices {
            switch self.recent.known(key, ordinal: found.ordinals[index], found.outcomes[index].details) {
            case .nothing: news.append(index)
            case .differs: contradictions.append(index)
            case .waits(let group): groups[index] = group
            case .durable: break
            }
        }
        // The room is made first: who waits names the group that all of it is in.
        self.makeRoom(for: bytes.count + GatheredGroup.requestOverheadBytesMax)
        let gathering = self.recent.gathering
        // What is in a group before this one is logged once more: the answer is right only where both become durable.
        news += groups.filter { $0.value != gathering }.map(\.key)
        let left = contradictions.filter { !self.recent.mayContradict(key, ordinal: found.ordinals[$0]) }
        if !left.isEmpty { self.metrics.count(.limitsHit, .limit(.contradictionsLoggedMax)) }
        let logged = (news + contradictions.filter { !left.contains($0) }).sorted()
        let recorded = found.ordinals.count - left.count
        guard !logged.isEmpty else { return try self.repeated(recorded, in: groups.values.first) }
        try self.gather(
            try Self.rewritten(bytes, with: logged),
            leavingOut: 0..<0,
            logged.map { found.ordinals[$0] },
            of: number,
            at: now
        )
        for index in contradictions where !left.contains(index) {
            self.recent.countContradiction(key, ordinal: found.ordinals[index])
        }
        for index in news {
            self.recent.remember(key, ordinal: found.ordinals[index], found.outcomes[index].details, at: now)
        }
        self.repeats.add(recorded - logged.count)
        return Recorded(outcomes: recorded, group: gathering)
    }

    /// An acknowledgement with some of its outcomes, and without a ticket.
    private static func rewritten(_ bytes: [UInt8], with logged: [Int]) throws(Refusal) -> [UInt8] {
        do throws(WireError) {
            var request = try ListenerRequest(decoding: bytes)
            guard case .acknowledge(var acknowledge) = request.kind else { throw .unsupported }
            acknowledge.outcomes = logged.map { acknowledge.outcomes[$0] }
            request.ticket = []
            request.kind = .acknowledge(acknowledge)
            return request.encoded()
        } catch {
            throw Refusal(error)
        }
    }

    /// Adds an acknowledgement to the group that gathers, with the ordinals that were found for it.
    @inline(__always)
    private mutating func gather(
        _ request: [UInt8],
        leavingOut left: Range<Int>,
        _ ordinals: [UInt32],
        of number: BreakNumber,
        at now: Timestamp
    ) throws(Refusal) {
        guard !self.isLogFull else {
            self.metrics.count(.limitsHit, .limit(.logBytesMax))
            throw .logFull
        }
        guard self.groups.waiting.requests < self.limits.acknowledgements else {
            self.metrics.count(.limitsHit, .limit(.acknowledgementsWaitingMax))
            throw .logBehind
        }
        guard self.groups.waiting.requestBytes + request.count <= self.limits.acknowledgementBytes else {
            self.metrics.count(.limitsHit, .limit(.acknowledgementBytesWaitingMax))
            throw .logBehind
        }
        self.makeRoom(for: request.count + GatheredGroup.requestOverheadBytesMax)
        self.groups.accept(
            request,
            leavingOut: left,
            received: now,
            breakNumber: number,
            ordinals: ordinals
        )
    }

    // MARK: - Groups

    /// Begins another group where the record of this one would become too large.
    ///
    /// The caller that asks for the number of the gathering group makes room before.
    @inline(__always)
    private mutating func makeRoom(for bytes: Int) {
        guard !self.groups.hasRoom(for: bytes) else { return }
        _ = self.recent.close()
        self.groups.closeFull(next: self.recent.gathering)
        self.metrics.count(.limitsHit, .limit(.recordBytesMax))
    }

    /// Registers a client that is answered when the log has answered about a group.
    mutating func wait(_ waiter: PendingGroup.Waiter) { self.groups.wait(waiter) }

    /// Takes what has gathered, for the log.
    mutating func take() -> (number: UInt64, group: GatheredGroup) {
        if !self.groups.hasClosed { _ = self.recent.close() }
        let (number, content) = self.groups.take(next: self.recent.gathering)
        if self.recent.takeDisplaced() { self.metrics.count(.limitsHit, .limit(.rememberedOutcomesMax)) }
        return (number, content)
    }

    /// The log has answered about a group; as `PendingGroups.answered`.
    mutating func answered(
        _ number: UInt64,
        isDurable: Bool,
        leavingOut forgotten: ForgottenSessions
    ) -> [PendingGroup.Waiter] {
        self.recent.answered(number, isDurable: isDurable)
        return self.groups.answered(number, isDurable: isDurable, leavingOut: forgotten)
    }
}
