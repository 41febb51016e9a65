// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A message of the bus between gateways.
package struct BusMessage: Hashable, Sendable {
    package let subject: String
    package let bytes: [UInt8]

    package init(subject: String, bytes: [UInt8]) {
        self.subject = subject
        self.bytes = bytes
    }
}

/// A bus between the gateways of one log: small messages, of which any may be lost, late, doubled or out of order.
///
/// Nothing durable goes over it: what must not be lost is a record of the log.
package protocol GatewayBus: Sendable {
    /// Publishes a message to all who subscribe to its subject, also at this gateway.
    ///
    /// It returns when the message is handed over; one that cannot be is lost.
    ///
    /// - Parameters:
    ///   - bytes: at most `GatewayAnswer.answerBytesMax`.
    ///   - subject: words with dots between them; the bus puts its own prefix before it.
    func publish(_ bytes: [UInt8], on subject: String) async

    /// The messages that are published on a subject from now on.
    ///
    /// - Parameter subject: as `publish` has it.
    /// - Returns: the messages; it ends when the bus is closed. A reader that falls behind misses the oldest ones.
    func messages(on subject: String) async -> AsyncStream<BusMessage>

    /// Publishes nothing more, and ends all streams of messages.
    func close() async
}

/// The subjects on which gateways speak to each other.
package enum BusSubject {
    /// Each gateway's beats.
    package static let beats = "gateways.beats"
    /// Questions to all gateways.
    package static let questions = "gateways.questions"

    /// The answers to the questions of a gateway.
    ///
    /// - Parameter gateway: the run of the one that asks.
    /// - Returns: the subject.
    package static func answers(to gateway: UInt64) -> String { "gateways.answers.\(String(gateway, radix: 16))" }
}
