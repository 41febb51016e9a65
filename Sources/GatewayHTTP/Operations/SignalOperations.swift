// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes

/// Signals: what encoders, playlists and automation systems say about the programme of a stream.
///
/// Nothing is decided here: each is the same request as by the broadcasters' socket, and goes the same way.
func signalOperations(_ parts: HTTPParts) -> [Operation] {
    [
        Operation(
            .get,
            "/v1/streams/{stream}/signals",
            id: "listSignals",
            tag: "Signals",
            "List the newest signals of a stream, what became of each and why, their sources, and the watchers of those.",
            details: """
                They are kept in memory since the gateway's start: the newest 32 of each stream; the same signal with the same result is \
                counted. The audit has every signal that a gateway was sent.
                """,
            access: .read,
            parameters: [.streamInPath],
            answers: [
                OperationAnswer(
                    "As it is now; empty where nothing was heard.",
                    OperationContent(SignalListDocument.schema, example: SignalListDocument.example)
                )
            ]
        ) { call in
            let stream = try call.stream()
            let kept = parts.breaks.signals(stream)
            let watchers = parts.breaks.watchers(stream)
            return .json(
                SignalListDocument(stream, kept, watchers, at: call.received) { SignalWords.sentence($0) }
            )
        },
        Operation(
            .post,
            "/v1/streams/{stream}/signals",
            id: "signal",
            tag: "Signals",
            "Say that a break begins or ends, or does not take place; the stream's cue policy makes a break of it.",
            details: """
                The same signal again changes nothing. Without `in`, `at` and `now` it is so when the gateway receives it: for `out` that is \
                the start of the break, for `in` its end.
                """,
            access: .publish,
            parameters: [.streamInPath],
            body: OperationBody(
                contents: [OperationContent(BreakShapes.signal.schema, example: signalExample)],
                isRequired: true,
                bytesMax: SignalDocument.bytesMax
            ),
            answers: [.oneBreak(.ok, "The break that the signal is about, as it stands now.")],
            refusals: [
                .reason(.wrongState), .reason(.breakOverlap), .reason(.conflict), .reason(.startInPast),
                .reason(.tooFarAhead), .reason(.draining),
            ]
        ) { call in
            let stream = try call.stream()
            let body = try await call.body()
            let asked = try await parts.ask(call) { () throws(DocumentFault) in
                (.signal(try SignalDocument.read(stream, body)), [])
            }
            guard case .break(let info) = asked.reply.body else {
                preconditionFailure("a signal was answered with something else than a break")
            }
            return .break(info)
        }
        .traced(as: .broadcasters),
        watchReportOperation(parts),
    ]
}

/// The report of a watcher, and the cue rule as its answer.
private func watchReportOperation(_ parts: HTTPParts) -> Operation {
    Operation(
        .post,
        "/v1/streams/{stream}/watchers",
        id: "reportWatcher",
        tag: "Signals",
        "Report what a watcher of a source saw, and get the cue rule of the stream.",
        details: """
            The newest report of each watcher is kept in memory. A watcher that is silent for three times `reportMilliseconds` is gone; one \
            that ends says so with `ends`.
            """,
        access: .publish,
        parameters: [.streamInPath],
        body: OperationBody(
            contents: [OperationContent(WatchReportDocument.shape.schema, example: watchReportExample)],
            isRequired: true,
            bytesMax: WatchReportDocument.bytesMax
        ),
        answers: [
            OperationAnswer(
                "The rule by which the watcher makes signals.",
                OperationContent(CueRuleDocument.schema, example: CueRuleDocument.example)
            )
        ],
        refusals: [.reason(.draining)]
    ) { call in
        let stream = try call.stream()
        let body = try await call.body()
        let asked = try await parts.ask(call) { () throws(DocumentFault) in
            (.watchReport(try WatchReportDocument.read(stream, body)), [])
        }
        guard case .cueRule(let rule) = asked.reply.body else {
            preconditionFailure("the report of a watcher was answered with something else than a rule")
        }
        return .json(CueRuleDocument(rule))
    }
}

private let watchReportExample: JSONValue = [
    "source": "encoder", "watcher": "studio-1", "kind": "hls", "address": "https://encoder.example/live.m3u8",
    "number": 7, "heardAge": "2s", "steady": true, "ignored": 1,
    "cues": [
        ["result": "ignored", "seen": "EXT-X-CUE-OUT-CONT on line 12", "reason": "a repeat of what was said before"]
    ],
]

private let signalExample: JSONValue = [
    "source": "studio", "event": "4711", "kind": "out", "in": "10s", "duration": "30s",
]
