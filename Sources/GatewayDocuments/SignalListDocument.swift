// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
package import CuecastWire
package import GatewayCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The newest signals of a stream and their sources, as JSON: what `GET /v1/streams/{stream}/signals` answers.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct SignalListDocument: GatewayDocument {
    package struct Signal: GatewayDocument {
        package var source: String
        package var event: String?
        package var kind: String?
        package var result: String
        package var effect: String?
        package var code: String?
        package var reason: String?
        package var `break`: String?
        package var at: String?
        package var inMilliseconds: Int64?
        package var programmeTime: Bool?
        package var durationMilliseconds: Int64?
        package var decoded: String?
        package var raw: String?
        package var rawBytes: Int?
        package var first: String
        package var last: String
        package var times: Int

        package static let documentDescription = DocumentDescription(
            name: "SeenSignal",
            fields: [
                DocumentField("source", .text),
                .optional("event", .text, "Absent where no signal was made of what the source said."),
                .optional("kind", .oneOf(SignalKind.allCases.map(\.documentWord))),
                DocumentField(
                    "result",
                    .oneOf(SeenSignal.Result.allCases.map(\.rawValue)),
                    "`changed` a break; `unchanged` and `refused`: see `reason`; `ignored` and `unusable`: a watcher did not send it."
                ),
                .optional(
                    "effect",
                    .oneOf(SignalOutcome.Effect.allCases.map(\.rawValue)),
                    "What the gateway did: it `opened` a break, had one `followed` or `ended`, or its event was `takenBack`; `repeated`, `over` and `goneBefore` changed nothing."
                ),
                .optional("code", .text, "The reason code of a refusal."),
                .optional("reason", .text, "Why it changed nothing."),
                .optional("break", .breakID, "The break that it is about."),
                .optional(
                    "at",
                    .instant,
                    "When it is so; absent: when the gateway received it, or `inMilliseconds` later."
                ),
                .optional("inMilliseconds", .count, "How long after its receipt it is so."),
                .optional("programmeTime", .flag, "Whether `at` is a place in the programme."),
                .optional("durationMilliseconds", .count, "How long the break is to last by it."),
                .optional("decoded", .text, "What the source said, in a sentence."),
                .optional(
                    "raw",
                    .base64,
                    "As its source wrote it, at most the first \(SeenSignal.rawBytesMax) bytes."
                ),
                .optional("rawBytes", .count, "How many bytes the source wrote."),
                DocumentField("first", .instant, "When it was seen first."),
                DocumentField("last", .instant, "When it was seen last."),
                DocumentField("times", .count, "How often the same was seen, with the same result."),
            ]
        )
    }

    package struct Source: GatewayDocument {
        package var source: String
        package var changed: Int
        package var unchanged: Int
        package var refused: Int
        package var ignored: Int
        package var unusable: Int
        package var refusedInARow: Int
        package var lastRefusal: String?
        package var lastSignal: String?
        package var heard: String

        package static let documentDescription = DocumentDescription(
            name: "SignalSource",
            fields: [
                DocumentField("source", .text),
                DocumentField("changed", .count, "Signals that changed a break."),
                DocumentField("unchanged", .count, "Signals that changed nothing."),
                DocumentField("refused", .count, "Signals that the gateway refused."),
                DocumentField("ignored", .count, "Things that watchers saw and that mean nothing for breaks."),
                DocumentField("unusable", .count, "Things that watchers could not use, or could not bring here."),
                DocumentField(
                    "refusedInARow",
                    .count,
                    "How many were refused or unusable since the last that was taken."
                ),
                .optional("lastRefusal", .text, "Why the last of them was."),
                .optional("lastSignal", .instant, "When its last signal came."),
                DocumentField("heard", .instant, "When anything was heard of it."),
            ]
        )
    }

    /// A watcher by its newest report.
    package struct Watcher: GatewayDocument {
        package var watcher: String
        package var source: String
        package var kind: String
        package var address: String?
        package var state: String
        package var steady: Bool
        package var since: String
        package var reported: String
        package var heard: String?
        package var problem: String?
        package var problemAt: String?

        package static let documentDescription = DocumentDescription(
            name: "SignalWatcher",
            fields: [
                DocumentField("watcher", .text, "Its name, another one after each start."),
                DocumentField("source", .text),
                DocumentField("kind", .oneOf(WatcherKind.allCases.map(\.word)), "What it reads."),
                .optional("address", .text, "Where it reads."),
                DocumentField(
                    "state",
                    .oneOf(["present", "gone"]),
                    "`gone`: three reports in a row did not come. An hour later it is forgotten."
                ),
                DocumentField(
                    "steady",
                    .flag,
                    "Whether its source always sends something, so that silence is a fault."
                ),
                DocumentField("since", .instant, "When its first report came."),
                DocumentField("reported", .instant, "When its newest report came."),
                .optional("heard", .instant, "When the last playlist, packet or title came; absent: none did."),
                .optional("problem", .text, "Its last trouble."),
                .optional("problemAt", .instant, "When that was."),
            ]
        )
    }

    package var now: String
    package var stream: String
    package var sources: [Source]
    package var watchers: [Watcher]
    package var signals: [Signal]

    package static let documentDescription = DocumentDescription(
        name: "SignalList",
        fields: [
            DocumentField("now", .instant, "The gateway's clock."),
            DocumentField("stream", .stream),
            DocumentField("sources", .array(of: .document(Source.self)), "By name."),
            DocumentField("watchers", .array(of: .document(Watcher.self)), "By source and name."),
            DocumentField("signals", .array(of: .document(Signal.self)), "Those that were seen last come first."),
        ]
    )

    /// - Parameters:
    ///   - stream: the stream.
    ///   - kept: its signals and sources; `nil`: nothing.
    ///   - watchers: its watchers, in their order.
    ///   - now: the gateway's clock.
    ///   - decode: puts what a source wrote into a sentence; `nil`: it cannot.
    package init(
        _ stream: StreamID,
        _ kept: SignalBook.Stream?,
        _ watchers: [WatcherBook.Watcher] = [],
        at now: Timestamp,
        decode: ([UInt8]) -> String?
    ) {
        self.now = now.description
        self.stream = stream.description
        self.sources = (kept?.sources ?? [:]).sorted { $0.key < $1.key }.map { Source($0.key, $0.value) }
        self.watchers = watchers.map { Watcher($0, at: now) }
        self.signals = (kept?.signals ?? []).reversed().map { Signal($0, decode: decode) }
    }
}

extension SignalListDocument.Signal {
    fileprivate init(_ seen: SeenSignal, decode: ([UInt8]) -> String?) {
        self.source = seen.source.description
        self.event = seen.event?.description
        self.kind = seen.kind?.documentWord
        self.result = seen.result.rawValue
        self.effect = seen.effect?.rawValue
        self.code = seen.code.orNil
        self.reason = seen.reason.orNil
        self.break = seen.breakID?.description
        if case .at(let instant)? = seen.start { self.at = instant.description }
        if case .after(let lead)? = seen.start { self.inMilliseconds = lead.milliseconds }
        self.programmeTime = seen.isProgrammeTime ? true : nil
        self.durationMilliseconds = seen.duration?.milliseconds
        self.decoded = seen.text.orNil ?? decode(seen.raw)
        self.raw = seen.raw.isEmpty ? nil : Data(seen.raw).base64EncodedString()
        self.rawBytes = seen.rawBytes == 0 ? nil : seen.rawBytes
        self.first = seen.first.description
        self.last = seen.last.description
        self.times = seen.times
    }
}

extension SignalListDocument.Watcher {
    fileprivate init(_ kept: WatcherBook.Watcher, at now: Timestamp) {
        self.watcher = kept.name.description
        self.source = kept.source.description
        self.kind = kept.kind.word
        self.address = kept.address.orNil
        self.state = kept.isGone(at: now) ? "gone" : "present"
        self.steady = kept.isSteady
        self.since = kept.first.description
        self.reported = kept.reported.description
        self.heard = kept.heard?.description
        self.problem = kept.problem.orNil
        self.problemAt = kept.problemAt?.description
    }
}

extension SignalListDocument.Source {
    fileprivate init(_ source: SignalSource, _ kept: SourceBook) {
        self.source = source.description
        self.changed = kept.counts[.changed] ?? 0
        self.unchanged = kept.counts[.unchanged] ?? 0
        self.refused = kept.counts[.refused] ?? 0
        self.ignored = kept.counts[.ignored] ?? 0
        self.unusable = kept.counts[.unusable] ?? 0
        self.refusedInARow = kept.refusedInARow
        self.lastRefusal = kept.lastRefusal.orNil
        self.lastSignal = kept.lastSignal?.description
        self.heard = kept.heard.description
    }
}

extension SignalListDocument {
    package static let example: JSONValue = [
        "now": "2026-05-01T11:59:55.000000Z", "stream": "radio1",
        "sources": [
            [
                "source": "encoder", "changed": 1, "unchanged": 1, "refused": 0, "ignored": 0, "unusable": 0,
                "refusedInARow": 0, "lastSignal": "2026-05-01T11:59:54.000000Z", "heard": "2026-05-01T11:59:54.000000Z",
            ]
        ],
        "watchers": [
            [
                "watcher": "studio-1", "source": "encoder", "kind": "hls",
                "address": "https://encoder.example/live.m3u8",
                "state": "present", "steady": true, "since": "2026-05-01T11:00:00.000000Z",
                "reported": "2026-05-01T11:59:50.000000Z", "heard": "2026-05-01T11:59:48.000000Z",
            ]
        ],
        "signals": [
            [
                "source": "encoder", "event": "4711", "kind": "out", "result": "unchanged", "effect": "repeated",
                "reason": "Nothing changed: the break cue-7 has all that it says.", "break": "cue-7",
                "at": "2026-05-01T12:00:00.000000Z", "durationMilliseconds": 30_000,
                "first": "2026-05-01T11:59:54.000000Z", "last": "2026-05-01T11:59:54.000000Z", "times": 1,
            ],
            [
                "source": "encoder", "event": "4711", "kind": "out", "result": "changed", "effect": "opened",
                "break": "cue-7", "at": "2026-05-01T12:00:00.000000Z", "durationMilliseconds": 30_000,
                "first": "2026-05-01T11:59:52.000000Z", "last": "2026-05-01T11:59:52.000000Z", "times": 1,
            ],
        ],
    ]
}
