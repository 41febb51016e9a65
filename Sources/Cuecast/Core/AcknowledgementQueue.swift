// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// One outcome that the gateway has not confirmed yet, with all that telling it takes, also in a later session.
struct OutboxRecord: Hashable, Sendable {
    /// Counts the records of one outbox.
    var number: UInt64
    var session: SessionID
    /// The ticket of that session.
    var ticket: [UInt8]
    var key: BreakKey
    /// As the batch carried it.
    var delivery: [UInt8]
    var outcome: Outcome

    /// About how many bytes it takes in memory, in the journal and on the wire.
    var byteCount: Int {
        96 + self.ticket.count + self.delivery.count + self.key.stream.description.utf8.count
            + self.key.id.description.utf8.count + self.outcome.advertisementID.description.utf8.count
    }
}

/// Tells outcomes until the gateway confirms them: in groups per session and break, each again after a growing wait.
struct AcknowledgementQueue: Sendable {
    /// The most groups that are told at the same time.
    static let groupsInFlightMax = 8

    /// The key of the outcomes that one request can send.
    struct GroupKey: Hashable, Sendable {
        let session: SessionID
        let key: BreakKey
        let delivery: [UInt8]
    }

    /// Records that are not told any more without being confirmed.
    struct GivenUp: Hashable, Sendable {
        var records: [OutboxRecord]
        var why: JournalEntry.GivenUp
    }

    private struct Group: Sendable {
        /// By number.
        var records: [OutboxRecord]
        /// How many of them, from the first on, are told now; 0: none.
        var inFlight = 0
        /// How many are told at once: one after a whole group was refused, to find out which is at fault.
        var atOnce = WireLimits.outcomesPerRequestMax
        var notBefore: LocalInstant?
        var retries: Backoff
    }

    private var groups: [GroupKey: Group] = [:]
    /// The number of the record that was added last.
    private(set) var lastNumber: UInt64 = 0
    /// Up to which number records may be told: those after it are not on the disk yet.
    private var tellableThrough = UInt64.max
    /// Those after it, each with the number of its journal entry; both grow.
    private var unwritten: [(entry: UInt64, number: UInt64)] = []
    private let recordsMax: Int
    private let bytesMax: Int
    private let retries: Backoff
    private(set) var count = 0
    /// The bytes of all records together.
    private(set) var byteCount = 0

    init(recordsMax: Int, bytesMax: Int = .max, retries: Backoff, kept: [OutboxRecord], disk: JournalDisk = .none) {
        self.recordsMax = recordsMax
        self.bytesMax = bytesMax
        self.retries = retries
        for record in kept.sorted(by: { $0.number < $1.number }) { self.insert(record) }
        // The entries of earlier runs are on the disk.
        if case .committing = disk { self.tellableThrough = self.lastNumber }
    }

    // MARK: What waits for the disk

    /// A record was kept as entry number `entry` of the journal: it is told once that is on the disk.
    mutating func kept(_ record: OutboxRecord, entry: UInt64, on disk: JournalDisk) {
        if case .committing = disk {
            self.unwritten.append((entry, record.number))
        } else {
            self.tellableThrough = .max
        }
    }

    /// The journal reports the state of its disk.
    mutating func reached(_ disk: JournalDisk) {
        guard case .committing(let through) = disk else {
            self.unwritten = []
            self.tellableThrough = .max
            return
        }
        // Before the disk took entries again, anything may have been told.
        if self.tellableThrough == .max { self.tellableThrough = self.lastNumber }
        let count = self.unwritten.prefix { $0.entry <= through }.count
        guard count > 0 else { return }
        self.tellableThrough = self.unwritten[count - 1].number
        self.unwritten.removeFirst(count)
    }

    // MARK: Records

    /// Adds an outcome.
    ///
    /// - Returns: Its record, and what had to make room for it.
    mutating func add(
        _ outcome: Outcome,
        session: SessionID,
        ticket: [UInt8],
        key: BreakKey,
        delivery: [UInt8]
    ) -> (record: OutboxRecord, givenUp: [GivenUp]) {
        let record = OutboxRecord(
            number: self.lastNumber + 1,
            session: session,
            ticket: ticket,
            key: key,
            delivery: delivery,
            outcome: outcome
        )
        var givenUp: [GivenUp] = []
        while self.count >= self.recordsMax || self.byteCount + record.byteCount > self.bytesMax {
            let limit =
                self.count >= self.recordsMax ? "\(self.recordsMax) outcomes" : "\(self.bytesMax) bytes of outcomes"
            guard let oldest = self.giveUpOldest(.init(.tooMany, "more than \(limit) are not confirmed")) else { break }
            givenUp.append(oldest)
        }
        self.insert(record)
        return (record, givenUp)
    }

    /// Gives up what happened before `oldest`, unless it is told in this moment.
    mutating func expire(before oldest: Timestamp, age: Duration) -> [GivenUp] {
        var givenUp: [GivenUp] = []
        for (id, group) in self.groups {
            let old = group.records.dropFirst(group.inFlight).filter { $0.outcome.occurred < oldest }
            guard !old.isEmpty else { continue }
            self.remove(Array(old), from: id)
            let why = JournalEntry.GivenUp(.tooOld, "too old: it was not confirmed for \(age)")
            givenUp.append(GivenUp(records: Array(old), why: why))
        }
        return givenUp
    }

    private mutating func insert(_ record: OutboxRecord) {
        let id = GroupKey(session: record.session, key: record.key, delivery: record.delivery)
        self.lastNumber = max(self.lastNumber, record.number)
        self.count += 1
        self.byteCount += record.byteCount
        self.groups[id, default: Group(records: [], retries: self.retries)].records.append(record)
    }

    private mutating func giveUpOldest(_ why: JournalEntry.GivenUp) -> GivenUp? {
        let candidates = self.groups.compactMap { id, group in
            group.records.count > group.inFlight ? (id, group.records[group.inFlight]) : nil
        }
        guard let (id, record) = candidates.min(by: { $0.1.number < $1.1.number }) else { return nil }
        self.remove([record], from: id)
        return GivenUp(records: [record], why: why)
    }

    /// The groups to send now, oldest first; each answer comes back by its group.
    mutating func due(now: LocalInstant, room: Int) -> [(id: GroupKey, records: [OutboxRecord])] {
        let free = min(room, Self.groupsInFlightMax - self.groups.values.count { $0.inFlight > 0 })
        guard free > 0 else { return [] }
        let ready = self.groups.filter { self.isTellable($0.value) && ($0.value.notBefore ?? now) <= now }
            .sorted { ($0.value.records.first?.number ?? 0) < ($1.value.records.first?.number ?? 0) }
        return ready.prefix(free)
            .map { id, group in
                let records = Array(group.records.prefix(group.atOnce).prefix { $0.number <= self.tellableThrough })
                self.groups[id]?.inFlight = records.count
                return (id, records)
            }
    }

    /// When `due` has something to do, given room for requests.
    func nextDeadline(now: LocalInstant) -> LocalInstant? {
        guard self.groups.values.count(where: { $0.inFlight > 0 }) < Self.groupsInFlightMax else { return nil }
        return self.groups.values.lazy.filter { self.isTellable($0) }.map { $0.notBefore ?? now }.min()
    }

    /// Whether there is a record in it that may be told and is not told in this moment.
    private func isTellable(_ group: Group) -> Bool {
        group.inFlight == 0 && (group.records.first.map { $0.number <= self.tellableThrough } ?? false)
    }

    /// The gateway recorded `recorded` outcomes of the group durably.
    mutating func confirmed(_ id: GroupKey, recorded: Int) -> (confirmed: [OutboxRecord], givenUp: GivenUp?) {
        guard let group = self.groups[id], group.inFlight > 0 else { return ([], nil) }
        let told = Array(group.records.prefix(group.inFlight))
        guard recorded >= told.count else {
            return ([], self.refused(id, .init(.notRecorded, "the gateway did not record it")))
        }
        self.groups[id]?.inFlight = 0
        self.groups[id]?.notBefore = nil
        self.groups[id]?.retries.reset()
        self.remove(told, from: id)
        return (told, nil)
    }

    /// The gateway answered the group with something else than a confirmation.
    mutating func refused(
        _ id: GroupKey,
        _ refusal: Refusal,
        now: LocalInstant,
        jitter: inout JitterSource
    ) -> GivenUp? {
        guard refusal.status.canRetry else {
            let reason: JournalEntry.GivenUp.Reason = refusal.status == .breakTooOld ? .breakTooOld : .refused
            return self.refused(id, .init(reason, refusal.description))
        }
        self.again(id, atLeast: refusal.retryAfter, now: now, jitter: &jitter)
        return nil
    }

    /// For good: then a group is told one by one, so that only what is at fault is given up.
    private mutating func refused(_ id: GroupKey, _ why: JournalEntry.GivenUp) -> GivenUp? {
        guard let group = self.groups[id], group.inFlight > 0 else { return nil }
        if group.inFlight > 1 {
            self.groups[id]?.atOnce = 1
            self.groups[id]?.inFlight = 0
            return nil
        }
        let told = Array(group.records.prefix(1))
        self.groups[id]?.inFlight = 0
        self.remove(told, from: id)
        return GivenUp(records: told, why: why)
    }

    /// No reply came in time: tell it again.
    mutating func unanswered(_ id: GroupKey, now: LocalInstant, jitter: inout JitterSource) {
        self.again(id, atLeast: .zero, now: now, jitter: &jitter)
    }

    /// The connection is gone: tell it again on the next one.
    mutating func abandoned(_ id: GroupKey) {
        self.groups[id]?.inFlight = 0
    }

    /// The last chance of this session: what waits is told without waiting.
    mutating func hurry() {
        for id in self.groups.keys { self.groups[id]?.notBefore = nil }
    }

    private mutating func again(
        _ id: GroupKey,
        atLeast: Duration,
        now: LocalInstant,
        jitter: inout JitterSource
    ) {
        guard var group = self.groups[id], group.inFlight > 0 else { return }
        group.inFlight = 0
        group.notBefore = now + group.retries.next(using: &jitter, atLeast: atLeast)
        self.groups[id] = group
    }

    private mutating func remove(_ records: [OutboxRecord], from id: GroupKey) {
        let numbers = Set(records.map(\.number))
        self.groups[id]?.records.removeAll { numbers.contains($0.number) }
        self.count -= records.count
        self.byteCount -= records.reduce(0) { $0 + $1.byteCount }
        if self.groups[id]?.records.isEmpty == true { self.groups[id] = nil }
    }
}
