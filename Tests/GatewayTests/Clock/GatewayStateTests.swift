// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import GatewayCore
import TestSupport
import Testing

@testable import Gateway

@Suite(.suiteLimit)
struct GatewayStateTests {
    private func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cuecast-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try body(folder)
    }

    private func state() throws -> GatewayState {
        GatewayState(
            time: Timestamp(microseconds: 1_800_000_000_000_001),
            acceptedNewest: Timestamp(microseconds: -5),
            listeners: [try StreamID("radio1"): 17, try StreamID("a.B-c_9"): 0]
        )
    }

    @Test func `kept state comes back, readable by its owner only`() throws {
        try self.withFolder { folder in
            let file = GatewayStateFile(directory: folder)
            #expect(file.load() == nil)
            for state in [try self.state(), GatewayState(time: Timestamp(microseconds: 0))] {
                let kept = file.save(state)
                #expect(kept)
                #expect(file.load() == state)
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/gateway.state")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["gateway.state"])
        }
        let kept = GatewayStateFile(directory: "/nonexistent/cuecast").save(try self.state())
        #expect(!kept)
    }

    @Test func `the clock is kept alone where there is a file, and changes nothing else of it`() throws {
        try self.withFolder { folder in
            let file = GatewayStateFile(directory: folder)
            let time = Timestamp(microseconds: 1_900_000_000_000_000)
            #expect(!file.save(time: time))
            for begun in [Int64.min + 1, -1, 0, 1, .max] {
                var state = try self.state()
                state.time = Timestamp(microseconds: begun)
                #expect(file.save(state))
                #expect(file.load() == state)
                #expect(file.save(time: time))
                state.time = time
                #expect(file.load() == state)
            }
            try Data("cuecast".utf8).write(to: URL(fileURLWithPath: folder + "/gateway.state"))
            #expect(!file.save(time: time))
        }
    }

    @Test(arguments: ["", ".new"])
    func `a pipe of its name delays no start, and is replaced`(suffix: String) throws {
        try self.withFolder { folder in
            let file = GatewayStateFile(directory: folder)
            try #require(unsafe mkfifo(folder + "/gateway.state" + suffix, 0o600) == 0)
            #expect(file.load() == nil)
            #expect(!file.save(time: Timestamp(microseconds: 1)))
            // One with a reader accepts the bytes, and is no file either.
            let reader = unsafe open(folder + "/gateway.state" + suffix, O_RDONLY | O_NONBLOCK)
            #expect(!file.save(time: Timestamp(microseconds: 1)))
            close(reader)
            let state = try self.state()
            let kept = file.save(state)
            #expect(kept)
            #expect(file.load() == state)
        }
    }

    @Test func `half a file is no file`() throws {
        let text = GatewayStateFile.text(of: try self.state())
        #expect(GatewayStateFile.state(of: text) == (try self.state()))
        for length in 0..<text.utf8.count {
            #expect(GatewayStateFile.state(of: String(text.prefix(length))) == nil, "\(length)")
        }
    }

    @Test func `a damaged file is read or ignored, never a reason not to start, over 3000 mutations`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let good = Array(GatewayStateFile.text(of: try self.state()).utf8)
        try self.withFolder { folder in
            for _ in 0..<3_000 {
                var bytes = good
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
                }
                try Data(bytes).write(to: URL(fileURLWithPath: folder + "/gateway.state"))
                if let state = GatewayStateFile(directory: folder).load() {
                    let isBounded = state.listeners.values.allSatisfy {
                        (0...GatewayStateLimits.listenersMax).contains($0)
                    }
                    #expect(isBounded, "seed \(seed)")
                }
            }
        }
    }

    @Test func `a file of the limit is read, a larger one is not`() throws {
        let head = "cuecast gateway state 1\ntime 5\n"
        let tail = "\nend 3\n"
        let room = GatewayStateLimits.bytesMax - head.utf8.count - tail.utf8.count
        try self.withFolder { folder in
            for (bytes, isRead) in [(room, true), (room + 1, false)] {
                let text = head + String(repeating: "x", count: bytes) + tail
                try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/gateway.state"))
                #expect((GatewayStateFile(directory: folder).load() != nil) == isRead)
            }
        }
    }

    @Test func `as many streams as a board may have fit into it`() throws {
        try self.withFolder { folder in
            var state = GatewayState(time: Timestamp(microseconds: 5))
            for number in 0..<BoardLimits.streamsMax {
                let name = "\(number)-" + String(repeating: "s", count: WireLimits.streamIDBytesMax)
                state.listeners[try StreamID(String(name.prefix(WireLimits.streamIDBytesMax)))] = 1_000_000
            }
            let kept = GatewayStateFile(directory: folder).save(state)
            #expect(kept)
            #expect(GatewayStateFile(directory: folder).load() == state)
        }
    }
}
