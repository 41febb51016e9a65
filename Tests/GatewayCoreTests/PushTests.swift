// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The decisions of joins and leaves about notices on their connection.
@Suite(.suiteLimit)
struct PushTests {
    private let session = Sample.session()
    private let other = Sample.session(2)

    private func join(
        push: Bool = true,
        stream: StreamID = Sample.stream,
        last: Position? = nil
    ) -> ListenerRequest.Kind {
        .join(.init(stream: stream, last: last, instance: 0, push: push))
    }

    private func head(_ sequence: UInt64) -> Position { Position(epoch: Sample.epoch, sequence: sequence) }

    /// A counter whose connection has the notices of `session`, with `b1` announced.
    private func taken() -> Counter {
        var counter = Counter()
        _ = counter.desk.ask(.publish(Sample.publish()), at: 0)
        counter.desk.tick(at: 12)
        counter.push = .taken(session: self.session, stream: Sample.stream)
        return counter
    }

    @Test func `a join on a free connection gets each notice above its head`() throws {
        var counter = self.taken()
        counter.push = .free
        let joined = try #require(try counter.ask(self.join(), at: 13).joined)
        #expect(joined.pushed)
        #expect(joined.head == self.head(1))
        #expect(joined.headInterval == .seconds(15), "three times that of subscribers")
        let change = counter.takePushChange()
        #expect(change == .begins(session: self.session, stream: Sample.stream, after: self.head(1)))
        #expect(counter.takePushChange() == nil)
        #expect(counter.handler.leases.count == 1)
    }

    @Test func `a join without push gets no pushed notices, whatever the connection can`() throws {
        for place in [PushPlace.none, .impossible, .free] {
            var counter = Counter()
            counter.push = place
            #expect(try counter.ask(self.join(push: false), at: 0).joined?.pushed == false)
            #expect(counter.takePushChange() == nil)
        }
    }

    @Test func `a transport that cannot push answers so, and the listener has joined`() throws {
        var counter = Counter()
        #expect(try counter.ask(self.join(), at: 0).joined?.pushed == false)
        #expect(counter.takePushChange() == nil)
        #expect(counter.handler.leases.count == 1)
    }

    @Test func `a peer that takes nothing but answers is refused with a way out`() throws {
        var counter = Counter()
        counter.push = .impossible
        let refusal = try counter.ask(self.join(), at: 0).refusal
        #expect(refusal == Refusal(.invalid, "A REQ socket cannot take notices; use a DEALER, or subscribe."))
        #expect(counter.takePushChange() == nil)
        #expect(counter.handler.leases.count == 0)
        #expect(counter.metrics.value(.refusals, .status(.invalid)) == 1)
    }

    @Test(arguments: [true, false])
    func `another session does not join where notices are pushed to one`(push: Bool) throws {
        var counter = self.taken()
        let refusal = try counter.ask(self.join(push: push), by: self.other, at: 13).refusal
        #expect(refusal?.status == .invalid)
        #expect(refusal?.sentence == "This connection has the notices of another session; use another connection.")
        #expect(counter.takePushChange() == nil)
        #expect(counter.handler.leases.count == 0)
    }

    @Test(arguments: [true, false])
    func `another stream is not joined where one is pushed`(push: Bool) throws {
        var counter = self.taken()
        _ = try counter.ask(self.join(), at: 13)
        _ = counter.takePushChange()
        let elsewhere = Sample.stream("elsewhere")
        let refusal = try counter.ask(self.join(push: push, stream: elsewhere), at: 13).refusal
        #expect(refusal?.status == .invalid)
        #expect(refusal?.sentence.contains("\(Sample.stream)") == true)
        #expect(counter.takePushChange() == nil)
        // What is refused changes nothing: the session listens to what it listened to.
        #expect(counter.handler.leases.count(of: Sample.stream) == 1)
        #expect(counter.handler.leases.count(of: elsewhere) == 0)
    }

    @Test func `joining again is answered as ever, and goes on from the new head`() throws {
        var counter = self.taken()
        let joined = try #require(try counter.ask(self.join(last: self.head(0)), at: 13).joined)
        #expect(joined.pushed)
        #expect(joined.kind == .recovered)
        #expect(joined.notices.map(\.position.sequence) == [1])
        let change = counter.takePushChange()
        #expect(change == .begins(session: self.session, stream: Sample.stream, after: self.head(1)))
        _ = counter.desk.ask(.cancel(Sample.key("b1")), at: 14)
        _ = try counter.ask(self.join(last: self.head(1)), at: 15)
        let again = counter.takePushChange()
        #expect(again == .begins(session: self.session, stream: Sample.stream, after: self.head(2)))
    }

    @Test func `the same session that joins without asking ends it`() throws {
        var counter = self.taken()
        #expect(try counter.ask(self.join(push: false), at: 13).joined?.pushed == false)
        #expect(counter.takePushChange() == .ends)
        #expect(counter.handler.leases.count == 1)
    }

    @Test func `the session that leaves ends it, another one does not`() throws {
        var counter = self.taken()
        #expect(try counter.ask(.leave(Sample.stream), by: self.other, at: 13).body == .done)
        #expect(counter.takePushChange() == nil)
        #expect(try counter.ask(.leave(Sample.stream), at: 13).body == .done)
        #expect(counter.takePushChange() == .ends)
        counter.push = .free
        #expect(try counter.ask(.leave(Sample.stream), at: 13).body == .done)
        #expect(counter.takePushChange() == nil)
    }

    @Test func `a join that a limit or a stop refuses changes nothing`() throws {
        var counter = Counter { $0.listenersMax = 1 }
        counter.push = .free
        _ = try counter.ask(self.join(), by: self.other, at: 0)
        _ = counter.takePushChange()
        #expect(try counter.ask(self.join(), at: 0).refusal?.status == .limitReached)
        #expect(counter.takePushChange() == nil)
        counter.handler.isDraining = true
        #expect(try counter.ask(self.join(), by: self.other, at: 0).refusal?.status == .draining)
        #expect(counter.takePushChange() == nil)
    }

    @Test func `other requests change nothing, and none reports what an earlier one changed`() throws {
        var counter = self.taken()
        _ = try counter.ask(self.join(), at: 13)
        // It was not taken: it belongs to the join, not to later requests.
        _ = try counter.ask(.getTime, at: 13)
        #expect(counter.takePushChange() == nil)
        let batch = try #require(try counter.batch(at: 13).batch)
        #expect(try counter.acknowledge([Counter.played(at: 13)], delivery: batch.delivery, at: 13).deferred != nil)
        #expect(counter.takePushChange() == nil)
    }

    @Test func `a lease that ends leaves notices to the connection, and joining again counts it anew`() throws {
        var counter = self.taken()
        _ = try counter.ask(self.join(), at: 13)
        _ = counter.takePushChange()
        counter.handler.expireLeases(at: Sample.at(13 + 301))
        #expect(counter.handler.leases.count == 0)
        #expect(counter.takePushChange() == nil)
        #expect(try counter.ask(self.join(last: self.head(1)), at: 400).joined?.pushed == true)
        #expect(counter.handler.leases.count == 1)
    }
}
