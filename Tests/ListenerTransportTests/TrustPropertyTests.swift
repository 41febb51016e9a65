// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import Testing

@testable import CuecastNIO

@Suite(.suiteLimit)
struct TrustPropertyTests {
    @Test func `whatever a certificate is, reading its key ends`() throws {
        var random = SeededGenerator(for: "certificates")
        let good = try #require(try PEMCertificates.der(try TestAuthority().certificate).first)
        for _ in 0..<2_000 {
            var bytes = random.bool() ? good : random.list(0...300) { UInt8.random(in: .min ... .max, using: &$0) }
            for _ in 0..<random.number(0...6) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &random)] = random.pick([0, 0x30, 0x80, 0x84, 0xA0, 0xFF])
            }
            if let key = SubjectPublicKey.bytes(ofCertificate: bytes) { #expect(key.count <= bytes.count) }
        }
    }
}
