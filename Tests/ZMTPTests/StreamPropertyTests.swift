// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import Testing
import ZMTP

/// Streams of bytes as they come from a network: cut anywhere, damaged, or made of nothing.
@Suite(.suiteLimit)
struct StreamPropertyTests {
    /// A peer's stream of random messages and commands, and what is to be heard of it.
    private func stream(_ generator: inout SeededGenerator) -> (bytes: [UInt8], heard: [Heard]) {
        var bytes = opening(of: .router)
        var heard: [Heard] = [.greeted, .ready]
        for _ in 0..<Int.random(in: 0...30, using: &generator) {
            let count = [0, 1, 20, 255, 256, 3_000].randomElement(using: &generator) ?? 0
            let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            switch Int.random(in: 0...5, using: &generator) {
            case 0:
                let context = Array(body.prefix(ZMTPLimits.pingContextBytesMax))
                Outgoing.appendPing(ttlTenths: 1, context: context, to: &bytes)
                heard.append(.ping(context))
            case 1:
                Outgoing.appendRequest(body, to: &bytes)
                heard += [.frame([], more: true), .frame(body, more: false)]
            default:
                let more = Bool.random(using: &generator)
                Outgoing.appendFrame(body, more: more, to: &bytes)
                heard.append(.frame(body, more: more))
            }
        }
        return (bytes, heard)
    }

    @Test func `however a stream is cut, the same is heard`() {
        var generator = SeededGenerator(seed: 23)
        for _ in 0..<300 {
            let (bytes, expected) = self.stream(&generator)
            let partMax = [1, 2, 7, 64, 5_000].randomElement(using: &generator) ?? 1
            var session = Session(.dealer)
            var kept: [UInt8] = []
            var heard: [Heard] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...partMax, using: &generator)
                heard += session.hear(rest.prefix(count), kept: &kept)
                rest = rest.dropFirst(count)
            }
            #expect(heard == expected)
            #expect(kept.isEmpty)
        }
    }

    @Test func `no bytes at all make a session trap, and it asks for no more than it may`() {
        var generator = SeededGenerator(seed: 37)
        for round in 0..<3_000 {
            let type = SocketType.allCases.randomElement(using: &generator) ?? .sub
            var session = Session(type, frameBytesMax: 4_096)
            var bytes: [UInt8] = []
            // Some begin well, so that the later states see random bytes too.
            if round % 3 > 0 { bytes += session.greeting }
            if round % 3 > 1, let peer = SocketType.allCases.first(where: { type.accepts($0) }) {
                bytes += Session(peer).ready()
            }
            for _ in 0..<Int.random(in: 0...400, using: &generator) {
                // Small numbers make flags, lengths and names that go further.
                let small = Bool.random(using: &generator)
                bytes.append(UInt8.random(in: 0...(small ? 9 : 255), using: &generator))
            }
            var kept: [UInt8] = []
            _ = session.hear(bytes, kept: &kept)
            #expect(kept.count <= bytes.count)
        }
    }

    @Test func `damaged streams end in an error or go on, and never trap`() {
        var generator = SeededGenerator(seed: 41)
        var failures = 0
        for _ in 0..<1_000 {
            var (bytes, _) = self.stream(&generator)
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: 0..<min(bytes.count, 400), using: &generator)
                bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            }
            var session = Session(.dealer, frameBytesMax: 4_096)
            if case .failed? = session.hear(bytes).last { failures += 1 }
        }
        #expect(failures > 100, "the damage is seen")
    }
}
