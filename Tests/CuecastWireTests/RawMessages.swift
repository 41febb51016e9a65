// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Messages written by hand, field by field, as `proto/cuecast/v1` says.
enum Raw {
    static let session = [UInt8](repeating: 9, count: 16)

    static func text(_ count: Int) -> String { String(repeating: "t", count: count) }

    static func url(_ count: Int) -> String { "http://" + String(repeating: "u", count: count - 7) }

    /// A `Request` of this kind.
    static func request(
        kind: Int,
        session: [UInt8] = Raw.session,
        ticket: Int = 0,
        _ fill: (inout ProtoWriter) -> Void
    ) -> [UInt8] {
        let body = ProtoWriter(fill).bytes
        return ProtoWriter {
            $0.varint(1, 77)
            $0.bytes(2, session)
            if ticket > 0 { $0.bytes(3, [UInt8](repeating: 1, count: ticket)) }
            $0.bytes(kind, body)
        }
        .bytes
    }

    static func join(_ fill: (inout ProtoWriter) -> Void = { _ in }) -> [UInt8] {
        let more = ProtoWriter(fill).bytes
        return self.request(kind: 10) {
            $0.string(1, "radio1")
            $0.append(more)
        }
    }

    static func getBatch(_ fill: (inout ProtoWriter) -> Void = { _ in }) -> [UInt8] {
        let more = ProtoWriter(fill).bytes
        return self.request(kind: 11) {
            $0.string(1, "radio1")
            $0.string(2, "b1")
            $0.append(more)
        }
    }

    /// An `Outcome` that keeps the rules; a field set again in `fill` stands.
    static func outcome(_ id: String = "ad", _ fill: (inout ProtoWriter) -> Void = { _ in }) -> [UInt8] {
        let more = ProtoWriter(fill).bytes
        return ProtoWriter {
            $0.string(1, id)
            $0.varint(2, 1)
            $0.varint(3, 1)
            $0.append(more)
        }
        .bytes
    }

    static func acknowledge(outcomes: [[UInt8]], delivery: Int = 29) -> [UInt8] {
        self.request(kind: 12) {
            $0.string(1, "radio1")
            $0.string(2, "b1")
            $0.bytes(3, [UInt8](repeating: 1, count: delivery))
            for outcome in outcomes { $0.bytes(4, outcome) }
        }
    }

    /// An `Advertisement` that keeps the rules; a field set again in `fill` stands.
    static func advertisement(
        _ id: String = "ad",
        media: Int = 1,
        trackers: Int = 0,
        _ fill: (inout ProtoWriter) -> Void = { _ in }
    ) -> [UInt8] {
        let more = ProtoWriter(fill).bytes
        return ProtoWriter {
            $0.string(1, id)
            $0.varint(5, 1_000)
            for _ in 0..<media { $0.message(7) { $0.string(1, "http://h/a.mp3") } }
            for _ in 0..<trackers {
                $0.message(10) {
                    $0.string(1, "impression")
                    $0.string(2, "http://h/t")
                }
            }
            $0.append(more)
        }
        .bytes
    }

    /// A `BroadcastRequest` to publish; a field set again in `fill` stands.
    static func publish(
        advertisements: [[UInt8]] = [Raw.advertisement()],
        _ fill: (inout ProtoWriter) -> Void = { _ in }
    ) -> [UInt8] {
        let more = ProtoWriter(fill).bytes
        return ProtoWriter {
            $0.varint(1, 77)
            $0.message(10) {
                $0.string(1, "radio1")
                $0.string(2, "b1")
                for each in advertisements { $0.bytes(5, each) }
                $0.append(more)
            }
        }
        .bytes
    }

    /// A `BroadcastRequest` of another kind about the break `b1`.
    static func broadcast(kind: Int, _ fill: (inout ProtoWriter) -> Void = { _ in }) -> [UInt8] {
        let more = ProtoWriter(fill).bytes
        return ProtoWriter {
            $0.varint(1, 77)
            $0.message(kind) {
                $0.string(1, "radio1")
                $0.string(2, "b1")
                $0.append(more)
            }
        }
        .bytes
    }

    /// A `Notice`.
    static func notice(kind: UInt64 = 1, id: String = "b1") -> [UInt8] {
        ProtoWriter {
            $0.varint(2, kind)
            $0.string(3, id)
        }
        .bytes
    }

    /// A `Reply` or `BroadcastReply` that says OK.
    static func reply(_ fill: (inout ProtoWriter) -> Void) -> [UInt8] {
        let more = ProtoWriter(fill).bytes
        return ProtoWriter {
            $0.varint(2, 1)
            $0.append(more)
        }
        .bytes
    }

    /// A `Reply` with a `Joined`.
    static func joined(kind: UInt64 = 1, _ fill: (inout ProtoWriter) -> Void = { _ in }) -> [UInt8] {
        let more = ProtoWriter(fill).bytes
        return self.reply {
            $0.message(10) {
                $0.varint(1, kind)
                $0.append(more)
            }
        }
    }

    /// A `BreakInfo`.
    static func info(state: UInt64 = 1) -> [UInt8] {
        ProtoWriter {
            $0.string(1, "radio1")
            $0.string(2, "b1")
            $0.varint(3, state)
        }
        .bytes
    }
}

extension ProtoWriter {
    /// Fields that were written already.
    mutating func append(_ fields: [UInt8]) { self.bytes += fields }
}
