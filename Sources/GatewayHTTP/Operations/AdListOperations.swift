// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes

/// The ad lists that fill breaks which signals open.
///
/// They are read by the same way as they are changed: a list may fill the breaks of any stream, and the rules for every entrance
/// decide who may see it.
func adListOperations(_ parts: HTTPParts) -> [Operation] {
    adListReads(parts) + adListChanges(parts).map { $0.traced(as: .broadcasters) }
}

private func adListReads(_ parts: HTTPParts) -> [Operation] {
    [
        Operation(
            .get,
            "/v1/lists",
            id: "listLists",
            tag: "Ad lists",
            "List the ad lists, in the order of their names.",
            access: .publishEverywhere,
            answers: [
                OperationAnswer(
                    "All of them.",
                    OperationContent(AdListsDocument.schema, example: AdListsDocument.example)
                )
            ],
            refusals: [.reason(.draining)]
        ) { call in
            guard case .adLists(let lists) = try await parts.ask(call, { (.lists(nil), []) }).reply.body else {
                preconditionFailure("a request for ad lists was answered with something else")
            }
            return .json(AdListsDocument(lists: lists.map { AdListDocument($0) }))
        },
        Operation(
            .get,
            "/v1/lists/{name}",
            id: "getList",
            tag: "Ad lists",
            "Show an ad list with its ads.",
            access: .publishEverywhere,
            parameters: [.adListInPath],
            answers: [.adList(.ok, "As it stands.", example: AdListDocument.exampleWithAds)],
            refusals: [.reason(.draining)]
        ) { call in
            let name = try call.adList()
            let asked = try await parts.ask(call) { (.lists(name), []) }
            return .adList(asked, hasAds: true)
        },
    ]
}

private func adListChanges(_ parts: HTTPParts) -> [Operation] {
    [
        Operation(
            .put,
            "/v1/lists/{name}",
            id: "putList",
            tag: "Ad lists",
            "Keep an ad list, or replace it.",
            details: """
                Breaks that signals open from then on have the new ads; breaks that are there keep theirs. The same list again changes \
                nothing; with `If-None-Match: *` it is refused. The ads come as JSON, or as a VAST document.
                """,
            access: .publishEverywhere,
            parameters: [.adListInPath, .ifMatchOfList, .ifNoneMatchOfList],
            body: OperationBody(
                contents: [OperationContent(BreakShapes.adList.schema, example: ["ads": [BreakBodies.adExample]])]
                    + OperationContent.vast,
                isRequired: true,
                bytesMax: AdsDocument.bytesMax
            ),
            answers: [
                .adList(.created, "The list is new.")
                    .with([
                        OperationHeader("Location", "The list's path.", ["type": "string", "format": "uri-reference"])
                    ]),
                .adList(.ok, "The list is replaced, or had these ads before."),
            ],
            refusals: [.reason(.revisionConflict), .reason(.draining)]
        ) { call in
            let name = try call.adList()
            let body = try await call.body()
            let (isVAST, charset) = (call.isVAST, call.charset)
            let asked = try await parts.ask(call) { () throws(DocumentFault) in
                guard isVAST else {
                    let ads = try AdsDocument.read(body)
                    return (.putList(BroadcastRequest.PutList(name: name, advertisements: ads)), [])
                }
                let (ads, leftOut) = try AdsDocument.read(vast: body, charset: charset)
                return (.putList(BroadcastRequest.PutList(name: name, advertisements: ads)), leftOut)
            }
            var answer = HTTPAnswer.adList(asked)
            if case .adList(let info, _) = asked.reply.body, asked.reply.changed, info.revision == 1 {
                answer.status = .created
                answer.headers[.location] = "/v1/lists/\(name)"
            }
            return answer
        },
        Operation(
            .delete,
            "/v1/lists/{name}",
            id: "removeList",
            tag: "Ad lists",
            "Remove an ad list; one that the cue policy names is in use, and stays.",
            access: .publishEverywhere,
            parameters: [.adListInPath, .ifMatchOfList],
            answers: [.adList(.ok, "The list as it was.")],
            refusals: [.reason(.wrongState), .reason(.revisionConflict), .reason(.draining)]
        ) { call in
            let name = try call.adList()
            return .adList(try await parts.ask(call) { (.removeList(name), []) })
        },
    ]
}

extension HTTPAnswer {
    /// An ad list, with its revision as the tag that `If-Match` takes.
    fileprivate static func adList(_ asked: BroadcastAnswer, hasAds: Bool = false) -> HTTPAnswer {
        guard case .adList(let info, let ads) = asked.reply.body else {
            preconditionFailure("a request about an ad list was answered with something else")
        }
        var document = AdListDocument(info)
        if hasAds { document.ads = ads.map { AdDocument($0) } }
        document.leftOut = Self.told(asked.leftOut)
        return .json(document, headers: [.eTag: "\"\(info.revision)\""])
    }
}

extension OperationAnswer {
    fileprivate static func adList(
        _ status: HTTPResponse.Status,
        _ description: String,
        example: JSONValue = AdListDocument.example
    ) -> OperationAnswer {
        OperationAnswer(status, description, OperationContent(AdListDocument.schema, example: example))
            .with([.revision])
    }
}

extension OperationParameter {
    /// A list may be new, and then has no revision.
    fileprivate static let ifMatchOfList = OperationParameter(
        Self.ifMatch.name,
        in: .header,
        "The revision that the list must have for anything to change, as `ETag` told it; `*`: it must be there.",
        Self.ifMatch.schema,
        example: Self.ifMatch.example,
        isAlternative: true
    )
    fileprivate static let ifNoneMatchOfList = OperationParameter(
        Self.ifNoneMatchOfPublication.name,
        in: .header,
        "`*`: the list must not be there yet, not even the same; not together with `If-Match`.",
        Self.ifNoneMatchOfPublication.schema,
        example: Self.ifNoneMatchOfPublication.example,
        isAlternative: true
    )
}
