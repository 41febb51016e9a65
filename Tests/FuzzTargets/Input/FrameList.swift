// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import TestSupport
import ZMTP

/// The bytes of a peer, as its greeting and its frames: one can be changed, and the rest stays readable.
struct FrameList {
    private struct Frame {
        var flags: UInt8
        var body: [UInt8]
        /// Whether the length takes eight bytes.
        var isLong: Bool
        /// The error in the stated length.
        var lie: UInt64 = 0
    }

    private var greeting: [UInt8]
    private var frames: [Frame] = []
    /// The bytes that are no whole frame.
    private var rest: [UInt8]

    init(_ bytes: ArraySlice<UInt8>) {
        self.greeting = Array(bytes.prefix(64))
        var rest = bytes.dropFirst(64)
        while let flags = rest.first {
            let isLong = flags & 2 != 0
            let head = rest.dropFirst().prefix(isLong ? 8 : 1)
            guard head.count == (isLong ? 8 : 1) else { break }
            let length = head.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let behind = rest.dropFirst(1 + head.count)
            guard length <= UInt64(behind.count) else { break }
            self.frames.append(Frame(flags: flags, body: Array(behind.prefix(Int(length))), isLong: isLong))
            rest = behind.dropFirst(Int(length))
        }
        self.rest = Array(rest)
    }

    var bytes: [UInt8] {
        var written = self.greeting
        for frame in self.frames {
            let isLong = frame.isLong || frame.body.count > 255
            let length = UInt64(frame.body.count) &+ frame.lie
            written.append(isLong ? frame.flags | 2 : frame.flags & ~2)
            for shift in stride(from: isLong ? 56 : 0, through: 0, by: -8) {
                written.append(UInt8(truncatingIfNeeded: length >> UInt64(shift)))
            }
            written += frame.body
        }
        return written + self.rest
    }

    /// Changes one thing.
    mutating func change(_ generator: inout SeededGenerator) {
        guard !self.frames.isEmpty, Int.random(in: 0..<12, using: &generator) != 0 else {
            if generator.bool() {
                self.greeting = FieldTree.changed(self.greeting, &generator, keepsLength: generator.bool())
            } else {
                self.rest = FieldTree.changed(self.rest, &generator)
            }
            return
        }
        let at = Int.random(in: self.frames.indices, using: &generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: self.frames.remove(at: at)
        case 1: self.frames.insert(self.frames[at], at: at)
        case 2: self.frames.swapAt(at, Int.random(in: self.frames.indices, using: &generator))
        case 3: self.frames[at].flags ^= 1
        case 4: self.frames[at].flags = generator.pick([0, 1, 2, 4, 5, 6, 8, 0x80, 0xFF])
        case 5: self.frames[at].isLong.toggle()
        case 6: self.frames[at].lie = generator.pick([1, .max, 255, 4_096, 16_384, 1 << 40, 1 << 63])
        case 7:
            // As many as there may be of one message, or one more.
            let frame = Frame(flags: 1, body: [], isLong: false)
            self.frames.insert(contentsOf: Array(repeating: frame, count: generator.pick([2, 62, 63, 64])), at: at)
        case 8: self.frames[at].body = Self.anyBody(&generator)
        default: self.frames[at].body = FieldTree.changed(self.frames[at].body, &generator)
        }
    }

    private static func anyBody(_ generator: inout SeededGenerator) -> [UInt8] {
        let name = generator.pick(["READY", "ERROR", "PING", "PONG", "SUBSCRIBE", "CANCEL", "HELLO", ""])
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return []
        case 1: return [generator.pick([0, 1, 2])] + generator.bytes(0...70)
        case 2: return [UInt8](repeating: 1, count: generator.pick([4_095, 4_096, 4_097, 16_384, 16_385]))
        default: return [UInt8(name.utf8.count)] + Array(name.utf8) + generator.bytes(0...24)
        }
    }

    /// The first bytes of a peer of this type.
    static func opening(of type: SocketType, _ generator: inout SeededGenerator) -> [UInt8] {
        let session = Session(type, minor: generator.pick([0, 1]))
        return session.greeting + session.ready(identity: generator.bytes(0...4))
    }

    /// The first bytes of a peer of this type, and then frames, messages, subscriptions and PINGs.
    static func sample(of type: SocketType, _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = Self.opening(of: type, &generator)
        for _ in 0..<generator.number(0...8) {
            let body = generator.bytes(0...40)
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: Outgoing.appendPing(ttlTenths: 1, context: Array(body.prefix(16)), to: &bytes)
            case 1: Outgoing.appendPong(context: Array(body.prefix(16)), to: &bytes)
            case 2:
                Outgoing.appendSubscription(body, cancel: generator.bool(), asCommand: generator.bool(), to: &bytes)
            case 3: Outgoing.appendFrame(body, more: generator.bool(), to: &bytes)
            case 4:
                // What answers are told apart by, or something that is nearly that.
                Outgoing.appendFrame(generator.bytes(3...5), more: true, to: &bytes)
                Outgoing.appendRequest(body, to: &bytes)
            default: Outgoing.appendRequest(body, to: &bytes)
            }
        }
        return bytes
    }
}
