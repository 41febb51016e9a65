// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Gathers entries for the lane `breaks` into groups, and finds the broadcasters that wait for their results.
///
/// A group carries the id of its append, so that the group is known when it is read back from the log. The log's confirmation and
/// the board's results may come in either order.
struct BreakLane {
    /// An entry, and the broadcaster that asked for it; timers ask for none.
    struct Member: Sendable {
        let entry: BreakEntry
        let waiting: WaitingBroadcaster?
        /// How large the request was, or its entry where that is larger by more than the overhead.
        let bytes: Int
        /// The entry as its group holds it: encoded with the request, so that a group of large ones is put together by copying.
        fileprivate let record: [UInt8]

        init(entry: BreakEntry, waiting: WaitingBroadcaster?, bytes: Int) {
            self.entry = entry
            self.waiting = waiting
            self.record = BreakGroup(entries: [entry]).encoded()
            // The entry of a signal has the advertisements of its list, which its request has not.
            self.bytes = if case .signal = entry.kind { max(bytes, self.record.count) } else { bytes }
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

    /// A group that was handed to the log.
    private struct OpenGroup {
        let members: [Member]
        /// Whether the log has confirmed it.
        var isDurable = false
        /// The board's results; `nil`: the board has not applied it yet.
        var results: [EntryResult]?
    }

    private var pacer: GroupPacer
    private var gathered: [Member] = []
    /// The bytes of those.
    private var gatheredBytes = 0
    private var groups: [AppendID: OpenGroup] = [:]
    /// How many entries of each stream are not answered yet.
    private var open: [StreamID: Int] = [:]

    /// - Parameters:
    ///   - entriesWaitingMax: the most entries that wait.
    ///   - entryBytesWaitingMax: the most bytes of their requests.
    ///   - isShared: whether several gateways share the log. Then one group is under way at a time: one that the log drops goes before
    ///     those that came later, so that an older change of a break never follows a newer one.
    init(entriesWaitingMax: Int, entryBytesWaitingMax: Int, isShared: Bool = false) {
        self.pacer =
            isShared
            ? GroupPacer(groupRequestsMax: BreakGroup.groupEntriesMax, groupsInFlightMax: 1)
            : GroupPacer(groupRequestsMax: BreakGroup.groupEntriesMax)
        self.entryBytesWaitingMax = entryBytesWaitingMax
        self.entriesWaitingMax = entriesWaitingMax
    }

    /// How many wait for anything.
    var waitingCount: Int { self.groups.values.reduce(self.gathered.count) { $0 + $1.members.count } }

    /// Whether no request waits for anything.
    var isIdle: Bool { self.gathered.isEmpty && self.groups.isEmpty }

    /// Whether the board has all entries of a stream that were taken here.
    func isSettled(_ stream: StreamID) -> Bool { self.open[stream] == nil }

    /// Takes an entry, unless too many wait already: then it says which limit is reached.
    mutating func add(_ member: Member) -> ReachedLimit? {
        guard self.gathered.count < self.entriesWaitingMax else { return .entriesWaitingMax }
        guard self.gatheredBytes + member.bytes <= self.entryBytesWaitingMax else { return .entryBytesWaitingMax }
        self.gathered.append(member)
        self.gatheredBytes += member.bytes
        if let stream = member.entry.stream { self.open[stream, default: 0] += 1 }
        return nil
    }

    /// These wait no more.
    private mutating func settle(_ members: [Member]) {
        for member in members {
            guard let stream = member.entry.stream, let count = self.open[stream] else { continue }
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
    ///
    /// - Parameter id: of the group's append, where there is one.
    /// - Returns: the record and its id; `nil`: it is not time for one.
    mutating func close(as id: @autoclosure () -> AppendID) -> (id: AppendID, record: [UInt8])? {
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
        let id = id()
        self.groups[id] = OpenGroup(members: members)
        self.pacer.opened()
        // Messages of protobuf are concatenated: the id of one and the entries of all become those of one.
        var record = BreakGroup(id: id, entries: []).encoded()
        record.reserveCapacity(members.reduce(record.count) { $0 + $1.record.count })
        for member in members { record += member.record }
        return (id, record)
    }

    /// Those whose request is traced, in a group that the log has not answered yet.
    ///
    /// - Parameter id: of the group.
    /// - Returns: the waiting members.
    func traced(_ id: AppendID) -> [WaitingBroadcaster] {
        (self.groups[id]?.members ?? []).compactMap { $0.waiting }.filter { $0.trace != nil }
    }

    /// The log has made a group durable.
    ///
    /// - Returns: the members with their results, if the board was faster.
    mutating func appended(_ id: AppendID) -> [(Member, EntryResult)] {
        self.pacer.completed()
        self.groups[id]?.isDurable = true
        return self.settleIfDone(id)
    }

    /// The log has failed a group.
    ///
    /// - Returns: the members that get no other answer.
    mutating func failed(_ id: AppendID) -> [Member] {
        self.pacer.completed()
        let members = self.groups.removeValue(forKey: id)?.members ?? []
        self.settle(members)
        return members
    }

    /// Has members of a group that the log dropped gather again, before all that gathered meanwhile.
    ///
    /// They were within the limits once.
    mutating func putBack(_ members: [Member]) {
        self.gathered.insert(contentsOf: members, at: 0)
        for member in members {
            self.gatheredBytes += member.bytes
            if let stream = member.entry.stream { self.open[stream, default: 0] += 1 }
        }
    }

    /// The board has applied a group; one of another gateway is passed over.
    ///
    /// - Returns: the members with their results, if the log has confirmed them.
    mutating func applied(_ results: [EntryResult], of id: AppendID?) -> [(Member, EntryResult)] {
        guard let id, self.groups[id] != nil else { return [] }
        self.groups[id]?.results = results
        return self.settleIfDone(id)
    }

    /// A confirmed group is durable by the log's own word, and is answered with the board's results.
    private mutating func settleIfDone(_ id: AppendID) -> [(Member, EntryResult)] {
        guard let group = self.groups[id], group.isDurable, let results = group.results else { return [] }
        self.groups[id] = nil
        self.settle(group.members)
        return Array(zip(group.members, results))
    }
}

extension BreakEntry.Kind {
    /// Whether it is recorded also when the log has no room for new work: what ends or starts a break that is there, and what
    /// timers decide.
    var mayUseReserve: Bool {
        switch self {
        case .publish, .update, .postpone, .putList, .removeList: false
        case .signal(let signal): signal.request.kind != .out
        case .punch, .end, .cancel, .announce, .expire, .housekeeping, .rules: true
        }
    }
}
