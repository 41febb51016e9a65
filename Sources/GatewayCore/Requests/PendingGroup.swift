// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A group of acknowledgements and deliveries on its way to the log: the records, and the clients that wait until these are
/// durable.
package struct PendingGroup: Sendable {
    /// A client that is answered when the log has answered about the group.
    package struct Waiter: Hashable, Sendable {
        /// The receiver of the answer: a number of the transport's, with no meaning here.
        package let peer: UInt64
        package let deferred: ListenerRequestHandler.Deferred
    }

    /// Every number is given once.
    package let number: UInt64
    /// The records; once the log has their bytes, only the deliveries, which are recorded again if the log fails.
    package internal(set) var content: GatheredGroup
    /// Those whose acknowledgements are in it, and those who repeated something of it.
    package internal(set) var waiters: [Waiter] = []
    /// How many repeats were told to wait for it.
    var repeatCount = 0

    init(number: UInt64, content: GatheredGroup = GatheredGroup()) {
        self.number = number
        self.content = content
    }

    /// Gives its bytes away, for the log.
    mutating func takeContent() -> GatheredGroup {
        let content = self.content
        self.content = GatheredGroup()
        self.content.deliveries = content.deliveries
        return content
    }
}

/// How much waits for the log, as the limits on it need it: ``WaitingForLog`` for one thread, or a count of all for several.
package protocol WaitingCount: Sendable {
    /// How much waits.
    var waiting: WaitingForLog { get }

    /// So much more waits, or less.
    mutating func add(_ change: WaitingForLog)
}

/// How much waits for the log.
package struct WaitingForLog: Hashable, WaitingCount {
    /// Acknowledgements that no group which was handed to the log holds.
    package var requests = 0
    /// How many bytes they are.
    package var requestBytes = 0
    /// Deliveries that no such group holds.
    package var deliveries = 0
    /// Repeats of acknowledgements that are not durable.
    package var repeats = 0

    package init(requests: Int = 0, requestBytes: Int = 0, deliveries: Int = 0, repeats: Int = 0) {
        self.requests = requests
        self.requestBytes = requestBytes
        self.deliveries = deliveries
        self.repeats = repeats
    }

    package var waiting: WaitingForLog { self }

    package mutating func add(_ change: WaitingForLog) {
        self.requests += change.requests
        self.requestBytes += change.requestBytes
        self.deliveries += change.deliveries
        self.repeats += change.repeats
    }
}

/// The groups of one handler: one gathers, those that are full wait to be taken, those that were taken are with the log.
struct PendingGroups: Sendable {
    /// The one that gathers.
    private(set) var gathering: PendingGroup
    /// Groups that came as large as a record may be before they were taken, oldest first.
    private var full: [PendingGroup] = []
    /// Those that the log has, oldest first: a few.
    private var inFlight: [PendingGroup] = []
    /// Deliveries that the log did not take and for which the group that gathers has no room.
    private var returned: [AcknowledgementGroup.Delivery] = []
    /// The number that waits here and in the groups that share the limit.
    private var count: any WaitingCount
    /// The largest record that a group becomes, in bytes.
    private let recordBytesMax: Int

    init(number: UInt64, recordBytesMax: Int, count: any WaitingCount) {
        self.gathering = PendingGroup(number: number)
        self.recordBytesMax = recordBytesMax
        self.count = count
    }

    /// The amounts that limits are compared with.
    @inline(__always)
    var waiting: WaitingForLog { self.count.waiting }

    /// Whether a whole record waits to be taken.
    var hasFull: Bool { !self.full.isEmpty || !self.returned.isEmpty }

    /// Whether nothing waits to be taken.
    var hasGatheredNothing: Bool { self.gathering.content.isEmpty && !self.hasFull }

    /// Whether a client waits for a group that the log does not have yet.
    var hasGatheredWaiters: Bool {
        !self.gathering.waiters.isEmpty || self.full.contains { !$0.waiters.isEmpty }
    }

    /// Whether no client waits, and the log has nothing to answer.
    var isIdle: Bool { self.inFlight.isEmpty && !self.hasGatheredWaiters }

    /// How many wait, also with the log.
    private(set) var waiterCount = 0

    // MARK: - What gathers

    /// Whether the record of the group that gathers takes so many bytes more.
    @inline(__always)
    func hasRoom(for bytes: Int) -> Bool {
        self.gathering.content.recordBytesMax + bytes <= self.recordBytesMax || self.gathering.content.isEmpty
    }

    /// Adds an acknowledgement to the group that gathers; the rest as `GatheredGroup.accept`.
    @inline(__always)
    mutating func accept(
        _ request: [UInt8],
        leavingOut left: Range<Int>,
        received: Timestamp,
        breakNumber: BreakNumber,
        ordinals: [UInt32]
    ) {
        self.gathering.content.accept(
            request,
            leavingOut: left,
            received: received,
            breakNumber: breakNumber,
            ordinals: ordinals
        )
        self.count.add(WaitingForLog(requests: 1, requestBytes: request.count - left.count))
    }

    /// Adds a delivery to the group that gathers.
    @inline(__always)
    mutating func append(_ delivery: AcknowledgementGroup.Delivery) {
        self.gathering.content.deliveries.append(delivery)
        self.count.add(WaitingForLog(deliveries: 1))
    }

    /// The group that gathers takes no more.
    ///
    /// - Parameter next: the number of the one that gathers from now on.
    mutating func closeFull(next: UInt64) {
        self.full.append(self.gathering)
        self.gathering = PendingGroup(number: next)
    }

    // MARK: - Who waits

    /// Has a repeat wait for a group that is not durable.
    mutating func countRepeat(of number: UInt64) {
        self.withGroup(number) { $0.repeatCount += 1 }
        self.count.add(WaitingForLog(repeats: 1))
    }

    /// Registers a client that is answered when the log has answered about a group.
    mutating func wait(_ waiter: PendingGroup.Waiter) {
        self.withGroup(waiter.deferred.group) { $0.waiters.append(waiter) }
        self.waiterCount += 1
    }

    private mutating func withGroup(_ number: UInt64, _ body: (inout PendingGroup) -> Void) {
        if self.gathering.number == number {
            body(&self.gathering)
        } else if let place = self.full.firstIndex(where: { $0.number == number }) {
            body(&self.full[place])
        } else if let place = self.inFlight.firstIndex(where: { $0.number == number }) {
            body(&self.inFlight[place])
        } else {
            preconditionFailure("the answer to a request waits for a group that is not durable")
        }
    }

    // MARK: - The log

    /// Whether a group that is closed already is taken next, and not the one that gathers.
    var hasClosed: Bool { !self.full.isEmpty }

    /// Takes the next group for the log.
    ///
    /// - Parameter next: the number of the group that gathers from now on, where the one that gathered is taken.
    /// - Returns: the number of the group, and what it records.
    mutating func take(next: UInt64) -> (number: UInt64, content: GatheredGroup) {
        var group: PendingGroup
        if self.full.isEmpty {
            group = self.gathering
            self.gathering = PendingGroup(number: next, content: GatheredGroup(roomOf: group.content))
        } else {
            group = self.full.removeFirst()
        }
        if !self.returned.isEmpty {
            let room =
                max(0, self.recordBytesMax - group.content.recordBytesMax) / GatheredGroup.deliveryBytesMax
            group.content.deliveries.insert(contentsOf: self.returned.prefix(room), at: 0)
            self.returned.removeFirst(min(room, self.returned.count))
        }
        let content = group.takeContent()
        self.count.add(
            WaitingForLog(
                requests: -content.requestCount,
                requestBytes: -content.requestBytes,
                deliveries: -content.deliveries.count
            )
        )
        self.inFlight.append(group)
        return (group.number, content)
    }

    /// The log has answered about a group.
    ///
    /// - Parameters:
    ///   - number: which group.
    ///   - isDurable: whether the log has it for sure.
    ///   - forgotten: sessions of which nothing is recorded again.
    /// - Returns: those who get their answer now.
    mutating func answered(
        _ number: UInt64,
        isDurable: Bool,
        leavingOut forgotten: ForgottenSessions
    ) -> [PendingGroup.Waiter] {
        guard let place = self.inFlight.firstIndex(where: { $0.number == number }) else {
            preconditionFailure("the log answers once about what it was given")
        }
        let group = self.inFlight.remove(at: place)
        self.count.add(WaitingForLog(repeats: -group.repeatCount))
        self.waiterCount -= group.waiters.count
        if !isDurable { self.putBack(group.content.deliveries.filter { !forgotten.contains($0.session) }) }
        return group.waiters
    }

    /// Whether the log has answered about every group up to one, also where nothing has gathered for it.
    func hasAnswered(through number: UInt64) -> Bool {
        let waiting = self.full.map(\.number) + self.inFlight.map(\.number)
        guard waiting.allSatisfy({ $0 > number }) else { return false }
        return self.gathering.number > number || self.gathering.content.isEmpty
    }

    /// Gives back deliveries that the log did not take: those batches were handed out, so they must be recorded.
    private mutating func putBack(_ deliveries: [AcknowledgementGroup.Delivery]) {
        self.count.add(WaitingForLog(deliveries: deliveries.count))
        let bytes = self.gathering.content.recordBytesMax + deliveries.count * GatheredGroup.deliveryBytesMax
        if bytes <= self.recordBytesMax {
            self.gathering.content.deliveries.insert(contentsOf: deliveries, at: 0)
        } else {
            self.returned += deliveries
        }
    }
}
