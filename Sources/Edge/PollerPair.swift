// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import SystemSupport

/// The events of a connection that a loop wants from its pollers.
struct PollerLook: Hashable {
    /// Whether it is new (it has sent no request and no subscription) or closing.
    ///
    /// Then the poller of deprioritised connections has it.
    var isDeprioritised = true
    var forReading = true
    var forWriting = false
}

/// The two pollers of an ``EdgeLoop``.
struct PollerPair: ~Copyable {
    /// Polls the connections in use, and reports when the other poller has an event.
    var main: Poller
    /// Polls the endpoints and the deprioritised connections, which are new or closing.
    ///
    /// So thousands of them at once do not delay connections in use.
    var deprioritised: Poller

    /// Keys from here on are the loop's own; a connection's are below.
    static let ownKeys = UInt64.max - 256
    /// The input from other threads.
    static let inboxKey = UInt64.max
    /// The poller of deprioritised connections.
    static let deprioritisedKey = UInt64.max - 1

    init(_ descriptors: EdgeLoop.Pollers) {
        self.main = Poller(adopting: descriptors.main)
        self.deprioritised = Poller(adopting: descriptors.deprioritised)
    }

    /// The key of an endpoint.
    static func key(ofEndpoint number: Int) -> UInt64 { Self.ownKeys + UInt64(number) }

    /// The endpoint of a key; `nil`: it is a connection's.
    static func endpoint(of key: UInt64) -> Int? { key >= Self.ownKeys ? Int(key - Self.ownKeys) : nil }

    /// Begins to poll the inbox and the deprioritised connections.
    func begin(inbox: Int32) {
        _ = self.main.add(inbox, key: Self.inboxKey, reading: true, writing: false)
        _ = self.main.add(self.deprioritised.descriptor, key: Self.deprioritisedKey, reading: true, writing: false)
    }

    /// Begins or ends watching an endpoint.
    func look(atEndpoint number: Int, _ descriptor: Int32, accepts: Bool) {
        let key = Self.key(ofEndpoint: number)
        // Level-triggered: connections wait in the backlog of an endpoint that no poller watches.
        _ =
            self.deprioritised.change(descriptor, key: key, reading: accepts, writing: false) == 0
            || self.deprioritised.add(descriptor, key: key, reading: accepts, writing: false) == 0
    }

    /// Begins to poll a connection.
    ///
    /// - Returns: whether that works.
    func add(_ descriptor: Int32, key: UInt64, _ look: PollerLook) -> Bool {
        (look.isDeprioritised
            ? self.deprioritised.add(descriptor, key: key, reading: look.forReading, writing: look.forWriting)
            : self.main.add(descriptor, key: key, reading: look.forReading, writing: look.forWriting)) == 0
    }

    /// Changes the events that are wanted of a connection.
    ///
    /// - Returns: whether that works.
    func change(_ descriptor: Int32, key: UInt64, _ look: PollerLook) -> Bool {
        (look.isDeprioritised
            ? self.deprioritised.change(descriptor, key: key, reading: look.forReading, writing: look.forWriting)
            : self.main.change(descriptor, key: key, reading: look.forReading, writing: look.forWriting)) == 0
    }

    /// Ends the polling of a connection.
    func remove(_ descriptor: Int32, _ look: PollerLook) {
        if look.isDeprioritised { self.deprioritised.remove(descriptor) } else { self.main.remove(descriptor) }
    }
}

extension EdgeLoop {
    /// The descriptors for the pollers of a loop.
    package struct Pollers: Sendable {
        let main: Int32
        let deprioritised: Int32

        /// - Throws: where there are too many descriptors.
        package static func make() throws(SystemCallError) -> Pollers {
            let main = try Poller.makeDescriptor()
            do throws(SystemCallError) {
                return Pollers(main: main, deprioritised: try Poller.makeDescriptor())
            } catch {
                System.close(main)
                throw error
            }
        }
    }
}
