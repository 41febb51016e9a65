// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
package import CuecastWire
import Dispatch
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
    }

    /// Orders older than this are erased (60 days): no gateway needs to refuse their sessions.
    private static let keptFor: Duration = .seconds(60 * 86_400)
    private static let answersWithin: Duration = .seconds(60)
    /// How long a copy may be behind its leader before it counts as away (10 s).
    private static let behindFor: Duration = .seconds(10)
    private static let tryAfter: Duration = .milliseconds(200)
    private static let messagesPerQuestionMax = 256
    private static let bytesPerQuestionMax = 8 * 1_048_576

    package let identity: LogIdentity
    /// As gateways read them.
    package let orders: ForgettingOrders
    private let connection: NATSConnection
    private let names: LogNames

    private init(_ connection: NATSConnection, names: LogNames) throws(NATSError) {
        self.identity = try LogCluster(connection, names: names).identity()
        self.connection = connection
        self.names = names
        self.orders = ForgettingOrders(connection, names: names, of: self.identity.logID)
    }

    /// Opens a log that `LogCluster` has made.
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
    /// - Returns: the order, and whether gateways knew of the stream of orders before: else they have not told yet that they are there.
    /// - Throws: `unusable` where as many sessions are refused as may be.
    package func begin(
        _ session: SessionID,
        at now: Timestamp
    ) async throws(NATSError) -> (order: ForgettingOrder, wasKnown: Bool) {
        try await self.onThread { () throws(NATSError) in
            let wasKnown = try self.hasStream()
            let key = try self.answered { () throws(NATSError) in try self.makeStream() }
            let hash = key.hash(of: session)
            let known = try self.orders.readHere()
            try self.prune(known, at: now)
            let refused = known.orders.filter { $0.at + ForgottenSessions.keptFor > now && $0.hash != hash }
            guard refused.count < ForgottenSessions.forgottenSessionsMax else {
                throw .unusable("\(ForgottenSessions.Full())")
            }
            let order = try self.answered { () throws(NATSError) in try self.order(session, hash, at: now) }
            return (order, wasKnown)
        }
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
        let order = self.names.forgotten.session(hash)
        let known = try self.connection.last(on: order, of: self.stream)
        if let known, known.sequence > named, let at = ForgettingOrder.instant(known.bytes) {
            return ForgettingOrder(hash: hash, number: known.sequence, at: at, names: names)
        }
        let number = try self.connection.store(ForgettingOrder.bytes(at: now), on: order, in: self.stream)
        return ForgettingOrder(hash: hash, number: number, at: now, names: names)
    }

    private func prune(_ known: ForgettingOrders.Known, at now: Timestamp) throws(NATSError) {
        for order in known.orders where order.names == nil && order.at + Self.keptFor < now {
            try self.answered { () throws(NATSError) in
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
        try await self.onThread { () throws(NATSError) in
            try self.answered { () throws(NATSError) in
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
        try await self.onThread { () throws(NATSError) in
            try self.answered { () throws(NATSError) in
                let subject = self.names.forgotten.names(order.hash)
                guard let found = try self.connection.last(on: subject, of: self.stream) else { return }
                try self.connection.erase(found.sequence, of: self.stream)
            }
        }
    }

    /// Waits for the books of a gateway no longer: its directory is gone.
    package func drop(_ books: String) async throws(NATSError) {
        try await self.onThread { () throws(NATSError) in
            try self.answered { () throws(NATSError) in
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
        try await self.onThread { () throws(NATSError) in
            let begun = ContinuousClock.now
            while case let away = try self.serversBehind(), !away.isEmpty {
                guard ContinuousClock.now - begun < Self.behindFor else { return away }
                _ = DispatchSemaphore(value: 0)
                    .wait(timeout: .now() + .microseconds(Int(Self.tryAfter.inMicroseconds)))
            }
            return []
        }
    }

    private func serversBehind() throws(NATSError) -> [String] {
        var streams = Lane.acknowledgementLanes.map { (self.names.stream(of: $0), self.names.subject(of: $0)) }
        if try self.hasStream() { streams.append((self.stream, self.names.forgotten.all)) }
        var away: Set<String> = []
        for (stream, subject) in streams {
            let facts = try self.answered { () throws(NATSError) in
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
        try await self.onThread { () throws(NATSError) in
            var swept = Swept()
            for lane in Lane.acknowledgementLanes { try self.sweep(lane, orders, &swept, progress) }
            try self.sweepStandIns(orders, &swept)
            return swept
        }
    }

    /// How many records name a session.
    package func count(_ session: SessionID) async throws(NATSError) -> Int {
        let order = ForgettingOrder(
            hash: 0,
            number: 0,
            at: Timestamp(microseconds: 0),
            names: SessionPseudonyms(of: session).names
        )
        return try await self.onThread { () throws(NATSError) in
            var streams: [(stream: String, subject: String, filter: String?)] = Lane.acknowledgementLanes.map {
                (self.names.stream(of: $0), self.names.subject(of: $0), nil)
            }
            if try self.hasStream() {
                streams.append((self.stream, self.names.forgotten.all, self.names.forgotten.standIns))
            }
            var count = 0
            for (stream, subject, filter) in streams {
                let last = try self.answered { () throws(NATSError) in
                    try self.connection.facts(of: stream, subject: subject).lastSequence
                }
                // Not the first message, which is no record.
                try self.forEachMessage(of: stream, from: 2, through: last, on: filter) { message throws(NATSError) in
                    if try self.names(in: message, [order]) != nil { count += 1 }
                }
            }
            return count
        }
    }

    private func hasStream() throws(NATSError) -> Bool {
        do throws(NATSError) {
            _ = try self.answered { () throws(NATSError) in
                try self.connection.facts(of: self.stream, subject: self.names.forgotten.all)
            }
            return true
        } catch {
            guard case .noStream = error else { throw error }
            return false
        }
    }

    private func sweep(
        _ lane: Lane,
        _ orders: [ForgettingOrder],
        _ swept: inout Swept,
        _ progress: (UInt64, UInt64) -> Void
    ) throws(NATSError) {
        let stream = self.names.stream(of: lane)
        let last = try self.answered { () throws(NATSError) in
            try self.connection.facts(of: stream, subject: self.names.subject(of: lane)).lastSequence
        }
        swept.heads[lane] = LogTail.offset(of: last)
        // The first message is the record of the identity.
        try self.forEachMessage(of: stream, from: 2, through: last) { message throws(NATSError) in
            progress(LogTail.offset(of: message.sequence), LogTail.offset(of: last))
            guard try self.names(in: message, orders) != nil else { return }
            try self.answered { () throws(NATSError) in
                try self.storeStandIn(for: message, of: lane, orders)
                try self.connection.erase(message.sequence, of: stream)
            }
            swept.records += 1
        }
    }

    /// Stores the record that stands for one, unless that is there already.
    private func storeStandIn(
        for message: StreamMessage,
        of lane: Lane,
        _ orders: [ForgettingOrder]
    ) throws(NATSError) {
        let subject = self.names.forgotten.standIn(for: message.sequence, of: lane)
        while true {
            // Another session in it may have been forgotten before: then that record goes on.
            let standing = try self.connection.last(on: subject, of: self.stream)
            let base = standing ?? message
            guard let found = try self.names(in: base, orders) else { return }
            do throws(NATSError) {
                try self.store(found.group, in: base, on: subject, after: standing?.sequence ?? 0, found.number)
                return
            } catch {
                guard error.isAnotherSequence else { throw error }
            }
        }
    }

    private func store(
        _ group: AcknowledgementGroup,
        in base: StreamMessage,
        on subject: String,
        after last: UInt64,
        _ number: UInt64
    ) throws(NATSError) {
        var headers = [
            (StandInHeader.expectedLast, "\(last)"), (StandInHeader.order, "\(max(number, base.standIn ?? 0))"),
            (StandInHeader.time, base.time),
        ]
        if let append = base.append { headers.append((AppendHeader.name, append)) }
        _ = try self.connection.store(group.encoded(), headers: headers, on: subject, in: self.stream)
    }

    /// The group of a record with other names.
    ///
    /// - Returns: the group, and the newest order that it follows; `nil`: it names none of the sessions.
    private func names(
        in message: StreamMessage,
        _ orders: [ForgettingOrder]
    ) throws(NATSError) -> (group: AcknowledgementGroup, number: UInt64)? {
        guard !message.bytes.isEmpty else { return nil }
        do throws(WireError) {
            let group = try AcknowledgementGroup(decoding: message.bytes)
            let sessions = try group.sessions()
            let found = orders.filter { order in sessions.contains { order.names?.areOf($0) ?? false } }
            guard let number = found.map(\.number).max(),
                let result = try group.forgetting(found.compactMap(\.names))
            else { return nil }
            return (result, number)
        } catch {
            throw .unusable("a record cannot be read (message \(message.sequence)): \(error) Run cuecast verify.")
        }
    }

    /// Records that stand for others may name a session that is forgotten later, and an interrupted sweep may have left older ones.
    private func sweepStandIns(_ orders: [ForgettingOrder], _ swept: inout Swept) throws(NATSError) {
        let last = try self.answered { () throws(NATSError) in
            try self.connection.facts(of: self.stream, subject: self.names.forgotten.all).lastSequence
        }
        var newest: [String: UInt64] = [:]
        let subjects = self.names.forgotten.standIns
        try self.forEachMessage(of: self.stream, from: 1, through: last, on: subjects) { message throws(NATSError) in
            guard let subject = message.subject else { return }
            try self.answered { () throws(NATSError) in
                var base = message
                base.time = try self.connection.last(on: subject, of: self.stream)?.time ?? ""
                if let older = newest[subject] { try self.connection.erase(older, of: self.stream) }
                newest[subject] = message.sequence
                guard let found = try self.names(in: base, orders) else { return }
                do throws(NATSError) {
                    try self.store(found.group, in: base, on: subject, after: message.sequence, found.number)
                } catch {
                    // A newer one is there: it is looked at when reading comes by it.
                    guard error.isAnotherSequence else { throw error }
                }
                try self.connection.erase(message.sequence, of: self.stream)
                newest[subject] = nil
                swept.records += 1
            }
        }
    }

    /// Reads messages in order, also while the server that answers is behind.
    private func forEachMessage(
        of stream: String,
        from first: UInt64,
        through last: UInt64,
        on subject: String? = nil,
        _ body: (StreamMessage) throws(NATSError) -> Void
    ) throws(NATSError) {
        var next = first
        while next <= last {
            let messages = try self.answered { () throws(NATSError) in
                try self.connection.messages(
                    from: next,
                    of: stream,
                    messagesMax: Self.messagesPerQuestionMax,
                    bytesMax: Self.bytesPerQuestionMax,
                    on: subject
                )
            }
            for message in messages where message.sequence <= last { try body(message) }
            guard let end = messages.last?.sequence else {
                // No more: a server that is behind is asked for what the leader has.
                guard try self.hasMore(of: stream, from: next, through: last, on: subject) else { return }
                _ = DispatchSemaphore(value: 0)
                    .wait(timeout: .now() + .microseconds(Int(Self.tryAfter.inMicroseconds)))
                continue
            }
            next = end + 1
        }
    }

    /// Whether the leader has more messages than a server gave.
    private func hasMore(
        of stream: String,
        from next: UInt64,
        through last: UInt64,
        on subject: String?
    ) throws(NATSError) -> Bool {
        // Copies were current when this began (`serversAway`): with a subject there may simply be no more.
        guard subject == nil else { return false }
        let deleted = try self.answered { () throws(NATSError) in try self.connection.deletedSequences(of: stream) }
        return (next...last).contains { !deleted.contains($0) }
    }

    // MARK: - Waiting for servers

    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(NATSError) -> Value
    ) async throws(NATSError) -> Value {
        try await NATSCall.onThreadOfItsOwn { () throws(NATSError) in try body() }
    }

    /// Does something again while the servers do not answer.
    private func answered<Value>(_ body: () throws(NATSError) -> Value) throws(NATSError) -> Value {
        let begun = ContinuousClock.now
        while true {
            do throws(NATSError) {
                return try body()
            } catch {
                guard case .noAnswer = error, ContinuousClock.now - begun < Self.answersWithin else { throw error }
                _ = DispatchSemaphore(value: 0)
                    .wait(timeout: .now() + .microseconds(Int(Self.tryAfter.inMicroseconds)))
            }
        }
    }
}
#endif
