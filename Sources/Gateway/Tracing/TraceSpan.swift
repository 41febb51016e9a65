// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Something that was done for a request that is traced, from its beginning to its end.
package struct TraceSpan: Hashable, Sendable {
    /// The kind of a span, with OTLP's numbers (`SpanKind`).
    package enum Kind: Int, Sendable {
        case `internal` = 1
        /// It answers a peer outside the gateway.
        case server = 2
        /// It tells something to those who listen.
        case producer = 4
    }

    /// A fact about it.
    package enum Value: Hashable, Sendable {
        case text(String)
        case number(Int)
    }

    package let name: String
    package let kind: Kind
    /// The trace, and its own id.
    package let context: TraceContext
    /// The span that it belongs to.
    package let parent: UInt64
    /// By the gateway's clock.
    package let start: Timestamp
    /// By the gateway's clock; not before its start.
    package let end: Timestamp
    /// By name; no name twice.
    package let attributes: [(name: String, value: Value)]
    /// Why it failed; `nil`: it did not.
    package let fault: String?

    package init(
        _ name: String,
        kind: Kind = .internal,
        _ context: TraceContext,
        parent: UInt64,
        from start: Timestamp,
        to end: Timestamp,
        attributes: [(name: String, value: Value)] = [],
        fault: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        self.start = start
        self.end = max(start, end)
        self.attributes = attributes
        self.fault = fault
    }

    package static func == (left: TraceSpan, right: TraceSpan) -> Bool {
        left.name == right.name && left.kind == right.kind && left.context == right.context
            && left.parent == right.parent && left.start == right.start && left.end == right.end
            && left.fault == right.fault
            && left.attributes.elementsEqual(right.attributes) { $0.name == $1.name && $0.value == $1.value }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.context)
        hasher.combine(self.name)
    }
}

/// Spans as OTLP writes them in JSON (OpenTelemetry, "OTLP/HTTP", "JSON Protobuf encoding"): ids in hexadecimal, enums as numbers,
/// and numbers of 64 bits as text.
package enum TraceDocument {
    /// One `ExportTraceServiceRequest`, as a line with its end.
    ///
    /// - Parameters:
    ///   - spans: at least one.
    ///   - instance: which run of the gateway this is.
    /// - Returns: the bytes.
    package static func line(_ spans: [TraceSpan], instance: UInt64) -> [UInt8] {
        var text = "{\"resourceSpans\":[{\"resource\":{\"attributes\":["
        text += Self.attribute("service.name", .text("cuecast"))
        text += "," + Self.attribute("service.instance.id", .text(TraceContext.hexadecimal(instance)))
        text += "]},\"scopeSpans\":[{\"scope\":{\"name\":\"cuecast\"},\"spans\":["
        text += spans.map(Self.span).joined(separator: ",")
        return Array((text + "]}]}]}\n").utf8)
    }

    private static func span(_ span: TraceSpan) -> String {
        var text = "{\"traceId\":\"\(span.context.traceID)\",\"spanId\":\"\(span.context.spanID)\""
        text += ",\"parentSpanId\":\"\(TraceContext.hexadecimal(span.parent))\""
        // The flags of the trace (sampled), whether it is known that the parent is of another service, and whether it is.
        text += ",\"flags\":\(span.kind == .server ? 0x301 : 0x101)"
        text += ",\"name\":\(Self.quoted(span.name)),\"kind\":\(span.kind.rawValue)"
        text += ",\"startTimeUnixNano\":\"\(Self.nanoseconds(span.start))\""
        text += ",\"endTimeUnixNano\":\"\(Self.nanoseconds(span.end))\""
        text += ",\"attributes\":["
        text += span.attributes.map { Self.attribute($0.name, $0.value) }.joined(separator: ",")
        text += "],\"status\":{"
        // STATUS_CODE_ERROR; one that is not set is absent.
        if let fault = span.fault { text += "\"code\":2,\"message\":\(Self.quoted(fault))" }
        return text + "}}"
    }

    /// Times of OTLP have no sign.
    private static func nanoseconds(_ time: Timestamp) -> UInt64 {
        UInt64(clamping: time.microseconds).multipliedReportingOverflow(by: 1_000).partialValue
    }

    private static func attribute(_ name: String, _ value: TraceSpan.Value) -> String {
        let written =
            switch value {
            case .text(let text): "{\"stringValue\":\(Self.quoted(text))}"
            case .number(let number): "{\"intValue\":\"\(number)\"}"
            }
        return "{\"key\":\(Self.quoted(name)),\"value\":\(written)}"
    }

    /// A text as JSON has it (RFC 8259 section 7).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
