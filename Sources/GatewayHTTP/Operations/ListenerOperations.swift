// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes
import HummingbirdCore
import NIOCore
import SystemSupport

/// The operations for listeners without ZeroMQ: the same requests, decided by the same rules.
func listenerOperations(_ parts: HTTPParts) -> [Operation] {
    guard let listeners = parts.listeners else { return [] }
    return [
        listen(listeners), batch(listeners).traced(as: .listeners), acknowledge(listeners).traced(as: .listeners),
        leave(listeners), time(listeners),
    ]
}

// MARK: - Operations

private func listen(_ listeners: ListenerEntrance) -> Operation {
    Operation(
        .get,
        "/v1/streams/{stream}/listen",
        id: "listen",
        tag: "Listeners",
        "Hear the notices of a stream, as server-sent events, for as long as the connection lasts.",
        details: """
            The first event is `joined`: it has every notice that was missed since the position in `Last-Event-ID`, or the open breaks. Then come \
            `notice`, `head` (the position, when nothing else happens) and at last `end` with a reason. A stream that asks for a token gets it as \
            `Authorization: Bearer TOKEN`, which a page sends with fetch.
            """,
        access: .listener,
        parameters: [
            .streamInPath,
            OperationParameter(
                "session",
                in: .query,
                "Who listens: 32 hexadecimal digits, made at random once for one listener of one stream; absent: the gateway makes one, and the first event has it.",
                Schema.session,
                example: .string(Example.session)
            ),
            OperationParameter(
                "delayMs",
                in: .query,
                "How far behind live the stream is heard.",
                Schema.integer(0...Int(WireLimits.delayMillisecondsMax)),
                example: 0
            ),
            OperationParameter(
                "delayMaxMs",
                in: .query,
                "How far behind live it may fall.",
                Schema.integer(0...Int(WireLimits.delayMillisecondsMax)),
                example: 0
            ),
            OperationParameter(
                "lastEventId",
                in: .query,
                "As the header Last-Event-ID, which a page cannot set on its first connection. The header counts first.",
                Schema.text(charactersMax: ListenerLimits.eventIDCharactersMax),
                example: "18b6f3a2c4d5e6f7:12",
                isLenient: true
            ),
            OperationParameter(
                "Last-Event-ID",
                in: .header,
                "The id of the last event that was read: EPOCH:SEQUENCE, or that of the event `end`.",
                Schema.text(charactersMax: ListenerLimits.eventIDCharactersMax),
                example: "18b6f3a2c4d5e6f7:12"
            ),
        ],
        answers: [
            OperationAnswer(
                "Events, until one side ends the connection.",
                OperationContent(
                    MediaType.events,
                    .inline(Schema.text("Server-sent events.")),
                    example: .string("id: 18b6f3a2c4d5e6f7:12\nevent: notice\ndata: {…}\n\n")
                )
            ),
            OperationAnswer(
                .noContent,
                "The last event was an `end` after which to stop: the reader does not listen again. An EventSource stops by itself."
            ),
        ],
        refusals: ListenerCodes.joins
    ) { call in
        let session = try call.query["session"].map { text throws(Problem) in try SessionID(hexadecimal: text) }
        let stream = try call.stream()
        let lastEvent = call.header(.lastEventID) ?? call.query["lastEventId"]
        // An EventSource comes back after every end by itself. This answer stops it (HTML, "Server-sent events", section 9.2.1).
        if let lastEvent, ListenerEventText.isFinal(lastEvent) {
            return .nothing
        }
        // HEAD asks only whether there would be an answer: it begins nothing.
        guard call.request.method != .head else { return HTTPAnswer(type: MediaType.events, body: .bytes([])) }
        let join = ListenerRequest.Join(
            stream: stream,
            // An invalid position counts as none: the answer is a snapshot.
            last: lastEvent.flatMap { Position($0) },
            instance: 0,
            token: call.bearerToken,
            delay: try call.delay(),
            client: "http"
        )
        let events = try await ListenerEvents(
            joining: join,
            of: session ?? .random(),
            from: call.address,
            at: listeners
        )
        return HTTPAnswer(
            type: MediaType.events,
            body: .stream(.listeners) { try await events.write(to: $0) },
            // Proxies that gather answers would hold notices back.
            headers: [.accelBuffering: "no"]
        )
    }
}

private func batch(_ listeners: ListenerEntrance) -> Operation {
    Operation(
        .post,
        "/v1/streams/{stream}/breaks/{break}/batch",
        id: "getBatch",
        tag: "Listeners",
        "Get the ads of a break, in the order in which they play.",
        details: "Ask at a random instant of the notice's window, and again whenever it is needed: the same ads come.",
        access: .listener,
        parameters: [.streamInPath, .breakInPath],
        body: OperationBody(
            contents: [
                OperationContent(BatchRequestDocument.schema, example: ["session": .string(Example.session)])
            ],
            isRequired: true,
            bytesMax: ListenerLimits.requestBodyBytesMax
        ),
        answers: [
            OperationAnswer(
                "The ads.",
                OperationContent(BatchDocument.schema, example: JSONValue(encoding: Example.batch))
            )
        ],
        refusals: ListenerCodes.batches
    ) { call in
        let request = try await call.document(BatchRequestDocument.self)
        let delay = try Problem.check { () throws(WireError) in
            try ListenerDelay(now: request.delayMs ?? 0, max: request.delayMaxMs ?? 0)
        }
        let kind = ListenerRequest.Kind.getBatch(.init(key: try call.breakKey(), delay: delay))
        let reply = try await call.ask(kind, request, at: listeners)
        guard case .batch(let batch) = reply.body else { throw Problem.unexpected }
        return .json(BatchDocument(batch, at: reply.gatewayTime))
    }
}

private func acknowledge(_ listeners: ListenerEntrance) -> Operation {
    Operation(
        .post,
        "/v1/streams/{stream}/breaks/{break}/acknowledge",
        id: "acknowledge",
        tag: "Listeners",
        "Report outcomes of ads; answered only when they are recorded durably.",
        details: """
            Repeat it, as it was, until it is answered: it counts once. The same JSON is taken as `text/plain`, as `navigator.sendBeacon` sends a \
            string.
            """,
        access: .listener,
        parameters: [.streamInPath, .breakInPath],
        body: OperationBody(
            contents: [
                OperationContent(
                    AcknowledgeRequestDocument.schema,
                    example: [
                        "session": .string(Example.session), "delivery": "AAAA",
                        "outcomes": [
                            [
                                "advertisementId": "spring-sale-30", "kind": "played",
                                "occurredUs": 1_777_636_830_000_000,
                            ]
                        ],
                    ]
                )
            ],
            isRequired: true,
            bytesMax: ListenerLimits.requestBodyBytesMax,
            takesPlainText: true
        ),
        answers: [
            OperationAnswer(
                "It is recorded.",
                OperationContent(
                    AcknowledgedDocument.schema,
                    example: JSONValue(encoding: AcknowledgedDocument(gatewayUs: Example.time, recorded: 1))
                )
            )
        ],
        refusals: ListenerCodes.acknowledgements
    ) { call in
        let request = try await call.document(AcknowledgeRequestDocument.self)
        let kind = ListenerRequest.Kind.acknowledge(try request.acknowledge(try call.breakKey()))
        let reply = try await call.ask(kind, request, at: listeners)
        guard case .acknowledged(let recorded) = reply.body else { throw Problem.unexpected }
        return .json(AcknowledgedDocument(gatewayUs: reply.gatewayTime.microseconds, recorded: recorded))
    }
}

private func leave(_ listeners: ListenerEntrance) -> Operation {
    Operation(
        .post,
        "/v1/streams/{stream}/leave",
        id: "leave",
        tag: "Listeners",
        "Stop listening: the session is not counted any more, and its notices end.",
        details: "The same JSON is taken as `text/plain`, as `navigator.sendBeacon` sends a string.",
        access: .listener,
        parameters: [.streamInPath],
        body: OperationBody(
            contents: [
                OperationContent(LeaveRequestDocument.schema, example: ["session": .string(Example.session)])
            ],
            isRequired: true,
            bytesMax: ListenerLimits.requestBodyBytesMax,
            takesPlainText: true
        ),
        answers: [.gatewayTime("It has left.")],
        refusals: ListenerCodes.all
    ) { call in
        let request = try await call.document(LeaveRequestDocument.self)
        let reply = try await call.ask(.leave(try call.stream()), request, at: listeners)
        return .json(TimeDocument(gatewayUs: reply.gatewayTime.microseconds))
    }
}

private func time(_ listeners: ListenerEntrance) -> Operation {
    Operation(
        .get,
        "/v1/time",
        id: "getTime",
        tag: "Listeners",
        "Tell the gateway's clock, by which breaks start.",
        access: .listener,
        answers: [.gatewayTime("The clock.")],
        refusals: ListenerCodes.all
    ) { call in
        let reply = await listeners.ask(.getTime, of: .random(), from: call.address)
        if case .refused(let refusal) = reply.body { throw Problem(refusal) }
        return .json(TimeDocument(gatewayUs: reply.gatewayTime.microseconds))
    }
}

/// The bounds of what listeners send over HTTP.
enum ListenerLimits {
    /// The longest id of an event that a reader sends back, in characters: two numbers of 64 bits and what stands between them are 37.
    static let eventIDCharactersMax = 64
    /// The longest body of a request, in bytes: the most outcomes of one acknowledgement, written with spaces.
    static let requestBodyBytesMax = 65_536
}

/// The reason codes of listeners' requests.
enum ListenerCodes {
    static let all: [ProblemCode] = [.invalid, .notAllowed, .rateLimited, .limitReached, .draining, .unavailable]
        .map(ProblemCode.reason)
    static let joins: [ProblemCode] = all + [.reason(.tooLarge)]
    static let batches: [ProblemCode] =
        all + [.notFound, .tooLate, .breakTooOld, .tooLarge].map(ProblemCode.reason)
    static let acknowledgements: [ProblemCode] =
        all + [.notFound, .breakTooOld, .deliveryInvalid, .tooLarge].map(ProblemCode.reason)
}

// MARK: - What a call says

extension OperationCall {
    /// Where it comes from, as far as limits go.
    var address: PeerAddress {
        self.remoteAddress?.ipAddress.flatMap { IPAddress($0) }.map { PeerAddress($0) } ?? PeerAddress()
    }

    /// The token of a listener; empty: none.
    var bearerToken: String {
        let parts =
            self.request.headers[.authorization]?
            .split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true) ?? []
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : ""
    }

    /// How far behind live it is; what the operation does not take is 0.
    func delay() throws(Problem) -> ListenerDelay {
        var numbers: [UInt32] = []
        for name in ["delayMs", "delayMaxMs"] {
            let number = try self.query.number(name) ?? 0
            guard number <= UInt64(WireLimits.delayMillisecondsMax) else {
                throw .badRequest("The limit delayMillisecondsMax is \(WireLimits.delayMillisecondsMax).")
            }
            numbers.append(UInt32(number))
        }
        return ListenerDelay(now: .milliseconds(numbers[0]), max: .milliseconds(numbers[1]))
    }

    /// Reads the body.
    fileprivate func document<Document: ListenerRequestDocument>(_ type: Document.Type) async throws -> Document {
        let body = try await self.body()
        do {
            let document = try JSONDecoder().decode(type, from: Data(body))
            // If a member is there twice, the decoder takes one of them, which may be the wrong one.
            try BreakDocument.check(body)
            return document
        } catch let error as DecodingError {
            throw Problem.badRequest(error.sentence)
        } catch let error as DocumentFault {
            throw Problem.badRequest(error.description)
        }
    }

    /// Has it decided by the rules of every entrance.
    fileprivate func ask(
        _ kind: ListenerRequest.Kind,
        _ request: some ListenerRequestDocument,
        at listeners: ListenerEntrance
    ) async throws -> ListenerReply {
        let reply = await listeners.ask(
            kind,
            of: try request.sessionID(),
            ticket: try request.ticketBytes(),
            from: self.address
        )
        if case .refused(let refusal) = reply.body { throw Problem(refusal) }
        return reply
    }
}

extension ListenerDelay {
    fileprivate init(now: UInt32, max: UInt32) throws(WireError) {
        for each in [now, max] where each > WireLimits.delayMillisecondsMax {
            throw .tooLarge(
                limit: "delayMillisecondsMax",
                maximum: Int(WireLimits.delayMillisecondsMax),
                found: Int(each)
            )
        }
        self.init(now: .milliseconds(now), max: .milliseconds(max))
    }
}

extension Problem {
    /// An answer of another kind than the request asks for: no handler gives one.
    static let unexpected = Problem(.reason(.unavailable), "The gateway has no answer at present.")
}

extension DecodingError {
    /// One sentence that names the place; not a word of what was sent.
    fileprivate var sentence: String {
        func place(_ path: [any CodingKey]) -> String {
            path.reduce("") { text, key in
                key.intValue.map { "\(text)[\($0)]" } ?? (text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)")
            }
        }
        switch self {
        case .keyNotFound(let key, let context):
            return "The body has no \(place(context.codingPath + [key]))."
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            let where_ = place(context.codingPath)
            return where_.isEmpty ? "The body is no JSON object." : "In the body \(where_) is of the wrong type."
        case .dataCorrupted(let context):
            let where_ = place(context.codingPath)
            return where_.isEmpty
                ? "The body is not JSON, or has a number that is out of range."
                : "In the body \(where_) is not as it must be."
        @unknown default: return "The body is not the JSON that is asked for."
        }
    }
}

// MARK: - Descriptions

extension OperationAnswer {
    fileprivate static func gatewayTime(_ description: String) -> OperationAnswer {
        OperationAnswer(
            description,
            OperationContent(
                TimeDocument.schema,
                example: JSONValue(encoding: TimeDocument(gatewayUs: Example.time))
            )
        )
    }
}

/// The values in examples.
private enum Example {
    static let session = "00112233445566778899aabbccddeeff"
    static let time: Int64 = 1_777_636_830_000_000
    static let batch = BatchDocument(
        ListenerReply.Batch(
            delivery: [0, 0, 0],
            start: Timestamp(microseconds: 1_777_636_800_000_000),
            duration: .seconds(30),
            skipped: 0,
            endMode: .cut,
            exact: false,
            advertisements: []
        ),
        at: Timestamp(microseconds: time)
    )
}
