// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayDocuments

// What listeners send as JSON, read and checked.

extension ListenerRequestDocument {
    func sessionID() throws(Problem) -> SessionID { try SessionID(hexadecimal: self.session) }

    func ticketBytes() throws(Problem) -> [UInt8] {
        guard let ticket else { return [] }
        guard let bytes = Data(base64Encoded: ticket) else { throw .badRequest("The ticket is not base64.") }
        return Array(bytes)
    }
}

extension AcknowledgeRequestDocument {
    /// The request as the rules see it.
    func acknowledge(_ key: BreakKey) throws(Problem) -> ListenerRequest.Acknowledge {
        guard let delivery = Data(base64Encoded: self.delivery) else {
            throw .badRequest("The delivery is not base64.")
        }
        var outcomes: [CuecastWire.Outcome] = []
        for outcome in self.outcomes { outcomes.append(try outcome.outcome()) }
        return ListenerRequest.Acknowledge(key: key, delivery: Array(delivery), outcomes: outcomes)
    }
}

extension AcknowledgeRequestDocument.Outcome {
    fileprivate func outcome() throws(Problem) -> CuecastWire.Outcome {
        guard let kind = CuecastWire.Outcome.Kind(word: self.kind) else {
            throw .badRequest("The kind of an outcome is one of \(CuecastWire.Outcome.Kind.words).")
        }
        guard let evidence = CuecastWire.Outcome.Evidence(word: self.evidence ?? "reported") else {
            throw .badRequest("The evidence of an outcome is one of \(CuecastWire.Outcome.Evidence.words).")
        }
        var reason: CuecastWire.Outcome.Reason?
        if let word = self.reason {
            reason = CuecastWire.Outcome.Reason(word: word)
            guard reason != nil else {
                throw .badRequest("The reason of an outcome is one of \(CuecastWire.Outcome.Reason.words).")
            }
        }
        return try Problem.check { () throws(WireError) in
            CuecastWire.Outcome(
                advertisementID: try AdvertisementID(self.advertisementId),
                kind: kind,
                evidence: evidence,
                reason: reason,
                heard: .milliseconds(self.heardMs ?? 0),
                quartiles: self.quartiles ?? 0,
                muted: self.muted ?? false,
                vastError: self.vastError ?? 0,
                occurred: Timestamp(microseconds: self.occurredUs),
                clicked: self.clicked ?? false
            )
        }
    }
}

extension SessionID {
    /// Reads 32 hexadecimal digits.
    init(hexadecimal text: String) throws(Problem) {
        let digits = Array(text.utf8)
        guard digits.count == 2 * WireLimits.sessionBytes,
            digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { throw .badRequest("A session is 32 hexadecimal digits, made at random.") }
        self.init(high: high, low: low)
    }
}

extension Position {
    /// Reads `EPOCH:SEQUENCE`, as events and breaks have it; `nil`: it is none.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.first != "+" }), let epoch = UInt64(parts[0], radix: 16),
            let sequence = UInt64(parts[1])
        else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }
}
