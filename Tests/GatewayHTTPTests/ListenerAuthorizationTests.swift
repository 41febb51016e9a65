// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments
import GatewayHTTP
import GatewayTestKit
import Synchronization
import Testing
import TokenFormats
import Tokens

/// The right to listen over HTTP, as one table: every operation of listeners, for every kind of caller, on its own stream and
/// others.
@Suite(.suiteLimit)
struct ListenerAuthorizationTests {
    /// The gateway's findings about a caller's token.
    private enum Shown {
        case nothing
        /// A token with a fault that it was made with; its streams are not checked.
        case faulty(TokenRefusal)
        case streams([StreamPattern])
    }

    /// The change since the tokens were made.
    private enum Moment: CaseIterable {
        case before
        /// The tokens are over.
        case expired
        /// The key that signed them is revoked.
        case revoked
        /// A reload asks for tokens on another stream, and on the others no more.
        case reloaded

        func protects(_ stream: String) -> Bool { (stream == "tv") == (self == .reloaded) }
    }

    /// A caller.
    private struct Caller {
        let name: String
        let authorization: String?
        let shown: Shown

        /// The refusal on a stream; `nil`: it is let in.
        func refusal(of stream: String, _ moment: Moment = .before) throws -> String? {
            guard moment.protects(stream) else { return nil }
            switch self.shown {
            case .nothing: return ListenerAuthorizationTests.needsTicket(stream)
            case .faulty(.malformed): return TokenRefusal.malformed.sentence
            case _ where moment == .revoked: return TokenRefusal.revokedKey.sentence
            case .faulty(let fault): return fault.sentence
            case .streams where moment == .expired: return TokenRefusal.expired.sentence
            case .streams(let patterns):
                let id = try StreamID(stream)
                return patterns.contains { $0.matches(id) } ? nil : "The token has no right to the stream \(stream)."
            }
        }
    }

    /// The check of tokens in these tests; it may be changed while a gateway runs.
    private final class Checks: Sendable {
        private struct State {
            var verifier: TokenVerifier
            var now = Parts.now
        }

        private let workshop: TokenWorkshop
        private let state: Mutex<State>

        init(_ workshop: TokenWorkshop) async throws {
            self.workshop = workshop
            self.state = Mutex(State(verifier: try await Self.verifier(workshop.keys)))
        }

        private static func verifier(_ keys: [TokenKey]) async throws -> TokenVerifier {
            TokenVerifier(keys: try await TokenKeySet(keys), issuer: "cuecast", audience: "cuecast")
        }

        /// Has something happened to the tokens, and undoes what happened before.
        func become(_ moment: Moment) async throws {
            var keys = self.workshop.keys
            if moment == .revoked { for index in keys.indices { keys[index].state = .revoked } }
            let verifier = try await Self.verifier(keys)
            self.state.withLock { state in
                state.verifier = verifier
                state.now = moment == .expired ? Parts.now + .seconds(60) : Parts.now
            }
        }

        func verify(_ token: String) throws(TokenRefusal) -> TokenClaims {
            // Tokens are of the tests' time, which is not the gateway's.
            let state = self.state.withLock(\.self)
            return try state.verifier.verify(token, at: state.now)
        }
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
        return [
            Caller(name: "no token", authorization: nil, shown: .nothing),
            Caller(name: "another scheme", authorization: "Basic c3R1ZGlvOmhpZGRlbg==", shown: .nothing),
            Caller(
                name: "a broadcaster's token",
                authorization: try await token([radio], audience: "cuecast-http", scope: "read publish:* admin"),
                shown: .faulty(.wrongAudience)
            ),
            Caller(
                name: "an expired token",
                authorization: try await token([radio], audience: "cuecast", expires: .zero),
                shown: .faulty(.expired)
            ),
            Caller(name: "no token at all", authorization: "Bearer radio", shown: .faulty(.malformed)),
            Caller(
                name: "a token of one stream",
                authorization: try await token([radio1], audience: "cuecast"),
                shown: .streams([radio1])
            ),
            Caller(
                name: "a token of both",
                authorization: try await token([radio], audience: "cuecast"),
                shown: .streams([radio])
            ),
            Caller(
                name: "a token of none",
                authorization: try await token([], audience: "cuecast"),
                shown: .streams([])
            ),
        ]
    }

    private static func configuration(protecting pattern: String) throws -> GatewayConfiguration {
        var configuration = GatewayConfiguration.forTests
        configuration.protectedStreams = [try #require(StreamPattern(pattern))]
        return configuration
    }

    private func run(
        _ body: @escaping @Sendable (RunningGateway, HTTPPeer, TokenWorkshop, Checks) async throws -> Void
    ) async throws {
        let workshop = try TokenWorkshop()
        let checks = try await Checks(workshop)
        let check: ListenerTokenCheck = { token, now in
            do throws(TokenRefusal) {
                let claims = try checks.verify(token)
                return .success(
                    ListenerGrant(subject: claims.subject, streams: claims.streams, until: now + .seconds(3_600))
                )
            } catch {
                return .failure(Refusal(.notAllowed, error.sentence))
            }
        }
        let access = HTTPAccess(verifier: try await workshop.verifier(), openReads: .health)
        try await withGateway(
            configuration: Self.configuration(protecting: "radio*"),
            log: InMemoryEventLog(),
            ledger: InMemoryLedger(),
            tokens: check
        ) { running in
            var parts = Parts()
            parts.listeners = running.gateway.listeners
            parts.configuration.listenersMax = running.gateway.httpListenersMax
            parts.metrics = running.metrics
            parts.access = HTTPAccessHolder(access)
            parts.runningBoard = { running.board }
            try await parts.serve { peer in try await body(running, peer, workshop, checks) }
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
        try await self.run { _, peer, workshop, _ in
            var cells = 0
            for (index, caller) in try await Self.callers(workshop).enumerated() {
                for stream in Self.streams {
                    cells += 1
                    let session = String(repeating: "\(index)", count: 31) + "\(cells % 10)"
                    let place = "\(caller.name): \(stream)"
                    guard let expected = try caller.refusal(of: stream) else {
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
            #expect(cells == 8 * 3)
            // The clock is everybody's.
            #expect(try await peer.get("/v1/time").status == 200)
        }
    }

    @Test func `a session's requests need its own ticket of that stream, and no token replaces it`() async throws {
        try await self.run { _, peer, workshop, _ in
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

    // MARK: - Players that only fetch and call

    private struct AssetList: Decodable {
        struct Asset: Decodable {
            let signaling: Signaling?

            enum CodingKeys: String, CodingKey {
                case signaling = "X-AD-CREATIVE-SIGNALING"
            }
        }

        struct Signaling: Decodable {
            let payload: [Slot]
        }

        struct Slot: Decodable {
            let tracking: [Tracking]
        }

        struct Tracking: Decodable {
            let type: String
            let urls: [String]
        }

        let ASSETS: [Asset]

        /// The path of the gateway's URL for an event of the first ad.
        func path(_ event: String) throws -> String {
            let slot = try #require(self.ASSETS.first?.signaling?.payload.first)
            let url = try #require(slot.tracking.first { $0.type == event }?.urls.first)
            try #require(url.hasPrefix("http://test/"))
            return String(url.dropFirst("http://test".count))
        }
    }

    /// Lets something happen to the tokens, or to what asks for them.
    private static func become(_ moment: Moment, _ running: RunningGateway, _ checks: Checks) async throws {
        try await checks.become(moment)
        let pattern = moment == .reloaded ? "tv" : "radio*"
        await running.gateway.reload(try Self.configuration(protecting: pattern), nil)
    }

    /// A break on each stream, of one ad that lasts longer than the test.
    private static func publish(_ running: RunningGateway) async throws {
        let broadcaster = try await running.broadcaster()
        for stream in Self.streams {
            _ = try await broadcaster.publish(
                "b",
                of: stream,
                start: .after(.zero),
                duration: .seconds(3_600),
                advertisements: [.madeUp("a", duration: .seconds(3_600))]
            )
        }
    }

    @Test
    func `every document is given to those whose token grants its stream, and refused to all others in the same words`()
        async throws
    {
        try await self.run { running, peer, workshop, checks in
            try await Self.publish(running)
            let callers = try await Self.callers(workshop)
            var cells = 0
            for moment in Moment.allCases {
                try await Self.become(moment, running, checks)
                for (index, caller) in callers.enumerated() {
                    for stream in Self.streams {
                        for document in ["asset-list", "vast"] {
                            cells += 1
                            let place = "\(moment), \(caller.name): \(document) of \(stream)"
                            // The same listener each time: that it was let in before is no right.
                            let answer = try await peer.get(
                                "/v1/streams/\(stream)/\(document)?_HLS_primary_id=\(index)",
                                headers: caller.authorization.map { ["Authorization": $0] } ?? [:]
                            )
                            guard let refusal = try caller.refusal(of: stream, moment) else {
                                #expect(answer.status == 200, "\(place): \(answer.body)")
                                #expect(answer.body.contains("/v1/streams/\(stream)/breaks/b/track/"), "\(place)")
                                continue
                            }
                            let problem: ProblemDocument = try answer.decoded()
                            #expect(answer.status == 403 && problem.code == "NOT_ALLOWED", "\(place)")
                            #expect(problem.detail == refusal, "\(place)")
                        }
                    }
                }
            }
            #expect(cells == 4 * 8 * 3 * 2)
        }
    }

    @Test func `a tracking URL grants its own outcome to each caller, whatever happens to tokens`()
        async throws
    {
        try await self.run { running, peer, workshop, checks in
            try await Self.publish(running)
            let callers = try await Self.callers(workshop)
            let owner = try #require(callers.first { $0.name == "a token of both" })
            let answer = try await peer.get(
                "/v1/streams/radio1/asset-list?_HLS_primary_id=p",
                headers: ["Authorization": owner.authorization ?? ""]
            )
            let list: AssetList = try answer.decoded()
            let refused = "The tracking URL is not one that a gateway made for this break."
            var cells = 0
            func call(_ place: String, isTaken: Bool) async throws {
                for caller in callers {
                    for event in ["start", "complete"] {
                        let path = try list.path(event)
                        // Its own, and the same led to other streams and another break.
                        for (path, isOwn) in [
                            (path, true), (path.replacing("/radio1/", with: "/radio2/"), false),
                            (path.replacing("/radio1/", with: "/tv/"), false),
                            (path.replacing("/b/track", with: "/c/track"), false),
                        ] {
                            for method in ["GET", "POST"] {
                                cells += 1
                                let place = "\(place), \(caller.name): \(method) \(path)"
                                let headers = caller.authorization.map { ["Authorization": $0] } ?? [:]
                                let answer = try await peer.get(
                                    path,
                                    method: method,
                                    headers: headers.merging(["Content-Length": "0"]) { own, _ in own }
                                )
                                guard !isOwn || !isTaken else {
                                    #expect(answer.status == 204, "\(place): \(answer.body)")
                                    continue
                                }
                                let problem: ProblemDocument = try answer.decoded()
                                #expect(answer.status == 400 && problem.code == "DELIVERY_INVALID", "\(place)")
                                #expect(problem.detail == refused, "\(place)")
                            }
                        }
                    }
                }
            }
            for moment in Moment.allCases {
                try await Self.become(moment, running, checks)
                try await call("\(moment)", isTaken: true)
            }
            // What signed it is its right: taken while that key is kept, and not when it is revoked.
            let other = try #require(
                SigningKey(secret: Array(repeating: 9, count: 32), state: .signing, since: Timestamp(microseconds: 0))
            )
            let old = MessageKeys.fixed.ring.signing
            for (state, isTaken) in [(SigningKey.State.verifyOnly, true), (.revoked, false)] {
                let kept = try #require(SigningKey(secret: old.secret, state: state, since: old.since))
                let keys = MessageKeys(try KeyRing([other, kept]))
                await running.gateway.reload(try Self.configuration(protecting: "radio*"), nil, keys)
                try await call("\(state)", isTaken: isTaken)
            }
            #expect(cells == 6 * 8 * 2 * 4 * 2)
            // All of that is one ad that was played.
            let books = try await running.books { $0.total.played == 1 }
            #expect(books.total.delivered == 1 && books.total.contradictions == 0 && books.balances)
        }
    }
}
