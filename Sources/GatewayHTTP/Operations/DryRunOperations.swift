// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import BreakPlanning
import CuecastWire
import GatewayCore
import GatewayDocuments
import HTTPTypes

/// The operation that shows what a break would have, without publishing it.
///
/// The rules are those of `cuecast dry-run --choose`, in `BreakPlanning`. Ad servers are not asked: the gateway never does that.
func dryRunOperations(_ parts: HTTPParts, _ desk: PlanningDesk) -> [Operation] {
    [
        Operation(
            .post,
            "/v1/streams/{stream}/dry-run",
            id: "dryRun",
            tag: "Planning",
            "Show which ads a break would have, and why each candidate was taken or left.",
            details: """
                The body is the file of `cuecast publish --choose`. Nothing is published, and nothing is counted. Rules about the time between breaks \
                look at the stream's books. Ad servers are not asked: `cuecast dry-run` does that.
                """,
            access: .publish,
            parameters: [
                .streamInPath,
                OperationParameter(
                    "break",
                    in: .query,
                    "The break's id: stream and id are the seed of the draw.",
                    Schema.breakID,
                    example: "noon-1",
                    isRequired: true
                ),
                OperationParameter(
                    "at",
                    in: .query,
                    "When the break starts; now, unless told.",
                    Schema.instant(),
                    example: "2026-05-01T12:00:00Z"
                ),
                .duration("in", "How long after the request the break starts; not together with `at`.", "10m"),
                .duration(
                    "duration",
                    "The most that the break lasts; without it as long as its ads. Without `fill` and `fillExactly` it is filled.",
                    "90s",
                    isAlternative: false
                ),
                .duration("fill", "The most that the ads last together.", "80s", isAlternative: false),
                .duration("fillAtLeast", "The least that the ads last together.", "30s", isAlternative: false),
                .duration("fillExactly", "How long the ads last together, to the millisecond.", "60s"),
                OperationParameter(
                    "history",
                    in: .query,
                    "`none`: as if no other break had ads.",
                    Schema.oneOf(["none"]),
                    example: "none",
                    isAlternative: true
                ),
            ],
            body: OperationBody(
                contents: [OperationContent(CandidateShapes.document.schema, example: DryRunBodies.candidates)],
                isRequired: true,
                bytesMax: CandidatesDocument.bytesMax
            ),
            answers: [
                OperationAnswer(
                    "The ads of each variant; a variant without ads would have nothing to play.",
                    OperationContent(DryRunDocument.schema, example: DryRunDocument.example)
                )
            ]
        ) { call in
            let stream = try call.stream()
            let principal = try call.broadcaster()
            guard principal.mayPublish(on: stream) else {
                throw Problem(.reason(.notAllowed), principal.refusal(for: stream).sentence)
            }
            let asked = try AskedDryRun(call, on: stream)
            let body = try await call.body()
            let place = try desk.take()
            defer { withExtendedLifetime(place) {} }
            return .json(try await parts.dryRun(asked, body, call, desk))
        }
        .withoutEffect()
    ]
}

/// The parameters of a dry run.
private struct AskedDryRun: Sendable {
    let stream: StreamID
    let breakID: BreakID
    /// When the break starts, in milliseconds since 1970.
    let milliseconds: Int64
    let duration: Duration?
    let filling: WantedFilling
    /// Whether other breaks keep ads away.
    let looksAtHistory: Bool

    init(_ call: OperationCall, on stream: StreamID) throws(Problem) {
        let query = call.query
        guard let breakID = try query.breakID() else { throw .badRequest("The parameter break is missing.") }
        self.stream = stream
        self.breakID = breakID
        let lead = try query.duration("in")
        if let at = try query.instant("at") {
            guard lead == nil else { throw .badRequest("Give one of at and in.") }
            self.milliseconds = at.microseconds / 1_000
        } else {
            self.milliseconds = (call.received.microseconds + (lead ?? .zero).inMicroseconds) / 1_000
        }
        self.duration = try query.duration("duration")
        var filling = WantedFilling(
            most: try query.duration("fill"),
            exactly: try query.duration("fillExactly"),
            least: try query.duration("fillAtLeast")
        )
        let names = WantedFilling.Names(most: "fill", exactly: "fillExactly", least: "fillAtLeast")
        if let fault = filling.fault(names) { throw .badRequest(fault) }
        if filling.most == nil, filling.exactly == nil {
            guard self.duration != nil else { throw .badRequest("Give fill, fillExactly or duration.") }
            filling.most = self.duration
            let names = WantedFilling.Names(most: "duration", exactly: "fillExactly", least: "fillAtLeast")
            if let fault = filling.fault(names) { throw .badRequest(fault) }
        }
        self.filling = filling
        switch query["history"] {
        case nil: self.looksAtHistory = true
        case "none": self.looksAtHistory = false
        case .some: throw .badRequest("The parameter history must be none, or is left out.")
        }
    }
}

extension HTTPParts {
    fileprivate func dryRun(
        _ asked: AskedDryRun,
        _ body: [UInt8],
        _ call: OperationCall,
        _ desk: PlanningDesk
    ) async throws -> DryRunDocument {
        let chooser = try await desk.compute {
            let document = try Problem.reading { () throws(DocumentFault) in try CandidatesDocument.read(body) }
            do throws(ZoneFault) {
                return try CandidateChooser(zoned: document)
            } catch {
                throw Problem.badRequest("\(error).")
            }
        }
        guard let rules = asked.filling.rules(chooser, duration: asked.duration) else {
            preconditionFailure("a filling without a duration")
        }
        let question = ChoosingQuestion(
            seed: "\(asked.stream)/\(asked.breakID)",
            milliseconds: asked.milliseconds,
            rules: rules,
            history: try await self.history(for: asked, gap: chooser.gapMilliseconds, call)
        )
        var choices: [VariantChoice] = []
        var spent = Duration.zero
        for index in chooser.variantNames.indices {
            guard index == 0 || spent < desk.timeMax else { throw desk.tooLong() }
            let (choice, time) = try await desk.compute {
                let began = ContinuousClock.now
                let choice = chooser.choice(ofVariant: index, for: question)
                return (choice, ContinuousClock.now - began)
            }
            spent += time
            choices.append(choice)
        }
        // A break without a duration lasts as long as the longest list of its ads.
        let longest = choices.map(\.choice.durationMilliseconds).max() ?? 0
        let duration = asked.duration ?? .milliseconds(longest)
        return try await desk.compute { [choices] in
            DryRunDocument(
                stream: asked.stream.description,
                break: asked.breakID.description,
                start: Timestamp.text(ofMilliseconds: asked.milliseconds),
                durationSeconds: duration.inSeconds,
                variants: choices.map { DryRunDocument.Variant($0, breakDuration: duration) }
            )
        }
    }

    /// The ads of other breaks of the stream, by its books.
    private func history(
        for asked: AskedDryRun,
        gap: Int,
        _ call: OperationCall
    ) async throws -> PlayedHistory {
        guard asked.looksAtHistory, gap > 0 else { return PlayedHistory() }
        let (first, last) = (asked.milliseconds - Int64(gap), asked.milliseconds + Int64(gap))
        let result = try await PlayedHistory.upToDate { (key) async throws -> HistoryPage in
            let query = ReportQuery(
                stream: asked.stream,
                from: Timestamp(microseconds: first * 1_000),
                to: Timestamp(microseconds: (last + 1) * 1_000),
                before: key.map { BreakNumber(rawValue: $0) },
                limit: PlayedHistory.pageMax,
                now: call.received
            )
            return try await call.onReaders { HistoryPage(try await self.report(query)) }
        } pause: { () async throws in
            try await Task.sleep(for: PlayedHistory.attemptEvery)
        }
        switch result {
        case .success(let history):
            // By its own id, and by the one that a signal gave it.
            let own = self.ownKey(of: BreakKey(stream: asked.stream, id: asked.breakID)).id
            return history.without([asked.breakID.description, own.description])
        case .failure(let fault):
            throw Problem(
                .reason(fault == .tooMany ? .tooLarge : .unavailable),
                "The ads of other breaks are not known: \(fault.sentence)."
            )
        }
    }
}

private enum DryRunBodies {
    static let candidates: JSONValue = [
        "rules": ["apart": ["ad": "30m"]],
        "candidates": [
            ["ad": BreakBodies.adExample, "priority": 1, "categories": ["IAB22"]],
            [
                "ad": ["id": "house", "duration": "20s", "media": [["url": "https://cdn.example.com/house.mp3"]]],
                "priority": 9, "weight": 2,
            ],
        ],
    ]
}

extension OperationParameter {
    /// A duration as text.
    fileprivate static func duration(
        _ name: String,
        _ description: String,
        _ example: JSONValue,
        isAlternative: Bool = true
    ) -> OperationParameter {
        OperationParameter(
            name,
            in: .query,
            description,
            RequestMember.optional(name, .duration()).parameter.schema,
            example: example,
            isAlternative: isAlternative
        )
    }
}
