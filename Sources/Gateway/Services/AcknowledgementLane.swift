// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore

/// Knows who waits for which group of acknowledgements.
struct AcknowledgementLane {
    /// An acknowledgement that is not durable yet.
    struct Member: Sendable {
        let peer: EdgePeer
        let deferred: ListenerRequestHandler.Deferred
    }

    /// A group in the hands of the log.
    private struct Group {
        var members: [Member]
        let deliveries: [AcknowledgementGroup.Delivery]
    }

    private var pacer = GroupPacer()
    private var gathered: [Member] = []
    private var inFlight: [UInt64: Group] = [:]
    /// Whether the log failed the last group that it answered about.
    private var isFailing = false
    /// Whether a failing log is tried again although nobody waits.
    private var mayRetry = false

    /// Whether nobody waits for anything.
    var isIdle: Bool { self.gathered.isEmpty && self.inFlight.isEmpty }

    /// How many wait for the log.
    var waitingCount: Int { self.gathered.count + self.inFlight.values.reduce(0) { $0 + $1.members.count } }

    /// Takes somebody who waits for the group that gathers, or, with a repeat, for one that the log has been given already.
    mutating func add(_ member: Member) {
        if self.inFlight[member.deferred.group] == nil {
            self.gathered.append(member)
        } else {
            self.inFlight[member.deferred.group]?.members.append(member)
        }
    }

    /// Lets the next `close` try a failing log again.
    mutating func retry() {
        self.mayRetry = self.isFailing
    }

    /// Another lane of the log failed: it is tried again although nobody waits here.
    mutating func noteFailure() {
        self.isFailing = true
    }

    /// Gives up what has gathered, because the log has no room for it; deliveries go on waiting.
    ///
    /// - Returns: those who get their answer now.
    mutating func refuse(_ handler: inout ListenerRequestHandler) -> [Member] {
        guard !self.gathered.isEmpty else { return [] }
        var taken: [(number: UInt64, group: GatheredGroup)] = []
        repeat { taken.append(handler.takeGroup()) } while !handler.hasGatheredNothing
        for each in taken { handler.answered(each.number, isDurable: false, deliveries: each.group.deliveries) }
        defer { self.gathered = [] }
        return self.gathered
    }

    /// The next group to hand to the log, if it is time: what the handler has gathered, with those who wait for it.
    ///
    /// A log that fails is tried again for everybody who asks, and else as often as `retry` allows: deliveries that it
    /// failed come back at once and would keep it busy. Then a group may be empty; it shows whether the log works again.
    mutating func close(
        _ handler: inout ListenerRequestHandler
    ) -> (id: UInt64, group: GatheredGroup)? {
        if self.isFailing, self.gathered.isEmpty {
            guard self.mayRetry, self.pacer.inFlight == 0 else { return nil }
        } else {
            let size =
                handler.hasFullGroup
                ? self.pacer.groupRequestsMax : max(handler.group.requestCount, handler.group.deliveries.count)
            guard self.pacer.closes(gathered: size) else { return nil }
        }
        self.mayRetry = false
        let (number, group) = handler.takeGroup()
        // Those whose requests are in it, and those whose repeats wait for it.
        let members = self.gathered.filter { $0.deferred.group == number }
        self.gathered.removeAll { $0.deferred.group == number }
        self.inFlight[number] = Group(members: members, deliveries: group.deliveries)
        self.pacer.opened()
        return (number, group)
    }

    /// The log has answered about a group.
    ///
    /// - Parameters:
    ///   - id: which group.
    ///   - isDurable: whether the log has it.
    ///   - handler: is told, and gets the deliveries of a failed group back: those batches were handed out.
    /// - Returns: those who get their answer now.
    mutating func answered(
        _ id: UInt64,
        isDurable: Bool,
        handler: inout ListenerRequestHandler
    ) -> [Member] {
        self.pacer.completed()
        self.isFailing = !isDurable
        guard let group = self.inFlight.removeValue(forKey: id) else { return [] }
        handler.answered(id, isDurable: isDurable, deliveries: group.deliveries)
        return group.members
    }
}
