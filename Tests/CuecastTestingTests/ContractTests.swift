// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) import Cuecast
@_spi(Transports) import CuecastTesting
import CuecastWire
import Synchronization
import Testing

/// That a script obeys the rules of a real gateway.
@Suite(.suiteLimit)
struct ContractTests {
    let gateway: ScriptedGateway

    init() throws { self.gateway = try ScriptedGateway() }

    private func refusal(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `a request that no gateway accepts is refused with a sentence`() throws {
        let twice = scripted("b1", [("a", 1), ("a", 1)])
        let invalid: [(ScriptedBreak, String)] = [
            (scripted("B 1", [("a", 1)]), "a break id has 1 to 64 characters"),
            (scripted("b1", []), "at least one"),
            (scripted("b1", [("", 1)]), "1 to 128 bytes"),
            (scripted("b1", [("a", 0)]), "duration above 0"),
            (scripted("b1", [("a", 3_601)]), "advertisementDurationMillisecondsMax"),
            (twice, "is listed twice"),
            (scripted("b1", [("a", 1)], duration: 0), "above 0, or absent"),
            (scripted("b1", [("a", 1)], duration: 21_601), "breakDurationMillisecondsMax"),
        ]
        for (each, rule) in invalid {
            let sentence = self.refusal { try self.gateway.publish(each) }
            #expect(sentence?.contains(rule) == true, "\(sentence ?? "taken")")
        }
        try self.gateway.publish(scripted("b1", [("a", 3_600)], duration: 21_600))
        #expect(self.refusal { _ = try ScriptedGateway(stream: LiveStream(id: "a b")) }?.contains("stream id") == true)
    }

    @Test func `a change that does not fit the state is refused with a sentence`() throws {
        try self.gateway.publish(scripted("b1", [("a", 10)], duration: 10), in: .seconds(100))
        let refused: [(() throws -> Void, String)] = [
            ({ try self.gateway.publish(scripted("b1", [("a", 1)])) }, "exists already"),
            ({ try self.gateway.publish(scripted("b2", [("a", 1)]), in: .seconds(105)) }, "holds part of that time"),
            ({ try self.gateway.punch("b1") }, "only a cued break is punched"),
            ({ try self.gateway.end("b1") }, "cancel it instead"),
            ({ try self.gateway.end("b1", in: .seconds(200)) }, "update its duration to make it longer"),
            ({ try self.gateway.update("b9", duration: .seconds(1)) }, "There is no break b9"),
            ({ try self.gateway.update("b1", startIn: .seconds(-50)) }, "is over: it is"),
            ({ try self.gateway.publish(scripted("b2", [("a", 1)]), in: .seconds(21_601)) }, "startAheadMax"),
        ]
        for (body, rule) in refused {
            let sentence = self.refusal(body)
            #expect(sentence?.contains(rule) == true, "\(sentence ?? "taken")")
        }
        try self.gateway.cue(scripted("c1", [("a", 1)]))
        #expect(self.refusal { try self.gateway.end("c1") }?.contains("has not started") == true)
        #expect(self.refusal { try self.gateway.update("c1", startIn: .zero) }?.contains("punch it") == true)
        try self.gateway.cancel("b1")
        #expect(
            self.refusal { try self.gateway.update("b1", duration: .seconds(5)) }?.contains("cannot change") == true
        )
        try self.gateway.publish(scripted("b3", [("a", 1)]), in: .seconds(-2))
        #expect(self.refusal { try self.gateway.cancel("b3") }?.contains("is over") == true)
    }

    @Test func `a break lasts as long as its advertisements, or until it is ended`() throws {
        try self.gateway.publish(scripted("b1", [("a", 10), ("b", 10)]))
        try self.gateway.publish(scripted("b2", [("a", 10)]), in: .seconds(21))
        var open = scripted("b3", [("a", 10)])
        open.isOpenEnded = true
        try self.gateway.publish(open, in: .seconds(40))
        let sentence = self.refusal { try self.gateway.publish(scripted("b4", [("a", 10)]), in: .seconds(330)) }
        #expect(sentence?.hasPrefix("The break b3 holds part of that time: from ") == true)
        try self.gateway.publish(scripted("b4", [("a", 10)]), in: .seconds(341))
    }

    @Test func `one who comes late gets what is left`() throws {
        let listener = try RawListener(self.gateway)
        try self.gateway.publish(scripted("b1", [("a", 10), ("b", 10), ("c", 10)]), in: .seconds(-15))
        #expect(try listener.batch("b1").advertisements.map(\.id.description) == ["b", "c"])
        var exact = scripted("b2", [("a", 10), ("b", 10), ("c", 10)], duration: 40)
        exact.isExact = true
        try self.gateway.publish(exact, in: .seconds(-325))
        #expect(try listener.batch("b2", delay: 300).advertisements.map(\.id.description) == ["c"])
        #expect(try listener.batch("b2", delay: 325).advertisements.map(\.id.description) == ["a", "b", "c"])
        #expect(throws: Refusal.self) { try listener.batch("b2") }
        #expect(throws: Refusal.self) { try listener.batch("b9") }
    }

    @Test func `the first outcome stands, repeats are counted`() throws {
        let listener = try RawListener(self.gateway)
        try self.gateway.publish(scripted("b1", [("a", 10)]))
        let delivery = try listener.batch("b1").delivery
        #expect(try listener.acknowledge("b1", "a", .played, delivery) == .acknowledged(recorded: 1))
        #expect(try listener.acknowledge("b1", "a", .failed, delivery) == .acknowledged(recorded: 1))
        #expect(self.gateway.outcomes.map(\.result) == [.played])
        #expect(self.gateway.repeatedOutcomes == 1)
    }

    @Test func `an outcome happened between the announcement and now, as at a gateway`() throws {
        let listener = try RawListener(self.gateway)
        try self.gateway.publish(scripted("b1", [("a", 10)]))
        let delivery = try listener.batch("b1").delivery
        for after in [-60, 60] as [Int] {
            let told = try listener.acknowledge("b1", "a", .played, delivery, after: .seconds(after))
            guard case .refused(let refusal) = told else {
                Issue.record("\(after) s from now was taken")
                continue
            }
            #expect(refusal.status == .invalid)
            #expect(refusal.sentence.hasPrefix("occurred_us of a is more than 10 s"))
        }
        #expect(try listener.acknowledge("b1", "a", .played, delivery) == .acknowledged(recorded: 1))
    }

    @Test func `outcomes of others, of no batch and of unknown advertisements are refused`() throws {
        let listener = try RawListener(self.gateway)
        let other = try RawListener(self.gateway)
        try self.gateway.publish(scripted("b1", [("a", 10)]))
        let delivery = try listener.batch("b1").delivery
        func status(_ body: ListenerReply.Body) -> StatusCode? {
            if case .refused(let refusal) = body { refusal.status } else { nil }
        }
        #expect(try status(other.acknowledge("b1", "a", .played, delivery)) == .deliveryInvalid)
        #expect(try status(listener.acknowledge("b1", "a", .played, [1, 2])) == .deliveryInvalid)
        #expect(try status(listener.acknowledge("b1", "x", .played, delivery)) == .notFound)
        #expect(try status(listener.acknowledge("b1", "a", .played, delivery, times: 2)) == .invalid)
        #expect(self.gateway.outcomes.isEmpty)
    }

    @Test func `unreadable bytes are refused, and not counted as a request`() throws {
        let listener = try RawListener(self.gateway)
        guard case .refused = try listener.send([0xFF]) else {
            Issue.record("it was taken")
            return
        }
        #expect(self.gateway.requests.isEmpty)
    }
}

/// A listener without the client library: it sends frames and reads frames.
final class RawListener: Sendable {
    private let session = SessionID.random()
    private let replies = Mutex<[[UInt8]]>([])
    private let connection = Mutex<(any ListenerConnection)?>(nil)
    /// The gateway's time in the last reply.
    private let clock = Mutex(Timestamp(microseconds: 0))

    init(_ gateway: ScriptedGateway) throws {
        let connection = gateway.connect(to: GatewayAddress(host: "")) { [weak self] event in
            if case .reply(let frame) = event { self?.replies.withLock { $0.append(frame) } }
        }
        self.connection.withLock { $0 = connection }
    }

    deinit { self.connection.withLock { $0 }?.close() }

    func send(_ frame: [UInt8]) throws -> ListenerReply.Body {
        self.connection.withLock { $0 }?.send(frame)
        let reply = try #require(self.replies.withLock { $0.popLast() })
        let decoded = try ListenerReply(decoding: reply)
        self.clock.withLock { $0 = decoded.gatewayTime }
        return decoded.body
    }

    func batch(_ id: String, delay: Double = 0) throws -> ListenerReply.Batch {
        let key = try BreakKey(stream: StreamID("radio1"), id: BreakID(id))
        let get = ListenerRequest.GetBatch(key: key, delay: ListenerDelay(now: .seconds(delay)))
        switch try self.send(ListenerRequest(id: 1, session: self.session, kind: .getBatch(get)).encoded()) {
        case .batch(let batch): return batch
        case .refused(let refusal): throw refusal
        default: throw Refusal(.invalid, "another answer")
        }
    }

    func acknowledge(
        _ id: String,
        _ ad: String,
        _ kind: Outcome.Kind,
        _ delivery: [UInt8],
        times: Int = 1,
        after: Duration = .zero
    ) throws -> ListenerReply.Body {
        _ = try self.send(ListenerRequest(id: 3, session: self.session, kind: .getTime).encoded())
        let now = self.clock.withLock { $0 }
        let outcome = Outcome(
            advertisementID: try AdvertisementID(ad),
            kind: kind,
            occurred: now + after
        )
        let told = ListenerRequest.Acknowledge(
            key: try BreakKey(stream: StreamID("radio1"), id: BreakID(id)),
            delivery: delivery,
            outcomes: Array(repeating: outcome, count: times)
        )
        return try self.send(ListenerRequest(id: 2, session: self.session, kind: .acknowledge(told)).encoded())
    }
}
