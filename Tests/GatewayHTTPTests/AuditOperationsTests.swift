// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Testing

/// The audit over HTTP, and what HTTP itself puts into it.
@Suite(.suiteLimit)
struct AuditOperationsTests {
    private let workshop: TokenWorkshop
    private let audit = InMemoryAudit()

    init() throws { self.workshop = try TokenWorkshop() }

    private func parts() async throws -> Parts {
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.metrics))
        parts.audit = self.audit
        return parts
    }

    private func headers(_ scope: String) async throws -> [String: String] {
        ["Authorization": "Bearer \(try await self.workshop.token(try TokenWorkshop.claims(scope: scope)))"]
    }

    private func line(_ number: Int, stream: String = "radio1", by principal: String = "studio") throws -> AuditRecord {
        AuditRecord(
            at: Parts.now + .seconds(number),
            principal: principal,
            origin: RequestOrigin(.zeromq, address: "192.0.2.7", requestID: "\(number)"),
            action: "cancel",
            key: BreakKey(stream: try StreamID(stream), id: try BreakID("b\(number)")),
            outcome: .refused,
            status: .notFound,
            sentence: "There is none."
        )
    }

    @Test func `lines come in pages, by stream, break and broadcaster`() async throws {
        for number in 1...5 { self.audit.add(try self.line(number)) }
        self.audit.add(try self.line(6, stream: "radio2", by: "other"))
        let read = try await self.headers("read")
        try await self.parts()
            .serve { peer in
                func get(_ query: String) async throws -> AuditDocument {
                    try await peer.get("/v1/audit" + query, headers: read).decoded()
                }
                let all = try await get("")
                #expect(all.entries.map(\.number) == [6, 5, 4, 3, 2, 1] && all.before == nil)
                let first = try #require(all.entries.last)
                #expect(first.by == "studio" && first.entrance == "zeromq" && first.address == "192.0.2.7")
                #expect(first.action == "cancel" && first.stream == "radio1" && first.break == "b1")
                #expect(first.outcome == "refused" && first.code == "NOT_FOUND" && first.sentence == "There is none.")
                #expect(first.requestId == "1" && first.revision == nil)
                let page = try await get("?limit=2")
                #expect(page.entries.map(\.number) == [6, 5] && page.before == 5)
                #expect(try await get("?limit=4&before=5").entries.map(\.number) == [4, 3, 2, 1])
                #expect(try await get("?limit=4&before=5").before == nil)
                #expect(try await get("?stream=radio2").entries.map(\.number) == [6])
                #expect(try await get("?break=b3").entries.map(\.number) == [3])
                #expect(try await get("?broadcaster=other").entries.map(\.number) == [6])
                func at(_ number: Int) -> String { (Parts.now + .seconds(number)).description }
                #expect(try await get("?from=\(at(5))").entries.map(\.number) == [6, 5])
                #expect(try await get("?to=\(at(5))").entries.map(\.number) == [4, 3, 2, 1])
                #expect(try await get("?from=\(at(2))&to=\(at(4))&limit=1").entries.map(\.number) == [3])
                #expect(try await get("?from=\(at(2))&to=\(at(4))&limit=1").before == 3)
                #expect(try await peer.get("/v1/audit?from=\(at(4))&to=\(at(4))", headers: read).status == 400)
                for query in ["?limit=0", "?limit=501", "?stream=a%20b", "?before=x", "?since=1"] {
                    #expect(try await peer.get("/v1/audit" + query, headers: read).status == 400, "\(query)")
                }
                #expect(try await peer.get("/v1/audit").status == 401)
            }
    }

    @Test func `of several gateways the lines are one list, page by page, and those that are missing are named`() throws
    {
        func page(_ seconds: [Int], before: Int64? = nil) throws -> AuditDocument {
            var page = AuditDocument(
                try seconds.enumerated()
                    .map { NumberedAuditRecord(number: Int64(100 - $0.offset), record: try self.line($0.element)) },
                limit: 500,
                at: Parts.now
            )
            page.before = before
            return page
        }
        func merged(_ pages: [AuditDocument], limit: Int) -> AuditDocument {
            AuditDocument(
                merging: pages.enumerated().map { (gateway: "\($0.offset)", page: $0.element) },
                unanswered: [.init(gateway: "the gateway 7", reason: "It did not answer in time.")],
                limit: limit,
                at: Parts.now
            )
        }
        func at(_ number: Int) -> String { (Parts.now + .seconds(number)).description }
        let all = merged([try page([9, 5, 1]), try page([8, 5]), try page([])], limit: 500)
        #expect(all.entries.map(\.at) == [9, 8, 5, 5, 1].map(at))
        #expect(all.entries.map(\.gateway) == ["0", "1", "1", "0", "0"])
        #expect(all.to == nil && all.before == nil && all.gateways == 4)
        #expect(all.unanswered?.map(\.gateway) == ["the gateway 7"])
        // The lines of the last instant come together on the next page.
        let first = merged([try page([9, 5, 1]), try page([8, 5])], limit: 3)
        #expect(first.entries.map(\.at) == [9, 8].map(at))
        #expect(first.to == (Parts.now + .seconds(5)).advanced(microseconds: 1).description)
        // A gateway with more lines than a page has hides what is older at others.
        let cut = merged([try page([9, 8], before: 99), try page([7])], limit: 5)
        #expect(cut.entries.map(\.at) == [9, 8].map(at) && cut.to != nil)
        #expect(merged([try page([9, 9])], limit: 1).to == at(9))
    }

    @Test func `without an audit it says so`() async throws {
        var parts = try await self.parts()
        parts.audit = nil
        let read = try await self.headers("read")
        try await parts.serve { peer in
            let answer = try await peer.get("/v1/audit", headers: read)
            #expect(answer.status == 503)
            // Other parts are not blamed.
            #expect(answer.body.contains("The gateway failed to answer."))
        }
    }

    @Test func `refusals of HTTP are in the audit once`() async throws {
        var parts = try await self.parts()
        parts.broadcast = { request, _, _ in
            let refusal = Refusal(.notFound, "There is none.")
            return BroadcastReply(requestID: request.asked.id, gatewayTime: Parts.now, body: .refused(refusal))
        }
        let path = "/v1/streams/radio1/breaks/noon-1"
        let (publish, admin, read) = (
            try await self.headers("publish:radio1"), try await self.headers("admin"), try await self.headers("read")
        )
        try await parts.serve { peer in
            let stranger = try await peer.get(path + "/cancel", method: "POST")
            #expect(stranger.status == 401)
            #expect(try await peer.ask("PUT", path, body: "{", headers: publish).status == 400)
            // The rules decide about this one, and keep it: not twice.
            #expect(try await peer.get(path + "/cancel", method: "POST", headers: publish).status == 404)
            #expect(try await peer.get("/v1/reload", method: "POST", headers: publish).status == 403)
            #expect(try await peer.get("/v1/reload", method: "POST", headers: admin).status == 200)
            // Nothing is changed by looking.
            #expect(try await peer.get("/v1/breaks").status == 401)
            #expect(try await peer.get("/v1/breaks?limit=0", headers: read).status == 400)
        }
        let lines = self.audit.all
        #expect(lines.map(\.action) == ["cancel", "publish", "reload", "reload"])
        #expect(lines.map(\.status) == [.notAllowed, .invalid, .notAllowed, nil])
        #expect(lines.map(\.principal) == ["", "studio", "", "studio"])
        #expect(lines[0].key?.id.description == "noon-1" && lines[3].key == nil)
        #expect(lines.allSatisfy { $0.origin.entrance == .http && $0.origin.address.hasPrefix("127.0.0.1:") })
    }
}
