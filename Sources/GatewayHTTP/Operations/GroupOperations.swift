// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import BreakPlanning
import CuecastWire
import GatewayCore
import GatewayDocuments
import HTTPTypes

/// One break on many streams.
///
/// A group is the id of its breaks, and nothing else holds it together. Each stream is asked as a broadcaster asks; the rule about
/// the start is that of `cuecast group`, in `BreakPlanning`.
func groupOperations(_ parts: HTTPParts) -> [Operation] {
    [
        Operation(
            .put,
            "/v1/groups/{break}",
            id: "publishGroup",
            tag: "Groups",
            "Publish a break on many streams.",
            details: """
                Each stream gets the whole break, or none of it; the streams do not depend on each other. The same request again publishes the break \
                where it is missing, and changes nothing where it is: a start that is relative counts once, and streams that have the break say when \
                that was. Without a start the group starts 2 s after the gateway received the request. If the token is good for none of the \
                streams, the request is refused.
                """,
            access: .publish,
            parameters: [.breakInPath],
            body: OperationBody(
                contents: [OperationContent(GroupShapes.publication.schema, example: GroupBodies.publication)],
                isRequired: true,
                bytesMax: CandidatesDocument.bytesMax
            ),
            answers: [
                OperationAnswer(
                    "What became of each stream; `failed` says on how many the request failed.",
                    OperationContent(GroupResultDocument.schema, example: GroupResultDocument.example)
                )
            ],
            refusals: [.reason(.conflict), .reason(.startInPast)]
        ) { call in
            let id = try call.breakID()
            let body = try await call.body()
            return .json(try await parts.publishGroup(id, body, call))
        },
        Operation(
            .get,
            "/v1/groups/{break}",
            id: "getGroup",
            tag: "Groups",
            "Show a break on all its streams.",
            access: .read,
            parameters: [
                .breakInPath,
                OperationParameter(
                    "streams",
                    in: .query,
                    "Only these streams, with commas between them; those that lack the break are told.",
                    ["type": "string", "pattern": "^[A-Za-z0-9._,-]+$"],
                    example: "radio1,radio2"
                ),
            ],
            answers: [
                OperationAnswer(
                    "The breaks of this id, by stream; there may be none.",
                    OperationContent(GroupStateDocument.schema, example: GroupStateDocument.example)
                )
            ],
            refusals: [.reason(.tooLarge)]
        ) { call in
            let id = try call.breakID()
            var wanted: [StreamID]?
            if let text = call.query["streams"] {
                wanted = try text.split(separator: ",", omittingEmptySubsequences: false)
                    .map { name in try Problem.check { () throws(WireError) in try StreamID(String(name)) } }
            }
            return try await call.onReaders { [wanted] in .json(try parts.group(id, of: wanted, at: call.received)) }
        },
        Operation(
            .post,
            "/v1/groups/{break}/cancel",
            id: "cancelGroup",
            tag: "Groups",
            "Call a break off on many streams.",
            details: "The streams are named: others may have a break of the same id that is none of the group.",
            access: .publish,
            parameters: [.breakInPath],
            body: OperationBody(
                contents: [OperationContent(GroupShapes.cancellation.schema, example: GroupBodies.cancellation)],
                isRequired: true,
                bytesMax: CandidatesDocument.bytesMax
            ),
            answers: [
                OperationAnswer(
                    "What became of each stream; `failed` says on how many the request failed.",
                    OperationContent(GroupResultDocument.schema, example: GroupResultDocument.example)
                )
            ]
        ) { call in
            let id = try call.breakID()
            let body = try await call.body()
            let streams = try await call.onReaders {
                try Problem.reading { () throws(DocumentFault) in try GroupCancellation.read(body) }
            }
            let replies = try await parts.askEach(
                streams.map { .cancel(BreakKey(stream: $0, id: id)) },
                of: streams,
                call
            )
            return .json(
                GroupResultDocument(
                    group: id,
                    start: nil,
                    streams: zip(streams, replies).map { GroupResultDocument.Stream($0, $1, to: .cancelled) }
                )
            )
        },
    ]
}

extension HTTPParts {
    fileprivate func publishGroup(
        _ id: BreakID,
        _ body: [UInt8],
        _ call: OperationCall
    ) async throws -> GroupResultDocument {
        let principal = try call.broadcaster()
        let (group, time) = try await call.onReaders {
            let group = try Problem.reading { () throws(DocumentFault) in try GroupPublication.read(id, body) }
            return (group, try self.time(of: group, by: principal, at: call.received))
        }
        let streams = group.streams.map(\.publish.key.stream)
        let kinds = group.streams.map { each -> BroadcastRequest.Kind in
            var publish = each.publish
            if let time {
                let microseconds = time * 1_000 + each.offset.inMicroseconds / 1_000 * 1_000
                publish.start = .at(Timestamp(microseconds: microseconds))
            }
            return .publish(publish)
        }
        let replies = try await self.askEach(kinds, of: streams, call)
        return GroupResultDocument(
            group: id,
            start: time.map { Timestamp.text(ofMilliseconds: $0) },
            streams: zip(streams, replies)
                .map { GroupResultDocument.Stream($0, $1, to: $1.changed ? .published : .present) }
        )
    }

    /// When a group starts, in milliseconds since 1970; `nil`: it has no start.
    private func time(
        of group: GroupPublication,
        by principal: BroadcastPrincipal,
        at now: Timestamp
    ) throws(Problem) -> Int64? {
        let timing = GroupTiming(
            members: group.streams.map {
                GroupTiming.Member(
                    stream: $0.publish.key.stream.description,
                    offsetMilliseconds: $0.offset.inMicroseconds / 1_000
                )
            }
        )
        let start: GroupTiming.Start =
            switch group.start {
            case .at(let instant)?: .at(instant.microseconds / 1_000)
            case .after(let lead)?: .after(lead.inMicroseconds / 1_000)
            case .now?: .after(GroupTiming.nowLeadMilliseconds)
            case nil: .none
            }
        let board = self.breaks.board()
        let present = group.streams.compactMap { each -> (stream: String, startMilliseconds: Int64?)? in
            // The breaks of others say nothing to this principal.
            guard principal.mayPublish(on: each.publish.key.stream),
                let known = board.known(each.publish.key)?.info(at: now)
            else { return nil }
            return (each.publish.key.stream.description, known.start.map { $0.microseconds / 1_000 })
        }
        do throws(GroupTiming.Fault) {
            try timing.check(start)
            return try timing.time(of: start, present: present, now: now.microseconds / 1_000)
        } catch {
            let sentence = error.sentence(lead: "in", instant: "at")
            let code: StatusCode = if case .beforeNow = error { .startInPast } else { .conflict }
            throw Problem(.reason(code), ReferenceText.sentence(sentence))
        }
    }

    /// Asks the same of each stream, as a broadcaster does, some at a time.
    ///
    /// - Parameters:
    ///   - kinds: the question to each stream.
    ///   - streams: the streams.
    ///   - call: the request.
    /// - Returns: the replies, in the order of the streams.
    /// - Throws: a problem where the token is good for none of the streams.
    fileprivate func askEach(
        _ kinds: [BroadcastRequest.Kind],
        of streams: [StreamID],
        _ call: OperationCall
    ) async throws -> [BroadcastReply] {
        let principal = try call.broadcaster()
        guard streams.contains(where: { principal.mayPublish(on: $0) }) else {
            throw Problem(.reason(.notAllowed), principal.refusal(for: streams[0]).sentence)
        }
        let origin = HTTPRequestOrigin(address: call.peer, requestID: call.requestID)
        var replies: [BroadcastReply] = []
        for begin in stride(from: 0, to: kinds.count, by: GroupTiming.requestsMax) {
            let some = Array(kinds[begin..<min(begin + GroupTiming.requestsMax, kinds.count)])
            let requests = try await call.onReaders {
                some.map { CheckedBroadcastRequest(BroadcastRequest(id: UInt64.random(in: 1 ... .max), kind: $0)) }
            }
            let breaks = self.breaks
            replies += await withTaskGroup(of: (Int, BroadcastReply).self) { group in
                for (index, request) in requests.enumerated() {
                    group.addTask { (index, await breaks.broadcast(request, principal, origin)) }
                }
                var found: [Int: BroadcastReply] = [:]
                for await (index, reply) in group { found[index] = reply }
                return requests.indices.compactMap { found[$0] }
            }
        }
        return replies
    }

    /// A break on all its streams.
    fileprivate func group(
        _ id: BreakID,
        of wanted: [StreamID]?,
        at now: Timestamp
    ) throws(Problem) -> GroupStateDocument {
        let board = self.breaks.board()
        var found: [BreakListDocument.Break] = []
        var missing: [StreamID] = []
        for stream in wanted ?? board.sortedStreamIDs {
            guard let known = board.known(BreakKey(stream: stream, id: id)) else {
                if wanted != nil { missing.append(stream) }
                continue
            }
            guard found.count < GroupDocument.streamsMax else {
                throw Problem(
                    .reason(.tooLarge),
                    "The limit groupStreamsMax is \(GroupDocument.streamsMax), and more streams have the break \(id): name them with streams."
                )
            }
            found.append(BreakListDocument.Break(known.info(at: now)))
        }
        return GroupStateDocument(group: id, missing: missing, streams: found)
    }
}

extension GroupResultDocument.Stream {
    /// The result of a stream.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - reply: the answer of the gateway.
    ///   - result: the result where it did not refuse.
    fileprivate init(_ stream: StreamID, _ reply: BroadcastReply, to result: GroupResultDocument.Result) {
        switch reply.body {
        case .refused(let refusal): self.init(stream, refusal)
        case .break(let info):
            // A break that was cancelled before is there, and cannot be published again.
            guard result != .cancelled, [.cancelled, .expired].contains(info.state) else {
                self.init(result, info)
                return
            }
            self.init(stream, Refusal(.wrongState, "It is \(info.state.name) already."))
        default: preconditionFailure("a request about a break was answered with something else")
        }
    }
}

private enum GroupBodies {
    static let cancellation: JSONValue = ["streams": ["radio1", "radio2"]]
    static let publication: JSONValue = [
        "in": "10s", "ads": [BreakBodies.adExample],
        "streams": [["stream": "radio1"], ["stream": "radio2", "offset": "2s"]],
    ]
}
