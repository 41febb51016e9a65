// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Where something stands in a trace, as W3C Trace Context has it: the trace, and the span that is the parent of what follows.
///
/// Only what is sampled is written down so.
package struct TraceContext: Hashable, Sendable {
    /// How many bytes it is on the wire and in the event log: 16 of the trace id, then 8 of the span id.
    package static let byteCount = 24

    /// The first 8 bytes of the trace id.
    package let traceHigh: UInt64
    /// The last 8 bytes of the trace id.
    package let traceLow: UInt64
    /// The span id.
    package let span: UInt64

    /// It is `nil` where all bytes of an id are zero, which no id is (Trace Context, sections 3.2.2.3 and 3.2.2.4).
    package init?(traceHigh: UInt64, traceLow: UInt64, span: UInt64) {
        guard traceHigh | traceLow != 0, span != 0 else { return nil }
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.span = span
    }

    /// Reads it from the bytes that the wire and the log have.
    ///
    /// It is `nil` where there are none, or where they are no trace: that is passed over, and never a reason to refuse the rest.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var numbers: [UInt64] = [0, 0, 0]
        for (index, byte) in bytes.enumerated() { numbers[index / 8] = numbers[index / 8] << 8 | UInt64(byte) }
        self.init(traceHigh: numbers[0], traceLow: numbers[1], span: numbers[2])
    }

    /// As the wire and the log have it.
    package var bytes: [UInt8] {
        [self.traceHigh, self.traceLow, self.span]
            .flatMap { number in (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    }

    /// The trace id: 32 hexadecimal digits in lower case.
    package var traceID: String { Self.hexadecimal(self.traceHigh) + Self.hexadecimal(self.traceLow) }

    /// The span id: 16 hexadecimal digits in lower case.
    package var spanID: String { Self.hexadecimal(self.span) }

    /// As the headers `traceparent` and `traceresponse` have it, version 00, sampled.
    package var header: String { "00-\(self.traceID)-\(self.spanID)-01" }

    /// The same trace at another span.
    ///
    /// - Parameter span: not 0.
    /// - Returns: the trace with that span.
    package func at(_ span: UInt64) -> TraceContext {
        precondition(span != 0, "no span has this id")
        return TraceContext(self, span: span)
    }

    /// A new span of the same trace.
    package func newSpan() -> TraceContext { self.at(UInt64.random(in: 1 ... .max)) }

    private init(_ other: TraceContext, span: UInt64) {
        self.traceHigh = other.traceHigh
        self.traceLow = other.traceLow
        self.span = span
    }

    /// A number as 16 digits.
    package static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// The content of the header `traceparent`, read according to W3C Trace Context (https://www.w3.org/TR/trace-context/, section
/// 3.2).
package struct TraceParent: Hashable, Sendable {
    /// How long the header of version 00 is; as much of it is known of every later version, in bytes.
    package static let byteCount = 55

    /// The trace, and the span of the caller.
    package let context: TraceContext
    /// Whether the caller may have recorded it: the lowest bit of the flags; the other bits have no meaning here.
    package let isSampled: Bool

    /// Reads a header.
    ///
    /// Version 00 has nothing but its four fields. Of a later version those four are read, and what follows them begins with a dash.
    ///
    /// It is `nil` where the text is no such header: then the trace begins anew, which is no error.
    ///
    /// - Parameter text: the value of the one header that there is, without spaces around it.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8.prefix(Self.byteCount + 1))
        let dash = UInt8(ascii: "-")
        guard bytes.count >= Self.byteCount, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
            let version = Self.number(bytes[0..<2]), version != 0xFF,
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]),
            let span = Self.number(bytes[36..<52]), let flags = Self.number(bytes[53..<55]),
            let context = TraceContext(traceHigh: high, traceLow: low, span: span)
        else { return nil }
        if bytes.count > Self.byteCount {
            guard version > 0, bytes[Self.byteCount] == dash else { return nil }
        }
        self.context = context
        self.isSampled = flags & 1 == 1
    }

    /// At most 16 hexadecimal digits in lower case; `nil`: something else is among them.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}
