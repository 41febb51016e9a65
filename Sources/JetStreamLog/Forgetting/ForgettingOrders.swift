// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
package import GatewayCore
import Synchronization

/// The orders to forget sessions, as a gateway, or an operator, reads them in the log.
///
/// ```swift
/// let orders = ForgettingOrders(connection, names: names, of: identity.logID)
/// for order in try await orders.read().orders where order.number > followed { … }
/// ```
package final class ForgettingOrders: Sendable {
    /// All orders.
    package struct Known: Hashable, Sendable {
        /// Of the hashes; `nil`: no session was ever forgotten.
        package var key: ForgottenSessions.Key?
        fileprivate var byHash: [UInt64: ForgettingOrder] = [:]
        fileprivate var last: UInt64 = 0

        /// By their numbers.
        package var orders: [ForgettingOrder] { self.byHash.values.sorted { $0.number < $1.number } }
        /// Those whose names are still there.
        package var pending: [ForgettingOrder] { self.orders.filter { $0.names != nil } }
        package var newest: UInt64 { self.byHash.values.map(\.number).max() ?? 0 }

        package init() {}
    }

    private static let messagesPerQuestionMax = 512
    private static let bytesPerQuestionMax = 1_048_576
    /// How long a server may lack orders that its leader has (30 s).
    private static let answersWithin: Duration = .seconds(30)

    private let connection: NATSConnection
    private let names: LogNames
    private let logID: LogID
    private let known = Mutex(Known())

    package init(_ connection: NATSConnection, names: LogNames, of logID: LogID) {
        self.connection = connection
        self.names = names
        self.logID = logID
    }

    private var stream: String { self.names.forgottenStream }

    /// Reads what is new, and all that the leader has.
    ///
    /// - Returns: all orders.
    /// - Throws: where the servers do not answer, or have something else there.
    package func read() async throws(NATSError) -> Known {
        try await NATSCall.onThreadOfItsOwn { [self] () throws(NATSError) in try self.readHere() }
    }

    func readHere() throws(NATSError) -> Known {
        var known = self.known.withLock(\.self)
        let subjects: [String]
        do throws(NATSError) {
            subjects = try self.connection.subjects(of: self.stream, matching: self.names.forgotten.sessions)
        } catch {
            guard case .noStream = error else { throw error }
            return known
        }
        if known.key == nil {
            guard let bytes = try self.connection.message(1, of: self.stream),
                let head = ForgettingHead(bytes, of: self.logID)
            else { throw .unusable("the stream \(self.stream) does not begin with the id of the log") }
            known.key = head.key
        }
        let begun = ContinuousClock.now
        while true {
            try self.readOn(&known)
            // A server that answers may be behind its leader.
            if subjects.allSatisfy({ Self.hash(of: $0).map { known.byHash[$0] != nil } ?? true }) { break }
            guard ContinuousClock.now - begun < Self.answersWithin else {
                throw .noAnswer("\(self.stream): no server has all orders")
            }
            PatientCall.pause()
        }
        try self.readNames(&known)
        let result = known
        self.known.withLock { $0 = result }
        return result
    }

    private func readOn(_ known: inout Known) throws(NATSError) {
        while true {
            let messages = try self.connection.messages(
                from: known.last + 1,
                of: self.stream,
                messagesMax: Self.messagesPerQuestionMax,
                bytesMax: Self.bytesPerQuestionMax,
                on: self.names.forgotten.orders
            )
            guard let last = messages.last else { return }
            for message in messages {
                guard let subject = message.subject, let hash = Self.hash(of: subject) else { continue }
                if subject == self.names.forgotten.session(hash) {
                    guard let at = ForgettingOrder.instant(message.bytes) else { throw self.unreadable(message) }
                    known.byHash[hash] = ForgettingOrder(hash: hash, number: message.sequence, at: at)
                } else if subject == self.names.forgotten.erased(hash) {
                    guard let heads = ForgettingOrder.heads(message.bytes) else { throw self.unreadable(message) }
                    known.byHash[hash]?.erased = message.sequence
                    known.byHash[hash]?.heads = heads
                }
            }
            known.last = last.sequence
        }
    }

    /// Which sessions are still being forgotten, as the leader says.
    private func readNames(_ known: inout Known) throws(NATSError) {
        let subjects = try self.connection.subjects(of: self.stream, matching: self.names.forgotten.names)
        let there = Set(subjects.compactMap { Self.hash(of: $0) })
        for (hash, order) in known.byHash {
            guard there.contains(hash) else {
                known.byHash[hash]?.names = nil
                continue
            }
            guard order.names == nil,
                let found = try self.connection.last(on: self.names.forgotten.names(hash), of: self.stream)
            else { continue }
            guard let names = ForgettingNames(bytes: found.bytes) else { throw self.unreadable(found) }
            // Names that are newer than the order are of the next one.
            if found.sequence < order.number { known.byHash[hash]?.names = names }
        }
    }

    private func unreadable(_ message: StreamMessage) -> NATSError {
        .unusable("message \(message.sequence) of the stream \(self.stream) cannot be read: a later version wrote it")
    }

    static func hash(of subject: String) -> UInt64? {
        let digits = ForgottenSubjects.last(of: subject)
        return digits.utf8.count == 16 ? UInt64(digits, radix: 16) : nil
    }

    /// Tells how far the books of a gateway are.
    ///
    /// - Throws: where it has to be told again.
    package func tell(_ books: ForgettingBooks) async throws(NATSError) {
        try await NATSCall.onThreadOfItsOwn { [self] () throws(NATSError) in
            _ = try self.connection.store(books.bytes, on: self.names.forgotten.books(books.id), in: self.stream)
        }
    }

    /// How far the books of all gateways are that ever told it.
    package func books() async throws(NATSError) -> [ForgettingBooks] {
        try await NATSCall.onThreadOfItsOwn { [self] () throws(NATSError) in try self.booksHere() }
    }

    func booksHere() throws(NATSError) -> [ForgettingBooks] {
        var all: [ForgettingBooks] = []
        do throws(NATSError) {
            for subject in try self.connection.subjects(of: self.stream, matching: self.names.forgotten.books) {
                guard let found = try self.connection.last(on: subject, of: self.stream) else { continue }
                let id = String(ForgottenSubjects.last(of: subject))
                all.append(ForgettingBooks(id: id, found.bytes) ?? ForgettingBooks(id: id))
            }
        } catch {
            guard case .noStream = error else { throw error }
        }
        return all.sorted { $0.id < $1.id }
    }
}
#endif
