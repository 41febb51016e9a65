// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

/// How long a test waits for something that must happen: what takes longer hangs.
let patience = Duration.seconds(1_800)

/// Any free port of this machine.
let anyPort = "tcp://127.0.0.1:*"

extension Socket {
    /// The next frame, waited for.
    borrowing func next() throws -> Message {
        try #require(try self.waitUntilReadable(for: patience), "nothing came")
        guard let message = try self.receive() else {
            Issue.record("readable, but nothing to receive")
            return Message()
        }
        return message
    }

    /// The frames of the next message, waited for.
    borrowing func nextFrames() throws -> [[UInt8]] {
        var frames = FrameBuffer(framesMax: 16)
        try #require(try self.waitUntilReadable(for: patience), "nothing came")
        try #require(try self.receive(into: &frames) == .message)
        return (0..<frames.count).map { frames.bytes(at: $0) }
    }

    /// Sends, and expects it to work.
    borrowing func mustSend(_ frames: [UInt8]...) throws {
        for (index, frame) in frames.enumerated() {
            #expect(try self.send(frame, more: index < frames.count - 1) == .sent)
        }
    }
}

extension Socket {
    /// Sends a greeting that names this mechanism, from a `stream` socket, as soon as it is connected.
    ///
    /// Two sockets of libzmq with different mechanisms both hang up, and who is first may have told the other nothing.
    borrowing func sendGreeting(mechanism: String) throws {
        let connection = try self.nextFrames()[0]
        let name = Array(mechanism.utf8)
        let greeting: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3, 0] + name
        try self.mustSend(connection, greeting + [UInt8](repeating: 0, count: 64 - greeting.count))
    }
}

extension [UInt8] {
    /// The bytes of a text.
    init(text: String) {
        self.init(text.utf8)
    }
}

extension RawSpan {
    /// A copy of the bytes.
    var copied: [UInt8] {
        unsafe self.withUnsafeBytes { unsafe Array($0) }
    }
}

extension [UInt8] {
    /// Lends the bytes.
    func lend<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try unsafe body(self.span.bytes)
    }
}
