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

/// The rights over HTTP, as one table: every path and every right, for every kind of caller.
@Suite(.suiteLimit)
struct AuthorizationTests {
    /// A caller: its header, and the result if a right is needed that `scopes` may hold.
    private struct Caller {
        let name: String
        let authorization: String?
        /// Why it is not let in whatever it asks for; `nil`: its scopes decide.
        let refusal: HTTPRefusal?
        let scopes: String

        init(_ name: String, _ authorization: String?, refusal: HTTPRefusal? = nil, scopes: String = "") {
            self.name = name
            self.authorization = authorization
            self.refusal = refusal
            self.scopes = scopes
        }

        func expected(_ scope: TokenScope) throws -> HTTPRefusal? {
            if let refusal { return refusal }
            return try #require(TokenScopes(self.scopes)).grants(scope) ? nil : .scope(scope)
        }
    }

    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    private let workshop: TokenWorkshop

    init() throws { self.workshop = try TokenWorkshop() }

    private static let scopes = [
        "", "read", "admin", "publish:radio1", "publish:radio*", "publish:*", "read publish:radio1",
        "read publish:* admin",
    ]

    private func callers() async throws -> [Caller] {
        var callers = [
            Caller("no token", nil, refusal: .noToken),
            Caller("an empty header", "", refusal: .noToken),
            Caller("another scheme", "Basic c3R1ZGlvOmhpZGRlbg==", refusal: .noToken),
            Caller("the scheme alone", "Bearer", refusal: .noToken),
            Caller("no token at all", "Bearer radio", refusal: .token(.malformed)),
            Caller("two headers", "Bearer a, Bearer b", refusal: .token(.malformed)),
        ]
        let all = "read publish:* admin"
        for algorithm in TokenAlgorithm.allCases {
            let name = algorithm.rawValue
            func bearer(_ claims: TokenClaims) async throws -> String {
                "Bearer " + (try await self.workshop.token(claims, by: algorithm))
            }
            for scopes in Self.scopes {
                callers.append(
                    Caller(
                        "\(name) with [\(scopes)]",
                        try await bearer(try TokenWorkshop.claims(scope: scopes)),
                        scopes: scopes
                    )
                )
            }
            let right = try await bearer(try TokenWorkshop.claims(scope: all))
            var parts = try TokenParts(String(right.dropFirst("Bearer ".count)))
            callers.append(Caller("\(name), in lower case", right.replacing("Bearer", with: "bearer"), scopes: all))
            callers += [
                Caller(
                    "\(name), expired",
                    try await bearer(try TokenWorkshop.claims(scope: all, expires: Parts.now)),
                    refusal: .token(.expired)
                ),
                Caller(
                    "\(name), not yet valid",
                    try await bearer(try TokenWorkshop.claims(scope: all, notBefore: Parts.now + .seconds(31))),
                    refusal: .token(.notYetValid)
                ),
                Caller(
                    "\(name), of a listener",
                    try await bearer(try TokenWorkshop.claims(scope: all, audience: ["cuecast"])),
                    refusal: .token(.wrongAudience)
                ),
                Caller(
                    "\(name), of another issuer",
                    try await bearer(try TokenWorkshop.claims(scope: all, issuer: "another")),
                    refusal: .token(.wrongIssuer)
                ),
            ]
            let signature = parts.signature
            let other = try await self.workshop.token(try TokenWorkshop.claims(scope: "read"), by: algorithm)
            parts.signature = try TokenParts(other).signature
            callers.append(
                Caller("\(name), another token's signature", "Bearer " + parts.token, refusal: .token(.wrongSignature))
            )
            parts.signature = ""
            callers.append(Caller("\(name), not signed", "Bearer " + parts.token, refusal: .token(.wrongSignature)))
            parts.signature = signature
            for other in ["none"] + TokenAlgorithm.allCases.map(\.rawValue) where other != name {
                parts.header = TokenParts.part(#"{"alg":"\#(other)","kid":"\#(name)","typ":"JWT"}"#)
                callers.append(
                    Caller("\(name), said to be \(other)", "Bearer " + parts.token, refusal: .token(.wrongAlgorithm))
                )
            }
            parts.header = TokenParts.part(#"{"alg":"\#(name)","kid":"gone","typ":"JWT"}"#)
            callers.append(Caller("\(name), unknown key", "Bearer " + parts.token, refusal: .token(.unknownKey)))
        }
        return callers
    }

    @Test func `each right is given to callers whose token grants it, and to no others`() async throws {
        let access = try await self.workshop.access(.health)
        let wanted: [TokenScope] = [
            .read, .admin, .publish(try StreamID("radio1")), .publish(try StreamID("radio2")),
            .publish(try StreamID("tv")),
        ]
        var cells = 0
        for caller in try await self.callers() {
            for scope in wanted {
                let found: HTTPRefusal?
                do throws(HTTPRefusal) {
                    let principal = try access.authorize(caller.authorization, scope, at: Parts.now)
                    #expect(principal.name == "studio")
                    found = nil
                } catch {
                    found = error
                }
                #expect(found == (try caller.expected(scope)), "\(caller.name) asks for \(scope.word)")
                cells += 1
            }
        }
        #expect(cells == 315)
    }

    /// A path, and the right that it needs with each of the settings.
    private struct Path {
        let target: String
        let method: String
        let needs: [HTTPOpenReads: TokenScope]
        let answer: Int

        init(_ target: String, _ needs: [HTTPOpenReads: TokenScope], method: String = "GET", answer: Int = 200) {
            self.target = target
            self.method = method
            self.needs = needs
            self.answer = answer
        }
    }

    private static let paths: [Path] = {
        let reports: [HTTPOpenReads: TokenScope] = [.metrics: .read, .health: .read]
        let admin = Dictionary(uniqueKeysWithValues: HTTPOpenReads.allCases.map { ($0, TokenScope.admin) })
        return [
            Path("/v1", [:]), Path("/openapi.json", [:]), Path("/healthz", [:]), Path("/readyz", [:]),
            Path("/metrics", [.health: .read]),
            Path("/v1/reports", reports), Path("/v1/reports/radio1/b1", reports, answer: 404),
            Path("/v1/breaks", reports), Path("/v1/streams/radio1/breaks", reports),
            Path("/v1/streams/radio1/breaks/b1", reports, answer: 404),
            Path("/v1/streams/radio1/breaks/b1/report", reports, answer: 404),
            Path("/v1/outcomes", reports), Path("/v1/audit", reports), Path("/v1/configuration", reports),
            Path("/v1/limits", reports), Path("/", [:]), Path("/dashboard/dashboard.js", [:]),
            Path("/v1/reload", admin, method: "POST"),
        ]
    }()

    @Test(arguments: HTTPOpenReads.allCases)
    func `every path answers those who may ask, and refuses everybody else in the same words`(
        open: HTTPOpenReads
    ) async throws {
        var parts = Parts()
        parts.log = InMemoryEventLog()
        parts.access = HTTPAccessHolder(try await self.workshop.access(open))
        let reloads = Counter()
        parts.reload = {
            reloads.count.wrappingAdd(1, ordering: .relaxed)
            return ReloadDocument(changed: ["logLevel: info → debug"], needRestart: [])
        }
        let callers = try await self.callers()
        try await parts.serve { peer in
            var (cells, changes) = (0, 0)
            for path in Self.paths {
                for caller in callers {
                    let refusal = try path.needs[open].flatMap { try caller.expected($0) }
                    let headers = caller.authorization.map { ["Authorization": $0] } ?? [:]
                    let answer = try await peer.get(path.target, method: path.method, headers: headers)
                    let place = "\(caller.name): \(path.method) \(path.target)"
                    cells += 1
                    guard let refusal else {
                        #expect(answer.status == path.answer, "\(place)")
                        if path.method == "POST" { changes += 1 }
                        continue
                    }
                    let document: ProblemDocument = try answer.decoded()
                    #expect(document.detail == refusal.sentence, "\(place)")
                    if case .scope = refusal {
                        #expect(answer.status == 403, "\(place)")
                        #expect(answer.headers["www-authenticate"]?.contains("insufficient_scope") == true)
                    } else {
                        #expect(answer.status == 401, "\(place)")
                        #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
                    }
                }
            }
            #expect(cells == 18 * 63)
            #expect(reloads.count.load(ordering: .relaxed) == changes)
        }
    }

    private static let changes: [(method: String, name: String, body: String, missing: String)] = {
        let publish =
            #"{"in":"1h","ads":[{"id":"a","duration":"30s","media":[{"url":"https://cdn.example.com/a.mp3"}]}]}"#
        return [
            ("PUT", "", publish, ""), ("POST", "/punch", "{}", "NOT_FOUND"),
            ("POST", "/update", #"{"duration":"45s"}"#, "NOT_FOUND"),
            ("POST", "/postpone", #"{"by":"5s","from":"2026-05-01T12:00:00Z"}"#, "NOT_FOUND"),
            ("POST", "/end", "{}", "NOT_FOUND"), ("POST", "/cancel", "", "NOT_FOUND"),
        ]
    }()

    /// The rules that hold for every entrance decide here, as in a gateway; no break is there but what is published.
    @Test
    func `every change of a break is done for those with the stream, and refused to everybody else in the same words`()
        async throws
    {
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.health))
        let decided = Counter()
        parts.broadcast = { checked, principal, _ in
            let request = checked.asked
            decided.count.wrappingAdd(1, ordering: .relaxed)
            let planner = BroadcastPlanner(policy: BreakPolicy())
            let board = Board(epoch: 7)
            switch planner.plan(request, by: principal, on: board, at: Parts.now, listeners: 0) {
            case .answer(let body): return BroadcastReply(requestID: request.id, gatewayTime: Parts.now, body: body)
            case .append(let entry):
                guard case .changed(let each, _) = board.trial(of: entry) else { preconditionFailure("it was planned") }
                let body = BroadcastReply.Body.break(each.info(at: Parts.now))
                return BroadcastReply(requestID: request.id, gatewayTime: Parts.now, body: body)
            }
        }
        let audit = try #require(parts.audit)
        let callers = try await self.callers()
        try await parts.serve { peer in
            var (cells, asked, refused) = (0, 0, 0)
            for stream in ["radio1", "radio2", "tv"] {
                let scope = TokenScope.publish(try StreamID(stream))
                for caller in callers {
                    for change in Self.changes {
                        var headers = caller.authorization.map { ["Authorization": $0] } ?? [:]
                        headers["If-Match"] = change.name == "/end" ? "*" : nil
                        let path = "/v1/streams/\(stream)/breaks/b1\(change.name)"
                        let answer = try await peer.ask(change.method, path, body: change.body, headers: headers)
                        let place = "\(caller.name): \(change.method) \(path)"
                        cells += 1
                        // A token that is none is refused before anybody looks at the stream.
                        if let refusal = caller.refusal {
                            refused += 1
                            let problem: ProblemDocument = try answer.decoded()
                            #expect(answer.status == 401 && problem.detail == refusal.sentence, "\(place)")
                            #expect(problem.code == "UNAUTHORIZED", "\(place)")
                            continue
                        }
                        asked += 1
                        guard try caller.expected(scope) == nil else {
                            let principal = BroadcastPrincipal(name: "studio", streams: [])
                            let problem: ProblemDocument = try answer.decoded()
                            #expect(answer.status == 403 && problem.code == "NOT_ALLOWED", "\(place)")
                            let sentence = principal.refusal(for: try StreamID(stream)).sentence
                            #expect(problem.detail == sentence, "\(place)")
                            continue
                        }
                        guard !change.missing.isEmpty else {
                            #expect(answer.status == 200 && answer.headers["etag"] == "\"1\"", "\(place)")
                            continue
                        }
                        #expect(try answer.decoded(as: ProblemDocument.self).code == change.missing, "\(place)")
                    }
                }
            }
            #expect(cells == 3 * 63 * 6)
            #expect(decided.count.load(ordering: .relaxed) == asked)
            // What never came to the rules is in the audit all the same.
            var lines: [NumberedAuditRecord] = []
            repeat {
                let page = try await audit.records(
                    AuditQuery(before: lines.last?.number, limit: AuditLimits.auditPageMax)
                )
                lines += page
                if page.isEmpty { break }
            } while true
            #expect(lines.count == refused)
        }
    }

    @Test func `a revoked key and a new one count from the next request on, also on a connection that is open`()
        async throws
    {
        let holder = HTTPAccessHolder(try await self.workshop.access(.health))
        var parts = Parts()
        parts.access = holder
        let metrics = parts.metrics
        let first = try await self.workshop.token(try TokenWorkshop.claims(scope: "read"), by: .es256)
        let other = try TokenWorkshop()
        let second = try await other.token(try TokenWorkshop.claims(scope: "read"), by: .es256)
        let workshop = self.workshop
        try await parts.serve { peer in
            let connection = try peer.connect()
            func ask(_ token: String) throws -> String {
                try connection.send("GET /metrics HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(token)\r\n\r\n")
                return try connection.answer()
            }
            #expect(try ask(first).hasPrefix("HTTP/1.1 200"))
            #expect(try ask(second).contains(TokenRefusal.wrongSignature.sentence))
            var keys = workshop.keys
            let index = try #require(keys.firstIndex { $0.kid == "ES256" })
            keys[index].state = .revoked
            let revoked = try await TokenKeySet(keys)
            holder.reload(
                HTTPAccess(
                    verifier: TokenVerifier(keys: revoked, issuer: "cuecast", audience: "cuecast-http"),
                    openReads: .health
                )
            )
            #expect(try ask(first).contains(TokenRefusal.revokedKey.sentence))
            holder.reload(try await other.access(.health))
            #expect(try ask(first).contains(TokenRefusal.wrongSignature.sentence))
            #expect(try ask(second).hasPrefix("HTTP/1.1 200"))
        }
        #expect(metrics.value(.httpAuthorizations, .granted) == 2)
        #expect(metrics.value(.httpAuthorizations, .wrongSignature) == 2)
        #expect(metrics.value(.httpAuthorizations, .revokedKey) == 1)
    }

    @Test func `a reload that finds faults says them, and is no success`() async throws {
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.all))
        parts.reload = {
            throw ConfigurationFaults([ConfigurationFault(key: "http.tokenKeysFile", reason: "it is not JSON")])
        }
        let token = try await self.workshop.token(try TokenWorkshop.claims(scope: "admin"))
        try await parts.serve { peer in
            let answer = try await peer.get(
                "/v1/reload",
                method: "POST",
                headers: ["Authorization": "Bearer \(token)", "Content-Length": "0"]
            )
            #expect(answer.status == 422)
            let document: ProblemDocument = try answer.decoded()
            #expect(document.detail == "Everything stays as it was: http.tokenKeysFile: it is not JSON")
        }
    }

    @Test func `changes are POST requests, and reads are not`() async throws {
        try await Parts()
            .serve { peer in
                let wrong = try await peer.get("/v1/reload")
                #expect(wrong.status == 405)
                #expect(wrong.headers["allow"] == "POST")
                let other = try await peer.get("/v1/reports", method: "POST")
                #expect(other.status == 405)
                #expect(other.headers["allow"] == "GET, HEAD")
            }
    }

    @Test(arguments: [
        ("127.0.0.1:7480", true), ("[::1]:7480", true), ("[2001:db8::7]", true), ("localhost:7480", true),
        ("gateway:7480", true), ("GATEWAY", true), ("10.1.2.3", true), ("radio.example", true),
        ("RADIO.example:80", true),
        ("evil.example", false), ("radio.example.evil.example:7480", false), ("127.0.0.1.evil.example", false),
        ("evil.radio.example", false), ("1.2.3", false), ("1.2.3.256", false), ("[evil.example]", false),
        ("[::1", false),
        ("127.0.0.1:port", false), ("a@127.0.0.1", false), ("127.0.0.1:1:2", false), ("localhost.", false),
    ])
    func `a gateway answers by its own names only`(host: String, isKnown: Bool) async throws {
        #expect(HTTPHosts(["radio.example"]).contains(host) == isKnown)
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.all))
        let metrics = parts.metrics
        try await parts.serve { peer in
            for path in ["/v1/reports", "/healthz"] {
                let answer = try await peer.get(path, headers: ["Host": host])
                // What is no host at all is refused before it comes to us.
                #expect(isKnown ? answer.status == 200 : [400, 421].contains(answer.status), "\(answer.status)")
            }
        }
        if isKnown { #expect(metrics.value(.httpAuthorizations, .host) == 0) }
    }

    @Test func `a request without a host is a program's, and one of another name is counted`() async throws {
        let parts = Parts()
        try await parts.serve { peer in
            #expect(try await peer.send("GET /healthz HTTP/1.0\r\nConnection: close\r\n\r\n").status == 200)
            let answer = try await peer.get("/healthz", headers: ["Host": "evil.example"])
            let document: ProblemDocument = try answer.decoded()
            #expect(document.detail == HTTPRefusal.host.sentence)
        }
        #expect(parts.metrics.value(.httpAuthorizations, .host) == 1)
    }

    @Test(arguments: [
        ("http://test", true), ("https://TEST", true), ("http://test:80", true), ("http://test:81", false),
        ("http://evil.example", false),
        ("null", false), ("", false), ("test", false), ("http://test.evil.example", false),
    ])
    func `pages of other origins are refused, with a token too`(origin: String, isSame: Bool) async throws {
        var parts = Parts()
        parts.access = HTTPAccessHolder(try await self.workshop.access(.all))
        let token = try await self.workshop.token(try TokenWorkshop.claims(scope: "read admin"))
        let metrics = parts.metrics
        try await parts.serve { peer in
            for (path, method) in [("/v1/reports", "GET"), ("/v1/reload", "POST")] {
                let answer = try await peer.get(
                    path,
                    method: method,
                    headers: ["Origin": origin, "Authorization": "Bearer \(token)"]
                )
                #expect(answer.status == (isSame ? 200 : 403))
                #expect(!answer.headers.keys.contains { $0.hasPrefix("access-control") })
            }
        }
        #expect(metrics.value(.httpAuthorizations, .origin) == (isSame ? 0 : 2))
    }
}
