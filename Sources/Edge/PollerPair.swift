// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import NetworkIO

/// What the pollers of a loop look for at a connection.
struct PollerLook: Hashable {
    /// Whether it has asked for nothing yet, or has left: the poller of those looks at it.
    var isAside = true
    var forReading = true
    var forWriting = false
}

/// The two pollers of an ``EdgeLoop``.
struct PollerPair: ~Copyable {
    /// Looks at the connections that have asked for something, and says when the other one has something.
    var main: Poller
    /// Looks at the endpoints and at deprioritised connections: those that have not asked for anything yet, or that have left.
    ///
    /// Thousands of them at once stand before no connection that listens.
    var aside: Poller

    /// Keys from here on are the loop's own; a connection's are below.
    static let ownKeys = UInt64.max - 256
    /// What other threads have handed over.
    static let inboxKey = UInt64.max
    /// The poller of deprioritised connections.
    static let asideKey = UInt64.max - 1

    init(_ descriptors: EdgeLoop.Pollers) {
        self.main = Poller(adopting: descriptors.main)
        self.aside = Poller(adopting: descriptors.aside)
    }

    /// The key of an endpoint.
    static func key(ofEndpoint number: Int) -> UInt64 { Self.ownKeys + UInt64(number) }

    /// The endpoint of a key; `nil`: it is a connection's.
    static func endpoint(of key: UInt64) -> Int? { key >= Self.ownKeys ? Int(key - Self.ownKeys) : nil }

    /// Begins to look at the inbox and at deprioritised connections.
    func begin(inbox: Int32) {
        _ = self.main.add(inbox, key: Self.inboxKey, reading: true, writing: false)
        _ = self.main.add(self.aside.descriptor, key: Self.asideKey, reading: true, writing: false)
    }

    /// Begins or ends watching an endpoint.
    func look(atEndpoint number: Int, _ descriptor: Int32, accepts: Bool) {
        let key = Self.key(ofEndpoint: number)
        // Level-triggered: connections wait in the backlog of an endpoint that no poller watches.
        _ =
            self.aside.change(descriptor, key: key, reading: accepts, writing: false) == 0
            || self.aside.add(descriptor, key: key, reading: accepts, writing: false) == 0
    }

    /// Begins to look at a connection.
    ///
    /// - Returns: whether that works.
    func add(_ descriptor: Int32, key: UInt64, _ look: PollerLook) -> Bool {
        (look.isAside
            ? self.aside.add(descriptor, key: key, reading: look.forReading, writing: look.forWriting)
            : self.main.add(descriptor, key: key, reading: look.forReading, writing: look.forWriting)) == 0
    }

    /// Looks for something else at a connection.
    ///
    /// - Returns: whether that works.
    func change(_ descriptor: Int32, key: UInt64, _ look: PollerLook) -> Bool {
        (look.isAside
            ? self.aside.change(descriptor, key: key, reading: look.forReading, writing: look.forWriting)
            : self.main.change(descriptor, key: key, reading: look.forReading, writing: look.forWriting)) == 0
    }

    /// Looks at a connection no more.
    func remove(_ descriptor: Int32, _ look: PollerLook) {
        if look.isAside { self.aside.remove(descriptor) } else { self.main.remove(descriptor) }
    }
}

extension EdgeLoop {
    /// Descriptors for the pollers of a loop, which its thread will use.
    package struct Pollers: Sendable {
        let main: Int32
        let aside: Int32

        /// - Throws: where there are too many descriptors.
        package static func make() throws(SystemCallError) -> Pollers {
            let main = try Poller.makeDescriptor()
            do throws(SystemCallError) {
                return Pollers(main: main, aside: try Poller.makeDescriptor())
            } catch {
                System.close(main)
                throw error
            }
        }
    }
}
