// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging
import ZeroMQ

/// Who waits for the answer to a request of a broadcaster.
struct WaitingBroadcaster: Sendable {
    /// By which way the answer goes.
    enum Side: Sendable {
        /// The broadcasters' socket.
        case peer(RequestReturn)
        /// A caller inside the process, by its number in the book of calls.
        case call(UInt64)
    }

    let side: Side
    var requestID: UInt64
    /// The kind of the request.
    var kind: MetricLabel
    /// The break that it is about; `nil`: none, or that cannot be read.
    var key: BreakKey?
    let origin: RequestOrigin
    /// The name of who asks; empty where broadcasters are not told apart, or it is not known.
    var by = ""
    /// The request's trace; `nil`: it is not traced.
    var trace: RequestTrace?
    /// When it was decided what is recorded, by the gateway's clock; for traces only.
    var decided: Timestamp?

    /// What a line about the request says, and more.
    func metadata(_ more: Logger.Metadata) -> Logger.Metadata {
        var metadata = more
        metadata["requestId"] = self.origin.requestID.isEmpty ? "\(self.requestID)" : "\(self.origin.requestID)"
        if self.origin.entrance != .zeromq { metadata["entrance"] = "\(self.origin.entrance.rawValue)" }
        metadata["kind"] = "\(self.kind.text)"
        metadata["stream"] = self.key.map { "\($0.stream)" }
        metadata["break"] = self.key.map { "\($0.id)" }
        if !self.by.isEmpty { metadata["by"] = "\(self.by)" }
        if let trace { metadata.merge(trace.logFields) { _, new in new } }
        return metadata
    }
}

extension WaitingBroadcaster {
    /// The line of the audit about it.
    ///
    /// - Parameters:
    ///   - reply: the answer.
    ///   - isNew: whether something has changed, and was not only found done.
    /// - Returns: the line.
    func auditRecord(_ reply: BroadcastReply, isNew: Bool) -> AuditRecord {
        var origin = self.origin
        if origin.requestID.isEmpty { origin.requestID = "\(self.requestID)" }
        var record = AuditRecord(
            at: reply.gatewayTime,
            principal: self.by,
            origin: origin,
            action: self.kind.text,
            key: self.key,
            outcome: isNew ? .changed : .unchanged
        )
        switch reply.body {
        case .break(let info): record.revision = info.revision
        case .refused(let refusal):
            record.outcome = .refused
            record.status = refusal.status
            record.sentence = AuditLimits.cut(refusal.sentence, AuditLimits.auditSentenceBytesMax)
        case .list: break
        }
        return record
    }
}

/// Gathers entries for the lane `breaks`, and finds who waits for what became of them.
///
/// The log's answer (the offset) and the board's (the results) may come in either order.
struct BreakLane {
    /// An entry, and who asked for it; timers ask for nobody.
    struct Member: Sendable {
        let entry: BreakEntry
        let waiting: WaitingBroadcaster?
        /// How large the request was.
        let bytes: Int
        /// The entry as its group holds it: encoded with the request, so that a group of large ones is put together by copying.
        fileprivate let record: [UInt8]

        init(entry: BreakEntry, waiting: WaitingBroadcaster?, bytes: Int) {
            self.entry = entry
            self.waiting = waiting
            self.bytes = bytes
            self.record = BreakGroup(entries: [entry]).encoded()
        }
    }

    /// Why an entry cannot be taken at present: the name of the limit that is reached.
    typealias ReachedLimit = LimitName

    /// The most that an entry takes in a record beside the bytes of its request; what a timer decided is smaller.
    static let entryOverheadBytesMax = 512
    /// The most bytes of requests that wait for the log; more are refused until it has caught up.
    let entryBytesWaitingMax: Int
    /// The most entries that wait for the log; more are refused until it has caught up.
    let entriesWaitingMax: Int

    private var pacer = GroupPacer(groupRequestsMax: BreakGroup.groupEntriesMax)
    private var gathered: [Member] = []
    /// The bytes of those.
    private var gatheredBytes = 0
    /// Handed to the log, by a number of our own.
    private var inFlight: [UInt64: [Member]] = [:]
    /// Durable, by offset; the board has not applied them yet.
    private var durable: [UInt64: [Member]] = [:]
    /// Applied by the board, by offset, while the log has not told whose they are.
    private var early: [UInt64: [EntryResult]] = [:]
    /// How many entries of each stream are not answered yet.
    private var open: [StreamID: Int] = [:]
    private var counter: UInt64 = 0

    init(entriesWaitingMax: Int, entryBytesWaitingMax: Int) {
        self.entryBytesWaitingMax = entryBytesWaitingMax
        self.entriesWaitingMax = entriesWaitingMax
    }

    /// How many wait for anything.
    var waitingCount: Int {
        self.gathered.count + self.inFlight.values.reduce(0) { $0 + $1.count }
            + self.durable.values.reduce(0) { $0 + $1.count }
    }

    /// Whether nobody waits for anything.
    var isIdle: Bool { self.gathered.isEmpty && self.inFlight.isEmpty && self.durable.isEmpty }

    /// Whether the board has all entries of a stream that were taken here.
    func isSettled(_ stream: StreamID) -> Bool { self.open[stream] == nil }

    /// Takes an entry, unless too many wait already: then it says which limit is reached.
    mutating func add(_ member: Member) -> ReachedLimit? {
        guard self.gathered.count < self.entriesWaitingMax else { return .entriesWaitingMax }
        guard self.gatheredBytes + member.bytes <= self.entryBytesWaitingMax else { return .entryBytesWaitingMax }
        self.gathered.append(member)
        self.gatheredBytes += member.bytes
        if let stream = member.entry.key?.stream { self.open[stream, default: 0] += 1 }
        return nil
    }

    /// These wait no more.
    private mutating func settle(_ members: [Member]) {
        for member in members {
            guard let stream = member.entry.key?.stream, let count = self.open[stream] else { continue }
            self.open[stream] = count > 1 ? count - 1 : nil
        }
    }

    /// Gives up what has gathered and may not use the log's reserve.
    ///
    /// - Returns: those who get their answer now.
    mutating func refuseNewWork() -> [Member] {
        let refused = self.gathered.filter { !$0.entry.kind.mayUseReserve }
        guard !refused.isEmpty else { return [] }
        self.gathered.removeAll { !$0.entry.kind.mayUseReserve }
        self.gatheredBytes -= refused.reduce(0) { $0 + $1.bytes }
        self.settle(refused)
        return refused
    }

    /// The record of the next group to hand to the log, if it is time.
    mutating func close() -> (id: UInt64, record: [UInt8])? {
        guard self.pacer.closes(gathered: self.gathered.count) else { return nil }
        var members: [Member] = []
        var bytes = 0
        var recordBytes = 0
        for member in self.gathered.prefix(BreakGroup.groupEntriesMax) {
            recordBytes += member.bytes + Self.entryOverheadBytesMax
            // One entry alone is always within the limit: its request is.
            guard members.isEmpty || recordBytes <= EventLogLimits.recordBytesMax else { break }
            members.append(member)
            bytes += member.bytes
        }
        self.gathered.removeFirst(members.count)
        self.gatheredBytes -= bytes
        self.counter += 1
        self.inFlight[self.counter] = members
        self.pacer.opened()
        // Messages of protobuf are concatenated: the entries of all become the entries of one.
        var record: [UInt8] = []
        record.reserveCapacity(members.reduce(0) { $0 + $1.record.count })
        for member in members { record += member.record }
        return (self.counter, record)
    }

    /// Those whose request is traced, in a group that the log has not answered yet.
    ///
    /// - Parameter id: of the group.
    /// - Returns: who waits.
    func traced(_ id: UInt64) -> [WaitingBroadcaster] {
        (self.inFlight[id] ?? []).compactMap { $0.waiting }.filter { $0.trace != nil }
    }

    /// The log has a group at this offset.
    ///
    /// - Returns: the members with their results, if the board was faster.
    mutating func appended(_ id: UInt64, offset: UInt64) -> [(Member, EntryResult)] {
        guard let members = self.takeInFlight(id) else { return [] }
        defer { self.forgetEarly() }
        guard let results = self.early.removeValue(forKey: offset) else {
            self.durable[offset] = members
            return []
        }
        self.settle(members)
        return Array(zip(members, results))
    }

    /// The log has failed a group.
    ///
    /// - Returns: the members that get no other answer.
    mutating func failed(_ id: UInt64) -> [Member] {
        defer { self.forgetEarly() }
        let members = self.takeInFlight(id) ?? []
        self.settle(members)
        return members
    }

    private mutating func takeInFlight(_ id: UInt64) -> [Member]? {
        self.pacer.completed()
        return self.inFlight.removeValue(forKey: id)
    }

    /// Results that are left when no answer of the log is missing belong to nobody here.
    private mutating func forgetEarly() {
        if self.inFlight.isEmpty { self.early = [:] }
    }

    /// The board has applied the group at this offset.
    ///
    /// - Returns: the members with their results, if they are ours.
    mutating func applied(_ results: [EntryResult], offset: UInt64) -> [(Member, EntryResult)] {
        if let members = self.durable.removeValue(forKey: offset) {
            self.settle(members)
            return Array(zip(members, results))
        }
        // It is another gateway's, or ours and the log has not told us yet.
        if !self.inFlight.isEmpty { self.early[offset] = results }
        return []
    }
}

extension BreakEntry.Kind {
    /// Whether it is recorded also when the log has no room for new work: what ends or starts a break that is there, and what
    /// timers decide.
    var mayUseReserve: Bool {
        switch self {
        case .publish, .update, .postpone: false
        case .punch, .end, .cancel, .announce, .expire, .housekeeping: true
        }
    }
}
