// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Reads the report of a watcher from JSON: the body of a request to the HTTP API.
///
/// ```json
/// { "source": "encoder", "watcher": "studio-1", "kind": "hls", "number": 7, "heardAge": "2s", "steady": true }
/// ```
///
/// What is read here is not checked by all rules of the wire yet: `BroadcastRequest.checked()` does it.
package enum WatchReportDocument {
    /// The longest document, in bytes: a report with all its sentences fits.
    package static let bytesMax = 32_768

    /// The words for what a watcher made of something.
    private enum Word {
        static let ignored = "ignored"
        static let unusable = "unusable"
    }

    package static let cue = RequestShape(
        "WatchedCue",
        "Something that a watcher saw, and made no signal of.",
        members: [
            .required(
                "result",
                .word([Word.ignored, Word.unusable]),
                "`ignored`: it means nothing for breaks; `unusable`: it should mean something, and could not be used."
            ),
            .optional("seen", Self.line, "What the source said."),
            .required("reason", Self.line, "Why no signal was sent."),
            .optional("times", .count, "How often it was seen; absent: once."),
        ]
    )

    package static let shape = RequestShape(
        "WatchReport",
        "What a watcher of a source saw since its last report.",
        members: [
            .required("source", .signalSource),
            .required("watcher", .signalSource, "The name of the watcher, another one after each start."),
            .required("kind", .word(WatcherKind.allCases.map(\.word)), "What it reads."),
            .optional("address", Self.line, "Where it reads, without a user, a password and a query."),
            .required("number", .count, "1 and above. The same number once more is the same report, and counts once."),
            .optional(
                "heardAge",
                .duration(),
                "How long ago the last playlist, packet or title came; absent: none came yet."
            ),
            .optional("steady", .flag, "The source always sends something: silence is a fault."),
            .optional("ignored", .count, "How many things it saw that mean nothing for breaks."),
            .optional("unusable", .count, "How many it could not use, or not bring to the gateway."),
            .optional(
                "cues",
                .list(of: .object(Self.cue), count: 0...WireLimits.watchedCuesPerReportMax),
                "Some of them."
            ),
            .optional("problem", Self.line, "Its last trouble, in a sentence."),
            .optional("problemAge", .duration(), "How long ago that was."),
            .optional("ends", .flag, "The watch ends as it should: the gateway forgets this watcher."),
        ]
    )

    private static let line = RequestKind.text(bytesMax: WireLimits.watchTextBytesMax)

    /// A report of a watcher of a stream.
    package static func read(
        _ stream: StreamID,
        _ document: [UInt8]
    ) throws(DocumentFault) -> BroadcastRequest.WatchReport {
        let root = try AdsDocument.root(document)
        let fields = try JSONFields(root, path: "", shape: Self.shape)
        var report = BroadcastRequest.WatchReport(
            stream: stream,
            source: try Self.name(fields, "source"),
            watcher: try Self.name(fields, "watcher"),
            kind: try Self.kind(fields),
            address: try fields.text("address") ?? "",
            number: UInt64(try fields.required("number", try fields.count("number")))
        )
        report.heardAge = try fields.duration("heardAge")
        report.isSteady = try fields.flag("steady") ?? false
        report.ignored = try fields.count("ignored") ?? 0
        report.unusable = try fields.count("unusable") ?? 0
        report.cues = try Self.cues(fields)
        report.problem = try fields.text("problem") ?? ""
        report.problemAge = try fields.duration("problemAge")
        report.isLast = try fields.flag("ends") ?? false
        return report
    }

    private static func cues(_ fields: JSONFields) throws(DocumentFault) -> [BroadcastRequest.WatchReport.Cue] {
        guard fields["cues"] != nil else { return [] }
        let nodes = try fields.elements("cues")
        let most = WireLimits.watchedCuesPerReportMax
        guard nodes.count <= most else {
            throw fields.fault("cues", "the limit watchedCuesPerReportMax is \(most), and this has \(nodes.count)")
        }
        var cues: [BroadcastRequest.WatchReport.Cue] = []
        for (index, node) in nodes.enumerated() {
            let each = try JSONFields(node, path: "cues[\(index)]", shape: Self.cue)
            let result = try each.required("result", try each.text("result"))
            guard [Word.ignored, Word.unusable].contains(result) else {
                throw each.fault("result", "it must be \"\(Word.ignored)\" or \"\(Word.unusable)\"")
            }
            cues.append(
                BroadcastRequest.WatchReport.Cue(
                    isUnusable: result == Word.unusable,
                    seen: try each.text("seen") ?? "",
                    reason: try each.required("reason", try each.text("reason")),
                    times: try each.count("times") ?? 1
                )
            )
        }
        return cues
    }

    private static func name(_ fields: JSONFields, _ field: String) throws(DocumentFault) -> SignalSource {
        let text = try fields.required(field, try fields.text(field))
        do throws(WireError) {
            return try SignalSource(text)
        } catch {
            guard case .invalid(_, let rule) = error else { throw fields.fault(field, error.description) }
            throw fields.fault(field, rule)
        }
    }

    private static func kind(_ fields: JSONFields) throws(DocumentFault) -> WatcherKind {
        let text = try fields.required("kind", try fields.text("kind"))
        guard let kind = WatcherKind.allCases.first(where: { $0.word == text }) else {
            let words = WatcherKind.allCases.map(\.word).joined(separator: ", ")
            throw fields.fault("kind", "it must be one of \(words)")
        }
        return kind
    }
}
