// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import GatewayCore
internal import SystemSupport

/// Accepts connections at the endpoints, and assigns each to a loop; only the first loop has one.
struct Acceptor {
    /// The result for a connection that waited at an endpoint.
    enum Outcome {
        /// No connection waits.
        case nothing
        /// The system has no descriptor for another connection.
        case noDescriptor
        /// It was refused and is closed already.
        case refused(EdgeClosing, PeerAddress)
        /// A loop gets it.
        case accepted(EdgeInbox.Arrival, loop: Int)
    }

    /// The most connections that are accepted at an endpoint in one iteration.
    ///
    /// Each takes some 30 µs, and open connections wait meanwhile. The others wait in the endpoint's backlog, where no timeout
    /// runs for them.
    static let acceptsPerIteration = 4

    private let shared: EdgeShared
    /// Whether the poller watches the endpoints.
    private(set) var isAccepting = false
    /// Which loop gets the next connection of each endpoint.
    ///
    /// A client may open one connection at each of two endpoints. With one counter for both, half of the loops would get all
    /// connections of one kind.
    private var nextLoops: [Int]

    init(_ shared: EdgeShared) {
        self.shared = shared
        self.nextLoops = shared.endpoints.map { _ in 0 }
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
    mutating func accept(atEndpoint number: Int) -> Outcome {
        let endpoint = self.shared.endpoints[number]
        let (descriptor, from) = System.accept(endpoint.descriptor)
        guard descriptor >= 0 else { return System.hasNoDescriptor(descriptor) ? .noDescriptor : .nothing }
        let address = PeerAddress(from)
        var shared: EdgeAddress?
        if let balancers = endpoint.balancers {
            // The balancer's header states the client's address.
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
        let arrival = EdgeInbox.Arrival(descriptor: descriptor, address: address, shared: shared, endpoint: number)
        let loop = self.nextLoops[number]
        self.nextLoops[number] = (loop + 1) % self.shared.inboxes.count
        return .accepted(arrival, loop: loop)
    }
}
