// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import Synchronization

/// Tickets by which a page hears events, because a browser sends no header with its EventSource.
///
/// Whoever may read gets one. It is good for one use within half a minute, so that an address in which it stood is worth nothing to
/// whoever finds it later.
package final class EventTickets: Sendable {
    /// A ticket.
    package struct Ticket: Hashable, Sendable {
        /// 128 random bits in hexadecimal.
        package let text: String
        /// By the gateway's clock.
        package let expires: Timestamp
    }

    private struct State {
        var expiries: [String: Timestamp] = [:]
    }

    /// How long a ticket is good.
    package static let ticketLifetime: Duration = .seconds(30)
    /// The most tickets that were given, and are neither used nor over.
    package static let ticketsMax = 256

    private let ticketsMax: Int
    private let state = Mutex(State())

    package init(ticketsMax: Int = EventTickets.ticketsMax) {
        self.ticketsMax = ticketsMax
    }

    /// Gives one.
    ///
    /// - Returns: `nil` where there are as many as there may be.
    package func make(at now: Timestamp) -> Ticket? {
        var generator = SystemRandomNumberGenerator()
        let text = (0..<4).map { _ in Self.hexadecimal(generator.next()) }.joined()
        let ticket = Ticket(text: text, expires: now + Self.ticketLifetime)
        let isGiven = self.state.withLock { state in
            if state.expiries.count >= self.ticketsMax { state.expiries = state.expiries.filter { now < $0.value } }
            guard state.expiries.count < self.ticketsMax else { return false }
            state.expiries[ticket.text] = ticket.expires
            return true
        }
        return isGiven ? ticket : nil
    }

    /// Uses one up.
    ///
    /// - Returns: whether it was good.
    package func take(_ text: String, at now: Timestamp) -> Bool {
        self.state.withLock { $0.expiries.removeValue(forKey: text) }.map { now < $0 } ?? false
    }

    private static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
