// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import AdFormats
package import CuecastWire

/// Reads a signal from JSON: the body of a request to the HTTP API.
///
/// The members are the options of `cuecast signal`, by the same names:
///
/// ```json
/// { "source": "studio", "event": "4711", "kind": "out", "in": "10s", "duration": "30s" }
/// ```
///
/// What is read here is not checked by all rules of the wire yet: `BroadcastRequest.checked()` does it.
package enum SignalDocument {
    /// The longest document, in bytes: a signal as its source wrote it fits, in base64.
    package static let bytesMax = 16_384

    /// A signal about the programme of a stream.
    ///
    /// Without one of `in`, `at` and `now` it is so when the gateway receives it.
    package static func read(
        _ stream: StreamID,
        _ document: [UInt8]
    ) throws(DocumentFault) -> BroadcastRequest.Signal {
        let root = try AdsDocument.root(document)
        let fields = try JSONFields(root, path: "", shape: BreakShapes.signal)
        let source = try Self.required(fields, "source") { (text) throws(WireError) in try SignalSource(text) }
        let event = try Self.required(fields, "event") { (text) throws(WireError) in try SignalEventID(text) }
        let moment = try BreakDocument.moment(fields)
        let duration = try fields.duration("duration")
        return BroadcastRequest.Signal(
            stream: stream,
            name: SignalName(source: source, event: event),
            kind: try Self.kind(fields),
            start: try BreakDocument.start(moment, line: root.line),
            isProgrammeTime: try fields.flag("programmeTime") ?? false,
            duration: try BreakDocument.whole(ofAny: duration, "duration", line: root.line),
            raw: try Self.raw(fields)
        )
    }

    private static func kind(_ fields: JSONFields) throws(DocumentFault) -> SignalKind {
        let text = try fields.required("kind", try fields.text("kind"))
        guard let kind = SignalKind.allCases.first(where: { $0.documentWord == text }) else {
            throw fields.fault("kind", "it must be \"out\", \"in\" or \"cancel\"")
        }
        return kind
    }

    private static func raw(_ fields: JSONFields) throws(DocumentFault) -> [UInt8] {
        guard let text = try fields.text("raw") else { return [] }
        guard let bytes = try? Base64Text.bytes(Array(text.utf8)) else {
            throw fields.fault("raw", "it must be base64")
        }
        return bytes
    }

    /// A member that has a rule of the wire.
    private static func required<Value>(
        _ fields: JSONFields,
        _ name: String,
        _ read: (String) throws(WireError) -> Value
    ) throws(DocumentFault) -> Value {
        let text = try fields.required(name, try fields.text(name))
        do throws(WireError) {
            return try read(text)
        } catch {
            guard case .invalid(_, let rule) = error else { throw fields.fault(name, error.description) }
            throw fields.fault(name, rule)
        }
    }
}
