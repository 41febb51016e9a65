// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The ids that a ROUTER gives its peers cannot be guessed.
@Suite(.suiteLimit)
struct RouterIdentityTests {
    /// The first id that a ROUTER of this process gives, in hexadecimal.
    private static func firstID() throws -> String {
        let context = try Context()
        let router = try Socket(.router, in: context)
        let dealer = try Socket(.dealer, in: context)
        try dealer.connect(try router.bind("tcp://127.0.0.1:*"))
        guard try dealer.send([1]) == .sent, try router.waitUntilReadable(for: .seconds(60)) else { return "" }
        var frames = FrameBuffer(framesMax: 2)
        guard try router.receive(into: &frames) == .message else { return "" }
        return frames.bytes(at: 0).map { String($0, radix: 16) }.joined(separator: ".")
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `the first id differs from process to process`() async throws {
        var seen: Set<String> = []
        for _ in 0..<3 {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                print("first id", try Self.firstID(), separator: "=")
                fflush(nil)
            }
            let output = Self.text(try #require(result).standardOutputContent)
            let line = try #require(output.split(separator: "\n").last { $0.hasPrefix("first id=") })
            #expect(line.split(separator: ".").count == 5, "\(line)")
            seen.insert(String(line))
        }
        #expect(seen.count == 3)
        // What the C library's numbers begin with without a seed.
        #expect(!seen.contains("first id=0.6b.8b.45.67"))
    }
}
