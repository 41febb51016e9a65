// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Requests of listeners whom another gateway has told more than this one knows.
@Suite(.suiteLimit)
struct CatchUpTests {
    /// A gateway that shares its log, with a break `b1` that was announced.
    private func counter(sharesLog: Bool = true) -> Counter {
        var counter = Counter()
        counter.handler.waitsForLog = sharesLog
        _ = counter.desk.ask(.publish(Sample.publish()), at: 0)
        counter.desk.tick(at: 12)
        return counter
    }

    private func word(_ got: Counter.Got) -> String {
        switch got {
        case .afterCatchUp: "waits"
        case .afterToken: "token"
        case .later: "later"
        case .reply(let reply):
            if case .refused(let refusal) = reply.body { refusal.status.name } else { "reply" }
        }
    }

    private func join(_ sequence: UInt64, epoch: UInt64 = Sample.epoch) -> ListenerRequest.Kind {
        .join(.init(stream: Sample.stream, last: Position(epoch: epoch, sequence: sequence), instance: 0))
    }

    private func batch(_ id: String) -> ListenerRequest.Kind { .getBatch(.init(key: Sample.key(id))) }

    private func acknowledgement(of id: String) throws -> ListenerRequest.Kind {
        let outcome = Outcome(
            advertisementID: Sample.advertisements()[0].id,
            kind: .played,
            evidence: .reported,
            heard: .seconds(1),
            occurred: Sample.at(20)
        )
        return .acknowledge(.init(key: Sample.key(id), delivery: [1, 2, 3], outcomes: [outcome]))
    }

    @Test func `what names more than the board has waits, and nothing else does`() throws {
        var counter = self.counter()
        let cases: [(ListenerRequest.Kind, String)] = [
            (self.join(0), "reply"), (self.join(1), "reply"), (self.join(2), "waits"),
            (self.join(2, epoch: Sample.epoch + 1), "reply"), (self.batch("b1"), "reply"), (self.batch("b2"), "waits"),
            (try self.acknowledgement(of: "b1"), "DELIVERY_INVALID"), (try self.acknowledgement(of: "b2"), "waits"),
            (.getTime, "reply"), (.leave(Sample.stream), "reply"),
        ]
        for (kind, word) in cases { #expect(self.word(try counter.ask(kind, at: 13)) == word, "\(kind)") }
    }

    @Test func `a gateway that has its log for itself lets no request wait`() throws {
        var counter = self.counter(sharesLog: false)
        #expect(self.word(try counter.ask(self.join(2), at: 13)) == "reply")
        #expect(self.word(try counter.ask(self.batch("b2"), at: 13)) == "NOT_FOUND")
        #expect(self.word(try counter.ask(self.acknowledgement(of: "b2"), at: 13)) == "NOT_FOUND")
    }

    @Test func `a break that is planned here may be announced elsewhere, and one that is withdrawn is not`() throws {
        var counter = self.counter()
        _ = counter.desk.ask(.publish(Sample.publish("b2", start: .after(.seconds(100)))), at: 12)
        #expect(self.word(try counter.ask(self.batch("b2"), at: 13)) == "waits")
        // Also where the request is read in place, as one that comes again is.
        #expect(self.word(try counter.ask(self.batch("b2"), at: 13)) == "waits")
        _ = counter.desk.ask(.cancel(Sample.key("b2")), at: 14)
        #expect(self.word(try counter.ask(self.batch("b2"), at: 15)) == "NOT_FOUND")
    }

    @Test func `when the board has caught up, what it does not know does not exist`() throws {
        var counter = self.counter()
        let request = ListenerRequest(id: 9, session: Sample.session(), kind: self.batch("b2")).encoded()
        let peer = PeerFacts(transport: "test")
        guard case .afterCatchUp = counter.handler.handle(request, from: peer, at: Sample.at(13)).answer else {
            Issue.record("it does not wait")
            return
        }
        let counted = counter.metrics.value(.listenerRequests, .batch)
        guard case .now(let refused) = counter.handler.handleCaughtUp(request, from: peer, at: Sample.at(13)).answer,
            case .refused(let refusal) = try ListenerReply(decoding: refused.frame).body
        else {
            Issue.record("it is not refused")
            return
        }
        #expect(refusal.status == .notFound)

        _ = counter.desk.ask(.publish(Sample.publish("b2", start: .after(.seconds(100)))), at: 13)
        counter.desk.tick(at: 110)
        counter.handler.board = counter.desk.board
        guard case .now(let answer) = counter.handler.handleCaughtUp(request, from: peer, at: Sample.at(110)).answer
        else {
            Issue.record("it waits")
            return
        }
        let reply = try ListenerReply(decoding: answer.frame)
        #expect(reply.requestID == 9)
        guard case .batch = reply.body else {
            Issue.record("it is no batch: \(reply.body)")
            return
        }
        #expect(counter.metrics.value(.listenerRequests, .batch) == counted, "it is one request")
    }

    @Test func `where the board does not catch up in time, the refusal says to ask again`() throws {
        let counter = self.counter()
        let request = ListenerRequest(id: 9, session: Sample.session(), kind: self.batch("b2")).encoded()
        let reply = try ListenerReply(decoding: counter.handler.refuseBehind(request, at: Sample.at(13)).frame)
        guard case .refused(let refusal) = reply.body else {
            Issue.record("it is not refused")
            return
        }
        #expect(reply.requestID == 9 && refusal.status == .unavailable && refusal.retryAfter == .seconds(1))
    }
}
