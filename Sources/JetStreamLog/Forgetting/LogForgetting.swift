// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
package import CuecastWire
package import GatewayCore

/// Forgets sessions in a log that several gateways share: by an operator, whose key may erase messages.
///
/// ```swift
/// let forgetting = try await LogForgetting.open(access, names: names)
/// let order = try await forgetting.begin(session, at: now)
/// let swept = try await forgetting.sweep()
/// ```
///
/// Every step can be repeated, also after it was cut off. A record that names the session is stored anew with other names, and only when
/// the servers have confirmed that, its message is erased.
package final class LogForgetting: Sendable {
    /// The result of a sweep.
    package struct Swept: Hashable, Sendable {
        /// Records that have another one in their place now.
        package var records = 0
        /// Up to where each lane was looked at.
        package var heads: [Lane: UInt64] = [:]
        /// The sequence of the newest record that stands for another one.
        private(set) var newestStandIn: UInt64 = 0

        mutating func note(standIn sequence: UInt64) { self.newestStandIn = max(self.newestStandIn, sequence) }

        /// Whether gateways have to be told that the records of an order are erased: an earlier sweep may have been cut off after it
        /// replaced some, and before it told them.
        package func hasToBeTold(of order: ForgettingOrder) -> Bool {
            guard let erased = order.erased else { return true }
            return self.records > 0 || self.newestStandIn > erased
        }
    }

    /// Orders older than this are erased (60 days): no gateway needs to refuse their sessions.
    private static let keptFor: Duration = .seconds(60 * 86_400)
    /// How long a copy may be behind its leader before it counts as away (10 s).
    private static let behindFor: Duration = .seconds(10)
    /// How long after the stream of orders was made for an older log gateways may not have told yet that they are there (1 min).
    private static let tellsWithin: Duration = .seconds(60)

    package let identity: LogIdentity
    /// As gateways read them.
    package let orders: ForgettingOrders
    private let connection: NATSConnection
    private let names: LogNames

    private init(_ connection: NATSConnection, names: LogNames) throws(NATSError) {
        // An election may be under way: a server was just lost.
        let identity = try PatientCall.answered { () throws(NATSError) in
            try LogCluster(connection, names: names).identity()
        }
        for lane in LogNames.lanes {
            let facts = try PatientCall.answered { () throws(NATSError) in
                try connection.facts(of: names.stream(of: lane), in: names, lane: lane)
            }
            try LanePlaces(identity, of: lane).requireFinished(at: facts.lastSequence)
        }
        self.identity = identity
        self.connection = connection
        self.names = names
        self.orders = ForgettingOrders(connection, names: names, of: self.identity.logID)
    }

    /// Opens a log that `LogCluster` has made.
    ///
    /// - Parameters:
    ///   - access: where the servers are, and the operator's key.
    ///   - names: of the log.
    /// - Returns: the log.
    /// - Throws: where there is no such log, its streams do not begin with its identity, or a restore did not end.
    package static func open(_ access: NATSAccess, names: LogNames) async throws(NATSError) -> LogForgetting {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try LogForgetting(NATSConnection(access), names: names)
        }
    }

    private var stream: String { self.names.forgottenStream }

    // MARK: - Orders

    /// Orders all gateways to forget a session; where that was begun before, it goes on with the same names.
    ///
    /// - Parameters:
    ///   - session: which.
    ///   - now: by this machine's clock.
    /// - Returns: the order.
    /// - Throws: `unusable` where as many sessions are refused as may be.
    package func begin(_ session: SessionID, at now: Timestamp) async throws(NATSError) -> ForgettingOrder {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            let key = try PatientCall.answered { () throws(NATSError) in try self.makeStream() }
            let hash = key.hash(of: session)
            let known = try self.orders.readHere()
            try self.prune(known, at: now)
            let refused = known.orders.filter { $0.at + ForgottenSessions.keptFor > now && $0.hash != hash }
            guard refused.count < ForgottenSessions.forgottenSessionsMax else {
                throw .unusable("\(ForgottenSessions.Full())")
            }
            return try PatientCall.answered { () throws(NATSError) in try self.order(session, hash, at: now) }
        }
    }

    /// All orders that are not followed everywhere yet; where a command ended between the names of a session and its order, it is ordered
    /// now.
    ///
    /// - Parameter now: by this machine's clock.
    /// - Returns: the orders, as the leader has them.
    /// - Throws: `noAnswer` where no server has all of them for a minute.
    package func pending(at now: Timestamp) async throws(NATSError) -> [ForgettingOrder] {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            // The server that answers a reader may be behind the leader, and another command may finish an order meanwhile.
            try PatientCall.answered { () throws(NATSError) in
                let numbers = try self.orderNamed(at: now)
                let pending = try self.orders.readHere().pending
                guard numbers.isSubset(of: pending.map(\.number)) else {
                    throw .noAnswer("\(self.stream): no server has all orders")
                }
                return pending
            }
        }
    }

    /// Orders what has names and no order.
    ///
    /// - Returns: the numbers of all orders whose names are there.
    private func orderNamed(at now: Timestamp) throws(NATSError) -> Set<UInt64> {
        guard try self.connection.hasForgottenStream(self.names) else { return [] }
        var numbers: Set<UInt64> = []
        for subject in try self.connection.subjects(of: self.stream, matching: self.names.forgotten.names) {
            // Erased meanwhile: another command has finished it.
            guard let hash = ForgettingOrders.hash(of: subject),
                let named = try self.connection.last(on: subject, of: self.stream)
            else { continue }
            numbers.insert(try self.number(of: hash, named: named.sequence, at: now).number)
        }
        return numbers
    }

    /// Whether gateways had time to tell that they are there since the stream of orders was made: an older log had none.
    ///
    /// - Parameter now: by this machine's clock.
    /// - Returns: whether all that are there have told it.
    /// - Throws: where the servers do not answer.
    package func gatewaysAreTold(at now: Timestamp) async throws(NATSError) -> Bool {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try PatientCall.answered { () throws(NATSError) in
                let made = try self.connection.facts(of: self.stream, subject: self.names.forgotten.all).created
                let log = try self.connection.facts(of: self.names.stream(of: .breaks), in: self.names, lane: .breaks)
                return Self.areTold(streamMade: made, logMade: log.created, now: now)
            }
        }
    }

    /// Whether gateways had time to tell that they are there.
    ///
    /// - Parameters:
    ///   - streamMade: when the stream of orders was made, in nanoseconds since 1970.
    ///   - logMade: when the log was made. A log of this version was made with the stream, before any gateway.
    ///   - now: by this machine's clock.
    /// - Returns: whether all that are there have told it.
    static func areTold(streamMade: Int64, logMade: Int64, now: Timestamp) -> Bool {
        let within = Self.tellsWithin.inMicroseconds
        return streamMade / 1_000 - logMade / 1_000 < within || now.microseconds - streamMade / 1_000 > within
    }

    /// A log that an earlier version made has no stream of orders.
    private func makeStream() throws(NATSError) -> ForgottenSessions.Key {
        let cluster = LogCluster(self.connection, names: self.names)
        return try cluster.makeForgotten(of: self.identity.logID, replicas: try cluster.replicas())
    }

    private func order(_ session: SessionID, _ hash: UInt64, at now: Timestamp) throws(NATSError) -> ForgettingOrder {
        let subject = self.names.forgotten.names(hash)
        var names = SessionPseudonyms(of: session).names
        let named: UInt64
        if let found = try self.connection.last(on: subject, of: self.stream) {
            guard let known = ForgettingNames(bytes: found.bytes), known.areOf(session) else {
                throw .unusable("the names in \(subject) are of another session, or cannot be read")
            }
            (names, named) = (known, found.sequence)
        } else {
            do throws(NATSError) {
                named = try self.connection.store(
                    names.bytes,
                    headers: [(StandInHeader.expectedLast, "0")],
                    on: subject,
                    in: self.stream
                )
            } catch {
                guard error.isAnotherSequence else { throw error }
                return try self.order(session, hash, at: now)
            }
        }
        let (number, at) = try self.number(of: hash, named: named, at: now)
        return ForgettingOrder(hash: hash, number: number, at: at, names: names)
    }

    /// The number of the order of names; it is stored unless it is there.
    private func number(
        of hash: UInt64,
        named: UInt64,
        at now: Timestamp
    ) throws(NATSError) -> (number: UInt64, at: Timestamp) {
        let subject = self.names.forgotten.session(hash)
        if let known = try self.connection.last(on: subject, of: self.stream), known.sequence > named,
            let at = ForgettingOrder.instant(known.bytes)
        {
            return (known.sequence, at)
        }
        return (try self.connection.store(ForgettingOrder.bytes(at: now), on: subject, in: self.stream), now)
    }

    private func prune(_ known: ForgettingOrders.Known, at now: Timestamp) throws(NATSError) {
        for order in known.orders where order.names == nil && order.at + Self.keptFor < now {
            try PatientCall.answered { () throws(NATSError) in
                try self.connection.erase(order.number, of: self.stream)
                if let erased = order.erased { try self.connection.erase(erased, of: self.stream) }
            }
        }
    }

    /// Tells gateways that no record names a session any more.
    ///
    /// - Returns: the sequence of the message.
    @discardableResult
    package func markErased(
        _ order: ForgettingOrder,
        through heads: [Lane: UInt64]
    ) async throws(NATSError) -> UInt64 {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try PatientCall.answered { () throws(NATSError) in
                try self.connection.store(
                    ForgettingOrder.bytes(erasedThrough: heads),
                    on: self.names.forgotten.erased(order.hash),
                    in: self.stream
                )
            }
        }
    }

    /// Erases the names: no gateway needs them any more.
    package func finish(_ order: ForgettingOrder) async throws(NATSError) {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try PatientCall.answered { () throws(NATSError) in
                let subject = self.names.forgotten.names(order.hash)
                guard let found = try self.connection.last(on: subject, of: self.stream) else { return }
                try self.connection.erase(found.sequence, of: self.stream)
            }
        }
    }

    /// Waits for the books of a gateway no longer: its directory is gone.
    package func drop(_ books: String) async throws(NATSError) {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try PatientCall.answered { () throws(NATSError) in
                while let found = try self.connection.last(on: self.names.forgotten.books(books), of: self.stream) {
                    try self.connection.erase(found.sequence, of: self.stream)
                }
            }
        }
    }

    /// The servers whose copy of a stream is away, or stays behind: they would keep bytes of erased messages.
    ///
    /// A server that has just ended counts as current for some seconds, but it lacks what was erased since.
    package func serversAway() async throws(NATSError) -> [String] {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            let begun = ContinuousClock.now
            while case let away = try self.serversBehind(), !away.isEmpty {
                guard ContinuousClock.now - begun < Self.behindFor else { return away }
                PatientCall.pause()
            }
            return []
        }
    }

    private func serversBehind() throws(NATSError) -> [String] {
        var streams = Lane.acknowledgementLanes.map { (self.names.stream(of: $0), self.names.subject(of: $0)) }
        if try self.connection.hasForgottenStream(self.names) {
            streams.append((self.stream, self.names.forgotten.all))
        }
        var away: Set<String> = []
        for (stream, subject) in streams {
            let facts = try PatientCall.answered { () throws(NATSError) in
                try self.connection.facts(of: stream, subject: subject)
            }
            for copy in facts.copies where copy.isOffline || !copy.isCurrent || copy.lag > 0 {
                away.insert(copy.server)
            }
        }
        return away.sorted()
    }

    // MARK: - Records

    /// Puts other records in the place of all that name sessions that are being forgotten.
    ///
    /// - Parameters:
    ///   - orders: the pending ones.
    ///   - progress: told which record of how many was looked at.
    /// - Returns: the number of records that were replaced, and how far it looked.
    /// - Throws: where it has to be done again.
    package func sweep(
        _ orders: [ForgettingOrder],
        progress: @escaping @Sendable (UInt64, UInt64) -> Void = { _, _ in }
    ) async throws(NATSError) -> Swept {
        let sweep = LogSweep(connection: self.connection, names: self.names)
        return try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in
            try sweep.run(orders, progress: progress)
        }
    }

    /// How many records name a session.
    package func count(_ session: SessionID) async throws(NATSError) -> Int {
        let sweep = LogSweep(connection: self.connection, names: self.names)
        return try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in try sweep.count(session) }
    }
}
#endif
