// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayHTTP
import GatewayTestKit
import Testing
import TokenFormats
import Tokens

/// Who may listen over HTTP, as one table: every operation of listeners, by every kind of caller, on its own stream and on others.
@Suite(.suiteLimit)
struct ListenerAuthorizationTests {
    /// Who joins, and what it is told on each stream; `nil`: it listens.
    private struct Caller {
        let name: String
        let authorization: String?
        let answers: [String: String?]
    }

    private struct Joined: Decodable {
        let ticket: String
    }

    private static let streams = ["radio1", "radio2", "tv"]

    private static func needsTicket(_ stream: String) -> String {
        "The stream \(stream) asks for a token: join with one, and send the ticket that the answer has."
    }

    private static func callers(_ workshop: TokenWorkshop) async throws -> [Caller] {
        let radio1 = try #require(StreamPattern("radio1"))
        let radio = try #require(StreamPattern("radio*"))
        func token(_ streams: [StreamPattern], audience: String, scope: String = "", expires: Duration = .seconds(60))
            async throws
            -> String
        {
            var claims = try TokenWorkshop.claims(scope: scope, audience: [audience], expires: Parts.now + expires)
            claims.streams = streams
            return "Bearer " + (try await workshop.token(claims))
        }
        func everywhere(_ sentence: @autoclosure () -> String) -> [String: String?] {
            ["radio1": sentence(), "radio2": sentence()]
        }
        let unasked =
            ["radio1": needsTicket("radio1"), "radio2": needsTicket("radio2"), "tv": nil] as [String: String?]
        return [
            Caller(name: "nobody", authorization: nil, answers: unasked),
            Caller(name: "another scheme", authorization: "Basic c3R1ZGlvOmhpZGRlbg==", answers: unasked),
            Caller(
                name: "a broadcaster's token",
                authorization: try await token([radio], audience: "cuecast-http", scope: "read publish:* admin"),
                answers: everywhere(TokenRefusal.wrongAudience.sentence)
            ),
            Caller(
                name: "an expired token",
                authorization: try await token([radio], audience: "cuecast", expires: .zero),
                answers: everywhere(TokenRefusal.expired.sentence)
            ),
            Caller(
                name: "no token at all",
                authorization: "Bearer radio",
                answers: everywhere(TokenRefusal.malformed.sentence)
            ),
            Caller(
                name: "a token of one stream",
                authorization: try await token([radio1], audience: "cuecast"),
                answers: ["radio1": nil, "radio2": "The token has no right to the stream radio2."]
            ),
            Caller(
                name: "a token of both",
                authorization: try await token([radio], audience: "cuecast"),
                answers: ["radio1": nil, "radio2": nil]
            ),
            Caller(
                name: "a token of none",
                authorization: try await token([], audience: "cuecast"),
                answers: [
                    "radio1": "The token has no right to the stream radio1.",
                    "radio2": "The token has no right to the stream radio2.",
                ]
            ),
        ]
    }

    private func run(_ body: @escaping @Sendable (RunningGateway, HTTPPeer, TokenWorkshop) async throws -> Void)
        async throws
    {
        let workshop = try TokenWorkshop()
        let verifier = TokenVerifier(keys: try await workshop.keySet(), issuer: "cuecast", audience: "cuecast")
        var configuration = GatewayConfiguration.forTests
        configuration.protectedStreams = [try #require(StreamPattern("radio*"))]
        let check: ListenerTokenCheck = { token, now in
            do throws(TokenRefusal) {
                // Tokens are of the tests' time, which is not the gateway's.
                let claims = try verifier.verify(token, at: Parts.now)
                return .success(
                    ListenerGrant(subject: claims.subject, streams: claims.streams, until: now + .seconds(3_600))
                )
            } catch {
                return .failure(Refusal(.notAllowed, error.sentence))
            }
        }
        let access = HTTPAccess(verifier: try await workshop.verifier(), openReads: .health)
        try await withGateway(
            configuration: configuration,
            log: InMemoryEventLog(),
            ledger: InMemoryLedger(),
            tokens: check
        ) { running in
            var parts = Parts()
            parts.listeners = running.gateway.listeners
            parts.configuration.listenersMax = running.gateway.httpListenersMax
            parts.metrics = running.metrics
            parts.access = HTTPAccessHolder(access)
            try await parts.serve { peer in try await body(running, peer, workshop) }
        }
    }

    /// Joins, and stays: the connection has to be kept.
    private func join(
        _ peer: HTTPPeer,
        _ stream: String,
        session: String,
        _ authorization: String?
    ) async throws -> (connection: HTTPConnection, ticket: String) {
        let connection = try peer.connect()
        let headers = authorization.map { ["Authorization": $0] } ?? [:]
        try connection.send(HTTPPeer.request("/v1/streams/\(stream)/listen?session=\(session)", headers: headers))
        let text = try await onThread {
            var text = ""
            while !text.contains("event: joined\ndata: ") || !text.hasSuffix("\n\n\r\n") {
                let part = try connection.receive()
                guard !part.isEmpty else { throw HTTPPeer.Failure(what: "closed after \(text)") }
                text += String(decoding: part, as: UTF8.self)
            }
            return text
        }
        let data = try #require(
            text.components(separatedBy: "event: joined\ndata: ").last?.components(separatedBy: "\n").first
        )
        return (connection, try JSONDecoder().decode(Joined.self, from: Data(data.utf8)).ticket)
    }

    @Test func `every stream is heard by those whose token grants it, and refused to everybody else in the same words`()
        async throws
    {
        try await self.run { _, peer, workshop in
            var cells = 0
            for (index, caller) in try await Self.callers(workshop).enumerated() {
                for stream in Self.streams {
                    guard let expected = caller.answers[stream] else { continue }
                    cells += 1
                    let session = String(repeating: "\(index)", count: 31) + "\(cells % 10)"
                    let place = "\(caller.name): \(stream)"
                    guard let expected else {
                        let joined = try await self.join(peer, stream, session: session, caller.authorization)
                        #expect(!joined.ticket.isEmpty, "\(place)")
                        let leave = #"{"session":"\#(session)","ticket":"\#(joined.ticket)"}"#
                        let path = "/v1/streams/\(stream)/leave"
                        #expect(try await peer.ask("POST", path, body: leave, headers: [:]).status == 200, "\(place)")
                        continue
                    }
                    let headers = caller.authorization.map { ["Authorization": $0] } ?? [:]
                    let answer = try await peer.get("/v1/streams/\(stream)/listen?session=\(session)", headers: headers)
                    let problem: ProblemDocument = try answer.decoded()
                    #expect(answer.status == 403 && problem.code == "NOT_ALLOWED", "\(place)")
                    #expect(problem.detail == expected, "\(place)")
                }
            }
            #expect(cells == 18)
            // The clock is everybody's.
            #expect(try await peer.get("/v1/time").status == 200)
        }
    }

    @Test func `what a session asks needs its own ticket of that stream, and no token stands in for it`() async throws {
        try await self.run { _, peer, workshop in
            let caller = try #require(try await Self.callers(workshop).first { $0.name == "a token of both" })
            let (own, other) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
            let mine = try await self.join(peer, "radio1", session: own, caller.authorization)
            let theirs = try await self.join(peer, "radio1", session: other, caller.authorization)
            let elsewhere = try await self.join(
                peer,
                "radio2",
                session: String(repeating: "c", count: 32),
                caller.authorization
            )
            var forged = try #require(Data(base64Encoded: mine.ticket))
            forged[forged.count - 1] ^= 1
            let notOwn = "The ticket is not of this session and the stream radio1."
            let tickets: [(name: String, ticket: String, refusal: String?)] = [
                ("its own", mine.ticket, nil), ("none", "", Self.needsTicket("radio1")),
                ("another session's", theirs.ticket, notOwn), ("another stream's", elsewhere.ticket, notOwn),
                (
                    "one cut off",
                    Data(try #require(Data(base64Encoded: mine.ticket)).prefix(20)).base64EncodedString(),
                    "The ticket is not one that a gateway gave."
                ),
                (
                    "a forged one", forged.base64EncodedString(),
                    "The ticket is not one that a gateway made; join again."
                ),
            ]
            let outcome = #"{"advertisementId":"a","kind":"played","occurredUs":1}"#
            for (name, ticket, refusal) in tickets {
                for (operation, more, allowed) in [
                    ("breaks/none/batch", "", "NOT_FOUND"),
                    ("breaks/none/acknowledge", #","delivery":"AAAA","outcomes":[\#(outcome)]"#, "NOT_FOUND"),
                    ("leave", "", ""),
                ] {
                    // Its own leaves last.
                    guard !allowed.isEmpty || refusal != nil else { continue }
                    let body = #"{"session":"\#(own)","ticket":"\#(ticket)"\#(more)}"#
                    for headers in [[:], ["Authorization": caller.authorization ?? ""]] {
                        let answer = try await peer.ask(
                            "POST",
                            "/v1/streams/radio1/\(operation)",
                            body: body,
                            headers: headers
                        )
                        let problem: ProblemDocument = try answer.decoded()
                        let place = "\(name): \(operation)"
                        #expect(
                            problem.code == (refusal == nil ? allowed : "NOT_ALLOWED"),
                            "\(place): \(problem.detail)"
                        )
                        if let refusal { #expect(answer.status == 403 && problem.detail == refusal, "\(place)") }
                    }
                }
            }
            let leave = #"{"session":"\#(own)","ticket":"\#(mine.ticket)"}"#
            #expect(try await peer.ask("POST", "/v1/streams/radio1/leave", body: leave, headers: [:]).status == 200)
            withExtendedLifetime((mine.connection, theirs.connection, elsewhere.connection)) {}
        }
    }
}
