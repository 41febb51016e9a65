// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import GatewayCore
import Synchronization

/// Tickets with which a page reads events: a browser sends no header with its EventSource.
///
/// A caller with the right to read gets one. It is good for one use within half a minute, so that an address that contains it is
/// soon worthless.
package final class EventTickets: Sendable {
    /// A ticket.
    package struct Ticket: Hashable, Sendable {
        /// 128 random bits in hexadecimal.
        package let text: String
        /// By the gateway's clock.
        package let expires: Timestamp
    }

    /// The right that a ticket grants.
    package struct Right: Hashable, Sendable {
        /// The header of the request for the ticket, checked for as long as its events are read; `nil`: none was needed.
        package let authorization: String?
        let expires: Timestamp
    }

    private struct State {
        var rights: [String: Right] = [:]
    }

    /// How long a ticket is good.
    package static let ticketLifetime: Duration = .seconds(30)
    /// The most tickets that were given, and are neither used nor over.
    package static let ticketsMax = LimitName.httpEventTicketsMax.value

    private let ticketsMax: Int
    private let state = Mutex(State())

    package init(ticketsMax: Int = EventTickets.ticketsMax) {
        self.ticketsMax = ticketsMax
    }

    /// Gives one.
    ///
    /// - Parameters:
    ///   - authorization: the header by which it is asked for.
    ///   - now: the gateway's clock.
    /// - Returns: `nil` where there are as many as there may be.
    package func make(for authorization: String? = nil, at now: Timestamp) -> Ticket? {
        var generator = SystemRandomNumberGenerator()
        let text = (0..<4).map { _ in Self.hexadecimal(generator.next()) }.joined()
        let ticket = Ticket(text: text, expires: now + Self.ticketLifetime)
        let isGiven = self.state.withLock { state in
            if state.rights.count >= self.ticketsMax { state.rights = state.rights.filter { now < $0.value.expires } }
            guard state.rights.count < self.ticketsMax else { return false }
            state.rights[ticket.text] = Right(authorization: authorization, expires: ticket.expires)
            return true
        }
        return isGiven ? ticket : nil
    }

    /// Uses one up.
    ///
    /// - Returns: the reader's rights; `nil`: the ticket is not valid.
    package func take(_ text: String, at now: Timestamp) -> Right? {
        self.state.withLock { $0.rights.removeValue(forKey: text) }.flatMap { now < $0.expires ? $0 : nil }
    }

    private static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
