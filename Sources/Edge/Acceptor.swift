// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import GatewayCore
internal import SystemSupport

/// Accepts connections at the doors, and says which loop gets which; the first loop's only.
struct Acceptor {
    /// What becomes of a connection that waited at a door.
    enum Outcome {
        /// No connection waits there.
        case nothing
        /// The system has no descriptor for another connection.
        case noDescriptor
        /// It is closed already.
        case refused(EdgeClosing, PeerAddress)
        /// A loop gets it.
        case accepted(EdgeInbox.Arrival, loop: Int)
    }

    /// So many connections are accepted at a door in one round.
    ///
    /// Each takes some 30 µs, and connections that are there already wait for them. The others wait at the door, where no time runs
    /// for them.
    static let connectionsPerRound = 4

    private let shared: EdgeShared
    /// Whether the doors are looked at.
    private(set) var isAccepting = false
    /// Which loop gets the next connection of each door.
    ///
    /// Clients that open a connection at two doors would otherwise have all those of one kind on half of the loops.
    private var nextLoops: [Int]

    init(_ shared: EdgeShared) {
        self.shared = shared
        self.nextLoops = shared.doors.map { _ in 0 }
    }

    /// Begins to accept, or stops.
    ///
    /// - Returns: whether that is a change.
    mutating func setAccepting(_ accepts: Bool) -> Bool {
        guard accepts != self.isAccepting else { return false }
        self.isAccepting = accepts
        return true
    }

    /// Accepts one connection, if there is one.
    mutating func accept(atDoor number: Int) -> Outcome {
        let door = self.shared.doors[number]
        let (descriptor, from) = System.accept(door.descriptor)
        guard descriptor >= 0 else { return System.hasNoDescriptor(descriptor) ? .noDescriptor : .nothing }
        let address = PeerAddress(from)
        var shared: EdgeAddress?
        if let balancers = door.balancers {
            // Whose it is the balancer says.
            guard balancers.trusted.contains(from) else {
                System.close(descriptor)
                return .refused(.proxy(.untrusted), address)
            }
        } else if self.shared.limits(address) {
            shared = self.shared.admit(address)
            guard shared != nil else {
                System.close(descriptor)
                return .refused(.address, address)
            }
        }
        let arrival = EdgeInbox.Arrival(descriptor: descriptor, address: address, shared: shared, door: number)
        let loop = self.nextLoops[number]
        self.nextLoops[number] = (loop + 1) % self.shared.inboxes.count
        return .accepted(arrival, loop: loop)
    }
}
