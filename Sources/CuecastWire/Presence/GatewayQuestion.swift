// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A question of a gateway to all others of its log, over the bus.
///
/// A question may be lost, as everything on the bus: it is repeated with the same number until all have answered, or for a while.
package struct GatewayQuestion: Hashable, Sendable {
    /// The largest question, in bytes.
    package static let questionBytesMax = 32_768
    /// The longest name of a kind, in bytes.
    package static let kindBytesMax = 32

    /// The run of the gateway that asks.
    package var gateway: UInt64
    /// Of the question.
    package var number: UInt64
    /// The kind of question.
    package var kind: String
    /// As the kind has it.
    package var body: [UInt8]

    package init(gateway: UInt64, number: UInt64, kind: String, body: [UInt8]) {
        (self.gateway, self.number, self.kind, self.body) = (gateway, number, kind, body)
    }

    /// Reads a question.
    ///
    /// - Parameter bytes: as the bus brought them.
    /// - Throws: the fault of the bytes; never traps.
    package init(decoding bytes: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_GatewayQuestion.self,
            from: bytes,
            atMost: Self.questionBytesMax,
            limit: "questionBytesMax",
            what: "a question of a gateway"
        )
        guard wire.gateway != 0, wire.number != 0 else {
            throw .invalid(field: "gateway", rule: "a question has a gateway and a number, neither of them 0")
        }
        try requireAtMost(Self.kindBytesMax, wire.kind.utf8.count, limit: "kindBytesMax")
        self.init(gateway: wire.gateway, number: wire.number, kind: wire.kind, body: Array(wire.body))
    }

    /// The question's bytes.
    package func encoded() -> [UInt8] {
        encode(
            Cuecast_V1_GatewayQuestion.with {
                $0.gateway = self.gateway
                $0.number = self.number
                $0.kind = self.kind
                $0.body = Data(self.body)
            }
        )
    }
}

/// The answer of a gateway to a question.
package struct GatewayAnswer: Hashable, Sendable {
    /// The largest answer, in bytes (1 MiB): servers of a shared log take messages of 4 MiB at least.
    package static let answerBytesMax = 1_048_576
    /// The longest refusal, in bytes.
    package static let refusalBytesMax = 512

    /// The content of an answer.
    package enum Content: Hashable, Sendable {
        /// As the kind of the question has it.
        case body([UInt8])
        /// Why there is none, in a sentence.
        case refusal(String)
    }

    /// The run of the gateway that answers.
    package var gateway: UInt64
    /// Of the question.
    package var number: UInt64
    package var content: Content

    package init(gateway: UInt64, number: UInt64, content: Content) {
        (self.gateway, self.number, self.content) = (gateway, number, content)
    }

    /// Reads an answer.
    ///
    /// - Parameter bytes: as the bus brought them.
    /// - Throws: the fault of the bytes; never traps.
    package init(decoding bytes: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_GatewayAnswer.self,
            from: bytes,
            atMost: Self.answerBytesMax,
            limit: "answerBytesMax",
            what: "an answer of a gateway"
        )
        guard wire.gateway != 0, wire.number != 0 else {
            throw .invalid(field: "gateway", rule: "an answer has a gateway and a number, neither of them 0")
        }
        try requireAtMost(Self.refusalBytesMax, wire.refusal.utf8.count, limit: "refusalBytesMax")
        self.init(
            gateway: wire.gateway,
            number: wire.number,
            content: wire.refusal.isEmpty ? .body(Array(wire.body)) : .refusal(wire.refusal)
        )
    }

    /// The answer's bytes; where a body is too large, those of a refusal that says so.
    package func encoded() -> [UInt8] {
        let bytes = self.wire(self.content)
        guard bytes.count > Self.answerBytesMax else { return bytes }
        return self.wire(.refusal("Its answer has more than \(Self.answerBytesMax) bytes: ask for less."))
    }

    private func wire(_ content: Content) -> [UInt8] {
        encode(
            Cuecast_V1_GatewayAnswer.with {
                $0.gateway = self.gateway
                $0.number = self.number
                switch content {
                case .body(let body): $0.body = Data(body)
                case .refusal(let sentence):
                    // One character takes four bytes at most.
                    $0.refusal = String(sentence.unicodeScalars.prefix(Self.refusalBytesMax / 4))
                }
            }
        )
    }
}
