// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Writes protobuf by hand (Protocol Buffers, "Encoding"): what our own types refuse to hold, and what later versions
/// may send.
struct ProtoWriter {
    var bytes: [UInt8] = []

    init(_ fill: (inout ProtoWriter) -> Void = { _ in }) { fill(&self) }

    mutating func varint(_ field: Int, _ value: UInt64) {
        self.raw(UInt64(field) << 3)
        self.raw(value)
    }

    mutating func fixed64(_ field: Int, _ value: UInt64) {
        self.raw(UInt64(field) << 3 | 1)
        for shift in stride(from: 0, to: 64, by: 8) {
            self.bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    mutating func bytes(_ field: Int, _ value: [UInt8]) {
        self.raw(UInt64(field) << 3 | 2)
        self.raw(UInt64(value.count))
        self.bytes += value
    }

    mutating func string(_ field: Int, _ value: String) { self.bytes(field, Array(value.utf8)) }

    mutating func message(_ field: Int, _ fill: (inout ProtoWriter) -> Void) {
        self.bytes(field, ProtoWriter(fill).bytes)
    }

    private mutating func raw(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(rest))
    }

    /// A field that no version of ours has, which brings `frame` to exactly this many bytes.
    static func padding(_ frame: [UInt8], to count: Int) -> [UInt8] {
        for length in stride(from: count - frame.count, through: 0, by: -1) {
            let field = ProtoWriter { $0.bytes(1_000, [UInt8](repeating: 7, count: length)) }.bytes
            if frame.count + field.count == count { return frame + field }
        }
        preconditionFailure("no padding brings \(frame.count) bytes to \(count)")
    }
}
