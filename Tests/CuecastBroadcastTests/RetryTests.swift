// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import CuecastZeroMQ
import Synchronization
import Testing

@testable import CuecastBroadcast

@Suite(.suiteLimit)
struct RetryTests {
    @Test func `a publication whose reply was lost is asked again byte for byte, and is one break`() async throws {
        let script: RouterGateway.Script = { number, _ in number == 1 ? .answerIsLost : .answer }
        try await RouterGateway.with(script: script) { gateway in
            let client = makeClient(gateway.endpoint, attemptTimeout: .milliseconds(300))
            let status = try await client.publish(.sample(start: .in(.seconds(1))))
            // More than two where the machine is slower than the client waits.
            let requests = await gateway.requests
            #expect(requests.count >= 2)
            #expect(Set(requests).count == 1)
            #expect(status.position?.sequence == 1)
        }
    }

    @Test(arguments: [StatusCode.unavailable, .draining, .rateLimited])
    func `a gateway that cannot at present is asked again`(_ status: StatusCode) async throws {
        let script: RouterGateway.Script = { number, _ in
            number < 3 ? .refuse(Refusal(status, "Later.", retryAfter: .milliseconds(20))) : .answer
        }
        try await RouterGateway.with(script: script) { gateway in
            let client = makeClient(gateway.endpoint)
            let began = ContinuousClock.now
            _ = try await client.publish(.sample())
            #expect(ContinuousClock.now - began >= .milliseconds(40))
            #expect(await gateway.requests.count == 3)
        }
    }

    @Test(arguments: [StatusCode.limitReached, .notAllowed, .breakOverlap, .wrongState])
    func `a refusal that stays is told at once`(_ status: StatusCode) async throws {
        let script: RouterGateway.Script = { _, _ in .refuse(Refusal(status, "No.")) }
        try await RouterGateway.with(script: script) { gateway in
            let client = makeClient(gateway.endpoint)
            let error = await failure { () throws(BroadcastError) in try await client.publish(.sample()) }
            var refusal = BroadcastRefusal(
                status: try #require(BroadcastRefusal.Status(rawValue: status.name)),
                sentence: "No.",
                canRetry: status == .limitReached
            )
            refusal.requestID = try BroadcastRequest(decoding: #require(await gateway.requests.first)).id
            #expect(error == .refused(refusal))
            #expect("\(try #require(error))".hasSuffix("No. (request \(try #require(refusal.requestID)))"))
            #expect(await gateway.requests.count == 1)
        }
    }

    /// Answers lists, and nothing else.
    private static func answersLists(_ number: Int, _ request: BroadcastRequest) -> RouterGateway.Reaction {
        if case .list = request.kind { .answer } else { .ignore }
    }

    /// Returns once a list was answered: what is asked next goes out at once, before its time is over.
    private func connect(_ client: BroadcastClient) async {
        while (try? await client.breaks()) == nil {}
    }

    /// How many requests came that are no lists; waits for the first.
    private func others(at gateway: RouterGateway) async throws -> Int {
        while true {
            let count = await gateway.requests.count { frame in
                if case .list = (try? BroadcastRequest(decoding: frame))?.kind { false } else { true }
            }
            if count > 0 { return count }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test func `an update that would move the break again is not repeated`() async throws {
        try await RouterGateway.with(script: Self.answersLists) { gateway in
            let client = makeClient(gateway.endpoint, attemptTimeout: .seconds(2))
            await self.connect(client)
            let change = BreakChange(start: .in(.seconds(30)))
            let error = await failure { () throws(BroadcastError) in
                try await client.update(stream: "radio1", breakID: "noon", change)
            }
            #expect(error == .timedOut(after: .seconds(2)))
            let others = try await self.others(at: gateway)
            #expect(others == 1)
        }
    }

    @Test func `an update that can be repeated is repeated`() async throws {
        // The first update's answer is lost, however often the publication is asked before.
        let isLost = Mutex(false)
        let script: RouterGateway.Script = { _, request in
            guard case .update = request.kind else { return .answer }
            return isLost.withLock { before in
                defer { before = true }
                return before ? .answer : .answerIsLost
            }
        }
        try await RouterGateway.with(script: script) { gateway in
            let client = makeClient(gateway.endpoint, attemptTimeout: .milliseconds(300))
            _ = try await client.publish(.sample())
            let status = try await client.update(
                stream: "radio1",
                breakID: "noon",
                BreakChange(duration: .seconds(20))
            )
            #expect(status.duration == .seconds(20))
            #expect(await gateway.requests.count >= 3)
        }
    }

    @Test func `a gateway that never replies is a time-out`() async throws {
        try await RouterGateway.with(script: Self.answersLists) { gateway in
            let client = makeClient(gateway.endpoint, timeout: .seconds(10), attemptTimeout: .milliseconds(100))
            await self.connect(client)
            let error = await failure { () throws(BroadcastError) in try await client.publish(.sample()) }
            #expect(error == .timedOut(after: .seconds(10)))
            let others = try await self.others(at: gateway)
            #expect(others > 0)
        }
    }

    @Test func `a closed port is unreachable, which is not a time-out`() async throws {
        let closed = try HeldPort()
        let client = makeClient(closed.endpoint, timeout: .milliseconds(500))
        let error = await failure { () throws(BroadcastError) in try await client.publish(.sample()) }
        guard case .unreachable = error else { return #expect(Bool(false), "\(error as Any)") }
    }

    @Test(arguments: [(nil, "does not answer"), ("tcp://", "zmq_connect")])
    func `a connection that is not made says why`(_ endpoint: String?, _ part: String) async throws {
        let transport = WatchedTransport()
        let closed = try HeldPort()
        let client = makeClient(endpoint ?? closed.endpoint, transport: transport)
        let task = Task { await failure { () throws(BroadcastError) in try await client.publish(.sample()) } }
        // A machine that stands still for the 3 s of a connection says that of the first one.
        let reason = await transport.closed.first { $0.contains(part) }
        #expect(reason != nil)
        client.close()
        #expect(await task.value == .closed)
    }

    @Test func `a runtime that is shut down makes no connection and says so`() async throws {
        let runtime = ZeroMQRuntime(name: "test-ended")
        await runtime.shutDown()
        let transport = BroadcastZeroMQTransport(runtime: runtime)
        let reason = await withCheckedContinuation { continuation in
            _ = transport.connect(to: "tcp://127.0.0.1:1") { event in
                if case .closed(let reason) = event { continuation.resume(returning: reason) }
            }
        }
        #expect(reason.contains("shut down"))
        let client = makeClient("tcp://127.0.0.1:1", timeout: .milliseconds(100), transport: transport)
        let error = await failure { () throws(BroadcastError) in try await client.publish(.sample()) }
        guard case .unreachable = error else { return #expect(Bool(false), "\(error as Any)") }
    }

    @Test func `a gateway that comes late is found`() async throws {
        let port = try HeldPort()
        let transport = WatchedTransport()
        let client = makeClient(port.endpoint, transport: transport)
        let publishing = Task { try await client.publish(.sample()) }
        for await _ in transport.closed { break }
        let found = try await RouterGateway.with(at: port) { _ in try await publishing.value }
        #expect(found.id == "noon")
    }

    @Test func `a connection that is lost is made again`() async throws {
        let transport = WatchedTransport()
        let port = try HeldPort()
        let client = makeClient(port.endpoint, transport: transport)
        for id in ["morning", "noon"] {
            let status = try await RouterGateway.with(at: port) { _ in try await client.publish(.sample(id)) }
            #expect(status.id == id)
            for await reason in transport.closed {
                // The second gateway may be looked for before it is there.
                if reason.contains("was lost") { break }
            }
        }
    }

    @Test func `a reply of another language is told and not waited out`() async throws {
        let script: RouterGateway.Script = { _, _ in .reply([0xFF, 0xFF, 0xFF]) }
        try await RouterGateway.with(script: script) { gateway in
            let client = makeClient(gateway.endpoint)
            let error = await failure { () throws(BroadcastError) in try await client.publish(.sample()) }
            guard case .unreadableReply = error else { return #expect(Bool(false), "\(error as Any)") }
            #expect(await gateway.requests.count == 1)
        }
    }

    @Test func `a reply to another request is passed over`() async throws {
        let stray = BroadcastReply(
            requestID: 999,
            gatewayTime: Timestamp(microseconds: 0),
            body: .refused(Refusal(.notAllowed, "Not yours."))
        )
        .encoded()
        let script: RouterGateway.Script = { number, _ in number == 1 ? .reply(stray) : .answer }
        try await RouterGateway.with(script: script) { gateway in
            let client = makeClient(gateway.endpoint, attemptTimeout: .milliseconds(300))
            let status = try await client.publish(.sample())
            #expect(status.id == "noon")
            #expect(await gateway.requests.count >= 2)
        }
    }

    @Test func `a cancelled task does not wait for the reply`() async throws {
        let script: RouterGateway.Script = { _, _ in .ignore }
        try await RouterGateway.with(script: script) { gateway in
            let client = makeClient(gateway.endpoint)
            let task = Task { await failure { () throws(BroadcastError) in try await client.publish(.sample()) } }
            await gateway.waitForRequests(1)
            task.cancel()
            #expect(await task.value == .cancelled)
        }
    }

    @Test func `closing ends what is under way and what comes later`() async throws {
        let script: RouterGateway.Script = { _, _ in .ignore }
        try await RouterGateway.with(script: script) { gateway in
            let client = makeClient(gateway.endpoint)
            let task = Task { await failure { () throws(BroadcastError) in try await client.publish(.sample()) } }
            await gateway.waitForRequests(1)
            client.close()
            #expect(await task.value == .closed)
            #expect(await failure { () throws(BroadcastError) in try await client.breaks() } == .closed)
        }
    }

    @Test func `thirty-two requests are out at a time and the others wait their turn`() async throws {
        let script: RouterGateway.Script = { _, _ in .hold(until: RequestChannel.inFlightMax) }
        try await RouterGateway.with(script: script) { gateway in
            let client = makeClient(gateway.endpoint)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<(3 * RequestChannel.inFlightMax) {
                    group.addTask { _ = try await client.breaks(stream: "radio1") }
                }
                try await group.waitForAll()
            }
            #expect(await gateway.heldMax == RequestChannel.inFlightMax)
        }
    }

    @Test func `the wait has full jitter, a limit that doubles, and what the gateway asked for`() {
        var delays = RetryDelays(first: .milliseconds(100), longest: .milliseconds(350))
        var generator = SystemRandomNumberGenerator()
        for limit in [100, 200, 350, 350] {
            #expect(delays.limit == .milliseconds(limit))
            let wait = delays.next(atLeast: .milliseconds(5), using: &generator)
            #expect(wait >= .milliseconds(5))
            #expect(wait <= .milliseconds(5 + limit))
        }
        var most = HighestGenerator()
        #expect(delays.next(atLeast: .zero, using: &most) == .milliseconds(350))
        #expect(RetryDelays(first: .seconds(9), longest: .seconds(Int64.max)).limit == .seconds(9))
        #expect(RetryDelays(first: .seconds(Int64.max), longest: .seconds(Int64.max)).limit == RetryDelays.limitMax)
        #expect(RetryDelays(first: .seconds(-1), longest: .seconds(-1)).limit == .zero)
    }
}

/// The most of every range.
private struct HighestGenerator: RandomNumberGenerator {
    mutating func next() -> UInt64 { .max }
}
