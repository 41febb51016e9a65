// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakDocuments
import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes
import HummingbirdCore

/// Messages of automation systems in their own forms; a mapping makes signals of them.
///
/// Nothing is remembered here: whether an ad of a source is on air, the gateway's log knows.
func automationOperations(_ parts: HTTPParts) -> [Operation] {
    let refusals: [ProblemCode] = [
        .reason(.wrongState), .reason(.breakOverlap), .reason(.conflict), .reason(.startInPast), .reason(.tooFarAhead),
        .reason(.draining),
    ]
    let details = """
        The mapping says which fields have the type, the id and the duration of the element. An ad begins a break, or goes on with it; \
        anything else ends it. Fields that the mapping does not name are passed over.
        """
    let answers = [
        OperationAnswer(
            "The meaning of the message.",
            OperationContent(HeardElementDocument.schema, example: HeardElementDocument.example)
        )
    ]
    return [
        Operation(
            .post,
            "/v1/streams/{stream}/signals/{mapping}",
            id: "signalByMapping",
            tag: "Signals",
            "Say which element an automation system begins to play, in its own form.",
            details: details,
            access: .publish,
            parameters: [.streamInPath, .mapping(example: .radiodj)],
            takesOtherParameters: true,
            body: OperationBody(
                contents: AutomationBodies.contents,
                isRequired: false,
                bytesMax: AutomationLimits.messageBytesMax
            ),
            answers: answers,
            refusals: refusals
        ) { call in try await parts.heard(call) }
        .traced(as: .broadcasters),
        Operation(
            .get,
            "/v1/streams/{stream}/signals/{mapping}",
            id: "signalByMappingInQuery",
            tag: "Signals",
            "Say the same in the query, for systems that only ask for an address.",
            details: details,
            access: .publish,
            // A message without fields is of an element without a type.
            parameters: [.streamInPath, .mapping(example: .liquidsoap)],
            takesOtherParameters: true,
            answers: answers,
            refusals: refusals
        ) { call in
            guard call.request.method != .head else { return .json(HeardElementDocument(isAd: false, .none, nil)) }
            return try await parts.heard(call)
        }
        .withEffect(),
    ]
}

extension HTTPParts {
    /// Makes a signal of a message, and answers with its result.
    fileprivate func heard(_ call: OperationCall) async throws -> HTTPAnswer {
        let stream = try call.stream()
        let principal = try call.broadcaster()
        // The desk is not asked about an element that means nothing; whose stream it is, no one else may learn.
        guard principal.mayPublish(on: stream) else {
            throw Problem(.reason(.notAllowed), principal.refusal(for: stream).sentence)
        }
        let mapping = try self.mapping(of: call)
        let body: [UInt8] = if call.operation.body != nil, call.hasBody { try await call.body() } else { [] }
        let message = AutomationMessage(
            query: Array(call.rawQuery.utf8),
            body: body,
            type: call.contentType,
            charset: call.charset
        )
        let element = try await call.onReaders {
            do throws(AutomationFault) {
                return try mapping.element(try message.fields(mapping))
            } catch {
                throw Problem(.reason(error.isTooLarge ? .tooLarge : .invalid), error.description)
            }
        }
        let name = try Problem.check { () throws(WireError) in
            SignalName(
                source: try SignalSource(mapping.source),
                event: try SignalEventID(AutomationMapping.eventID)
            )
        }
        let known = self.breaks.board().signalled(name, on: stream, at: call.received)
        let signal = AutomationSignal(
            element,
            running: known.flatMap { AutomationSignal.Running($0) },
            atMilliseconds: Int(call.received.microseconds / 1_000)
        )
        // Most elements are music, and end nothing. An event that is known, and over, is told to the gateway all the same: the board
        // here may be older than the log.
        if signal.kind == .in, known == nil {
            return .json(HeardElementDocument(isAd: false, .none, nil))
        }
        let request = BroadcastRequest.Signal(signal, element, name, on: stream, by: mapping)
        let asked = try await self.ask(call) { (.signal(request), []) }
        guard case .break(let info) = asked.reply.body else {
            preconditionFailure("a signal was answered with something else than a break")
        }
        return .json(HeardElementDocument(isAd: element.isAd, signal.kind == .out ? .out : .in, info))
    }

    private func mapping(of call: OperationCall) throws(Problem) -> AutomationMapping {
        let (name, mappings) = (call.path["mapping"] ?? "", self.breaks.mappings())
        guard let mapping = mappings.first(where: { $0.name == name }) else {
            let names = mappings.map(\.name).joined(separator: ", ")
            throw .notFound("There is no mapping of this name: known are \(names).")
        }
        return mapping
    }
}

/// A message as it came.
private struct AutomationMessage: Sendable {
    let query: [UInt8]
    let body: [UInt8]
    let type: String
    let charset: String?

    /// Its fields; of those that the body and the query have, those of the body count.
    func fields(_ mapping: AutomationMapping) throws(AutomationFault) -> AutomationFields {
        var fields = try self.bodyFields(mapping)
        try fields.add(try AutomationFields(form: self.query))
        return fields
    }

    private func bodyFields(_ mapping: AutomationMapping) throws(AutomationFault) -> AutomationFields {
        guard !self.body.isEmpty else { return AutomationFields() }
        switch self.type {
        case MediaType.json: return try AutomationFields(json: self.body)
        case MediaType.vast, MediaType.textVAST: return try AutomationFields(xml: self.body, charset: self.charset)
        case MediaType.text: return try AutomationFields(line: self.body, pattern: mapping.line)
        default: return try AutomationFields(form: self.body)
        }
    }
}

/// The forms of messages; the examples are of the mapping `radiodj`.
private enum AutomationBodies {
    static let contents = [
        OperationContent(
            MediaType.form,
            .inline(["type": "object", "additionalProperties": ["type": "string"]]),
            example: Self.fields
        ),
        OperationContent(.inline(["type": "object"]), example: Self.fields),
        OperationContent(MediaType.vast, Self.document, example: .string(Self.xml)),
        OperationContent(MediaType.textVAST, Self.document, example: .string(Self.xml)),
        OperationContent(
            MediaType.text,
            .inline(Schema.text("A line, as the pattern of the mapping has it; else as a form.")),
            example: "songtype=4&songid=12&songseconds=30"
        ),
    ]

    private static let document = NamedSchema.inline(Schema.text("An XML document without a document type."))
    private static let fields: JSONValue = ["songtype": "4", "songid": "12", "songseconds": "30"]
    private static let xml =
        "<RadioDJ><assetType>4</assetType><playoutId>12</playoutId><duration>30</duration></RadioDJ>"
}

extension AutomationSignal.Running {
    /// `nil`: it runs no more.
    fileprivate init?(_ known: SignalledBreak) {
        guard !known.isOver else { return nil }
        self.init(
            startMilliseconds: Int(known.start.microseconds / 1_000),
            endMilliseconds: known.end.map { Int($0.microseconds / 1_000) }
        )
    }
}

extension BroadcastRequest.Signal {
    /// The longest id of an element in the records, in characters.
    private static let idCharactersMax = 128

    /// A signal that follows from an element.
    ///
    /// For records it has what the mapping read of the message: a form of an automation system may have passwords in it.
    fileprivate init(
        _ signal: AutomationSignal,
        _ element: AutomationElement,
        _ name: SignalName,
        on stream: StreamID,
        by mapping: AutomationMapping
    ) {
        var read = "mapping=\(mapping.name) ad=\(element.isAd)"
        if let duration = element.durationMilliseconds { read += " durationMilliseconds=\(duration)" }
        if let start = element.startMilliseconds { read += " startMilliseconds=\(start)" }
        if let id = element.id { read += " id=\(id.prefix(Self.idCharactersMax))" }
        self.init(
            stream: stream,
            name: name,
            kind: signal.kind == .out ? .out : .in,
            start: signal.startMilliseconds.map { .at(Timestamp(microseconds: Int64($0) * 1_000)) },
            // The element began then, however long its message took, and whatever fraction of a second is not said.
            isProgrammeTime: signal.startMilliseconds != nil,
            duration: signal.durationMilliseconds.map { .milliseconds($0) },
            raw: Array(read.utf8.prefix(WireLimits.signalRawBytesMax))
        )
    }
}

extension OperationParameter {
    /// `{mapping}` in a path.
    fileprivate static func mapping(example: AutomationMapping) -> OperationParameter {
        OperationParameter(
            "mapping",
            in: .path,
            "The mapping.",
            Schema.signalSource.adding(["description": "The name of a mapping."]),
            example: .string(example.name)
        )
    }
}
