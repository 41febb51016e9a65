// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Diagnostics) @_spi(Transports) @_spi(Tuning) import Cuecast
import CuecastTesting
import CuecastWire
import Testing

/// How notices come to a player.
enum NoticePath: CaseIterable, Sendable {
    /// On the connection of the join.
    case pushed
    /// By a subscription: the app wants two connections.
    case subscribed
    /// By a subscription, because the gateway is an older one that does not push.
    case fellBack

    func set(_ gateway: ScriptedGateway, _ configuration: inout ListenerConfiguration) {
        gateway.pushesNotices = self != .fellBack
        configuration.connections = self == .subscribed ? .two : .one
    }
}

@Suite(.suiteLimit)
struct FaultTests {
    let gateway: ScriptedGateway

    init() throws { self.gateway = try ScriptedGateway(headInterval: .seconds(3_600)) }

    @Test(arguments: NoticePath.allCases) func `a broken connection is made again, and what was missed is played`(
        path: NoticePath
    ) async throws {
        try await withPlayer(self.gateway) {
            path.set(self.gateway, &$0)
        } _: { client, _ in
            _ = try await self.gateway.request(.join)
            self.gateway.isReachable = false
            self.gateway.breakConnections()
            try self.gateway.publish(scripted("b1", [("a", 1_000)]))
            #expect(self.gateway.openConnections == 0)
            self.gateway.isReachable = true
            #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .played)
            #expect(self.gateway.sessions.count == 1)
        }
    }

    @Test(arguments: NoticePath.allCases) func `a lost notice is found out about`(path: NoticePath) async throws {
        // Its head must come before 2.5 of these are over, else the connection counts as lost, and that finds it out, too.
        let gateway = try ScriptedGateway(headInterval: .seconds(20))
        try await withPlayer(gateway) {
            path.set(gateway, &$0)
        } _: { client, _ in
            let events = client.makeEvents()
            gateway.loseNotices()
            try gateway.publish(scripted("b1", [("a", 1_000)]))
            #expect(try await gateway.outcome(of: "a", in: "b1").result == .played)
            let loss = await events.first { if case .positionLost(let loss) = $0 { loss } else { nil } }
            #expect(loss == .gap)
        }
    }

    @Test(arguments: [false, true], NoticePath.allCases)
    func `a restart loses nothing that is open`(losesHistory: Bool, path: NoticePath) async throws {
        try await withPlayer(self.gateway) {
            path.set(self.gateway, &$0)
        } _: { client, _ in
            let events = client.makeEvents()
            try self.gateway.publish(scripted("b1", [("a", 1_000)]), in: .seconds(1_000))
            _ = try await self.gateway.request(.batch)
            self.gateway.restart(losesHistory: losesHistory)
            let joined = await events.first { if case .joined(let result) = $0 { result } else { nil } }
            #expect(joined == (losesHistory ? .snapshot(openBreaks: 1) : .current))
            try self.gateway.update("b1", startIn: .zero)
            #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .played)
            #expect(self.gateway.requests.filter { $0.kind == .batch }.count == 1)
        }
    }

    @Test func `an outcome is told again to a gateway that did not answer, and stands once`() async throws {
        try await withPlayer(self.gateway) {
            $0.timings.requestTimeout = .milliseconds(50)
        } _: { client, _ in
            let events = client.makeEvents()
            try self.gateway.publish(scripted("b1", [("a", 1_000)]), in: .seconds(1_000))
            _ = await events.first { if case .ready = $0 { () } else { nil } }
            self.gateway.answering = .never
            try self.gateway.update("b1", startIn: .zero)
            let unanswered = try await self.gateway.request(.acknowledge)
            #expect(unanswered.isRefused)
            #expect(self.gateway.outcomes.isEmpty)
            self.gateway.answering = .atOnce
            #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .played)
            _ = await events.first { if case .acknowledged = $0 { () } else { nil } }
            #expect(self.gateway.outcomes.count == 1)
        }
    }

    @Test(arguments: NoticePath.allCases) func `a slow gateway answers after its time`(path: NoticePath) async throws {
        self.gateway.answering = .after(.milliseconds(60))
        let began = ContinuousClock.now
        try await withPlayer(self.gateway) {
            path.set(self.gateway, &$0)
        } _: { client, _ in
            _ = try await self.gateway.request(.join)
            _ = try await self.gateway.wait(for: "the player to listen") { _ in
                client.connectionState == .listening ? true : nil
            }
            #expect(began.duration(to: .now) >= .milliseconds(60))
        }
    }

    @Test func `pushed notices follow the answer to the join, however long that takes`() async throws {
        let (frames, heard) = AsyncStream.makeStream(of: ListenerConnectionEvent.self)
        let connection = self.gateway.connect(to: GatewayAddress(host: "")) { heard.yield($0) }
        let join = ListenerRequest.Join(stream: try StreamID("radio1"), instance: 0, push: true)
        let session = SessionID.random()
        self.gateway.answering = .after(.milliseconds(100))
        connection.send(ListenerRequest(id: 1, session: session, kind: .join(join)).encoded())
        try self.gateway.publish(scripted("b1", [("a", 1_000)]))
        var order: [String] = []
        for await event in frames {
            switch event {
            case .reply(let frame):
                order.append("reply")
                guard case .joined(let joined) = try ListenerReply(decoding: frame).body else { break }
                #expect(joined.pushed && joined.head.sequence == 0)
            case .notice(let frame):
                guard case .notice(let notice, _) = try NoticeFrame(decoding: frame), notice.kind != .head else {
                    break
                }
                order.append("notice \(notice.position.sequence)")
                heard.finish()
            default: break
            }
        }
        #expect(order == ["reply", "notice 1"])
        connection.close()
    }

    @Test func `a temporary refusal is retried`() async throws {
        self.gateway.refuse([.batch], ScriptedRefusal(.unavailable), times: 2)
        try await withPlayer(self.gateway) { _, _ in
            try self.gateway.publish(scripted("b1", [("a", 1_000)]))
            _ = try await self.gateway.outcome(of: "a", in: "b1")
            let batches = self.gateway.requests.filter { $0.kind == .batch }
            #expect(batches.map(\.isRefused) == [true, true, false])
        }
    }

    @Test func `a player that is not allowed gives up`() async throws {
        self.gateway.refuse([.join], ScriptedRefusal(.notAllowed, "Not with this token."))
        try await withPlayer(self.gateway) { client, _ in
            guard case .refused(let reason) = client.connectionState else {
                Issue.record("it is \(client.connectionState)")
                return
            }
            #expect(reason.contains("Not with this token."))
        }
        self.gateway.refuseNothing()
        try await withPlayer(self.gateway) { client, _ in #expect(client.connectionState == .listening) }
    }

    @Test(arguments: ScriptedRefusal.Code.allCases)
    func `every refusal reaches the player`(code: ScriptedRefusal.Code) async throws {
        self.gateway.refuse([.batch], ScriptedRefusal(code), times: 1)
        try await withPlayer(self.gateway) { client, _ in
            let events = client.makeEvents()
            try self.gateway.publish(scripted("b1", [("a", 1_000)]))
            switch code {
            // Who is not allowed to joins once more, and asks again.
            case .unavailable, .draining, .rateLimited, .limitReached, .notAllowed:
                #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .played)
            default:
                let reason = await events.first { if case .missed(_, let reason) = $0 { reason } else { nil } }
                #expect(reason?.contains("The script says so.") == true)
            }
        }
    }

    @Test func `waiting for what does not come ends with a sentence`() async throws {
        let error = await #expect(throws: ScriptedGatewayError.self) {
            try await self.gateway.outcome(of: "a", in: "b1", within: .milliseconds(10))
        }
        #expect(error == .timedOut("Waited 0.01 seconds for an outcome of b1/a; it did not come."))
        #expect(error?.description == "Waited 0.01 seconds for an outcome of b1/a; it did not come.")
    }

    @Test func `waiting ends when its task is cancelled`() async throws {
        let gateway = self.gateway
        let waiting = Task { () throws(ScriptedGatewayError) in try await gateway.request(.leave, within: .seconds(600))
        }
        waiting.cancel()
        let result = await waiting.result
        #expect(throws: ScriptedGatewayError.cancelled) { try result.get() }
    }
}
