// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The listening sessions, the length of their leases, and the limits of their requests.
@Suite(.suiteLimit)
struct LeaseTests {
    private let other = Sample.stream("radio10")

    private func leases(_ listenersMax: Int = 10, rate: Double = 0) -> Leases {
        Leases(length: .seconds(300), listenersMax: listenersMax, requestsPerSecondMax: rate)
    }

    @Test func `a session counts from its first request until its lease is over`() {
        var leases = self.leases()
        #expect(leases.renew(Sample.session(), stream: Sample.stream, at: Sample.at(0)).isGiven)
        #expect(leases.count == 1)
        #expect(leases.count(of: Sample.stream) == 1)
        leases.expire(at: Sample.at(299.999_999))
        #expect(leases.count == 1)
        leases.expire(at: Sample.at(300))
        #expect(leases.count == 0)
        #expect(leases.count(of: Sample.stream) == 0)
        #expect(leases.countsByStream == [:])
    }

    /// The owner of sessions with the subject of a token.
    private func owner(_ subject: String, most: UInt32 = 1) throws -> LeaseOwner {
        let ticket = SessionTicket(
            session: Sample.session(),
            stream: Sample.stream,
            subject: subject,
            sessionsMax: most
        )
        return try #require(LeaseOwner(ticket))
    }

    @Test func `a session without a subject counts for one from its token on, and then for the next`() throws {
        var leases = self.leases()
        let (one, two) = (try self.owner("one"), try self.owner("two"))
        func renew(_ number: UInt64, _ owner: LeaseOwner?, at second: Double = 0) -> LeaseRenewal {
            leases.renew(Sample.session(number), stream: Sample.stream, owner: owner, at: Sample.at(second))
        }
        #expect(renew(1, one) == .begun)
        // Without a token it listens to another stream first: that lease gives no way around the limit.
        #expect(leases.renew(Sample.session(2), stream: self.other, at: Sample.at(0)) == .begun)
        #expect(renew(2, one) == .ownerFull)
        #expect(leases.count(of: self.other) == 1, "a refusal changes nothing")
        #expect(renew(2, two) == .renewed && renew(3, two) == .ownerFull)
        #expect(renew(2, two) == .renewed, "it is counted once")
        // Nor does the lease of another subject.
        #expect(renew(2, one) == .ownerFull)
        leases.end(Sample.session(1))
        #expect(renew(2, one) == .renewed)
        #expect(renew(3, two) == .begun, "the other one's place is free")
        #expect(renew(4, one, at: 299) == .ownerFull)
        #expect(renew(4, one, at: 300) == .begun, "those without renewal are over")
    }

    @Test func `the room of many sessions is given back when few are left, and those go on`() {
        var leases = self.leases(20_000)
        for number in 0..<10_000 as Range<UInt64> {
            _ = leases.renew(Sample.session(number), stream: Sample.stream, at: Sample.at(0))
        }
        #expect(leases.capacity >= 10_000)
        for number in 0..<10 as Range<UInt64> { _ = leases.allows(Sample.session(number), at: Sample.at(200)) }
        leases.expire(at: Sample.at(300))
        #expect(leases.count == 10 && leases.capacity < 100 && leases.endCount == 10)
        leases.expire(at: Sample.at(499.999_999))
        #expect(leases.count == 10)
        leases.expire(at: Sample.at(500))
        #expect(leases.count == 0 && leases.endCount == 0)
    }

    @Test func `any request renews it`() {
        var leases = self.leases()
        _ = leases.renew(Sample.session(1), stream: Sample.stream, at: Sample.at(0))
        _ = leases.renew(Sample.session(2), stream: Sample.stream, at: Sample.at(0))
        #expect(leases.allows(Sample.session(1), at: Sample.at(100)) == true)
        #expect(leases.renew(Sample.session(2), stream: Sample.stream, at: Sample.at(200)).isGiven)
        leases.expire(at: Sample.at(399.999_999))
        #expect(leases.count == 2)
        leases.expire(at: Sample.at(400))
        #expect(leases.count == 1)
        leases.expire(at: Sample.at(500))
        #expect(leases.count == 0)
    }

    @Test func `a lease ends in time, whenever others were renewed`() {
        var generator = SeededGenerator(for: #function)
        var leases = self.leases(1_000)
        var expected: [SessionID: Timestamp] = [:]
        // Whole milliseconds: a sum of fractions would miss the instant at which a lease ends.
        var now = Sample.at(0)
        for _ in 0..<2_000 {
            now = now + .milliseconds(generator.number(0...5_000))
            let session = Sample.session(generator.number(0...200))
            _ = leases.renew(session, stream: generator.pick([Sample.stream, self.other]), at: now)
            expected[session] = now + .seconds(300)
            leases.expire(at: now)
            expected = expected.filter { $0.value > now }
            guard leases.count == expected.count else {
                Issue.record("CUECAST_SEED=\(SeededGenerator.seed) at \(now): \(leases.count) of \(expected.count)")
                return
            }
        }
        #expect(leases.countsByStream.values.reduce(0, +) == expected.count)
    }

    @Test func `a session that listens to something else counts there`() {
        var leases = self.leases()
        _ = leases.renew(Sample.session(), stream: Sample.stream, at: Sample.at(0))
        _ = leases.renew(Sample.session(), stream: self.other, at: Sample.at(1))
        #expect(leases.count == 1)
        #expect(leases.countsByStream == [self.other: 1])
    }

    @Test func `a session that leaves is gone at once`() {
        var leases = self.leases()
        _ = leases.renew(Sample.session(), stream: Sample.stream, at: Sample.at(0))
        leases.end(Sample.session())
        leases.end(Sample.session(9))
        #expect(leases.count == 0)
        #expect(leases.countsByStream == [:])
        _ = leases.renew(Sample.session(), stream: Sample.stream, at: Sample.at(200))
        leases.expire(at: Sample.at(300))
        #expect(leases.count == 1, "the end of its first lease is not the end of its second")
    }

    @Test func `a session that leaves another stream still listens`() {
        var leases = self.leases()
        _ = leases.renew(Sample.session(), stream: self.other, at: Sample.at(0))
        leases.end(Sample.session(), on: Sample.stream)
        #expect(leases.countsByStream == [self.other: 1])
        leases.end(Sample.session(), on: self.other)
        #expect(leases.count == 0)
    }

    @Test func `there are at most so many sessions, and who is over makes room`() {
        var leases = self.leases(3)
        for number in 1...3 as ClosedRange<UInt64> {
            #expect(leases.renew(Sample.session(number), stream: Sample.stream, at: Sample.at(Double(number))).isGiven)
        }
        #expect(leases.renew(Sample.session(4), stream: Sample.stream, at: Sample.at(4)) == .full)
        #expect(leases.renew(Sample.session(1), stream: Sample.stream, at: Sample.at(4)).isGiven, "it listens already")
        #expect(leases.renew(Sample.session(4), stream: Sample.stream, at: Sample.at(301.999_999)) == .full)
        #expect(leases.renew(Sample.session(4), stream: Sample.stream, at: Sample.at(302)).isGiven)
        #expect(leases.count == 3)
        leases.end(Sample.session(1))
        #expect(leases.renew(Sample.session(5), stream: Sample.stream, at: Sample.at(302)).isGiven)
        #expect(leases.count == 3)
    }

    @Test(arguments: [1.0, 5, 1_000])
    func `a session may ask so often, and twice as often at once`(rate: Double) {
        var leases = self.leases(rate: rate)
        _ = leases.renew(Sample.session(), stream: Sample.stream, at: Sample.at(0))
        for number in 0..<Int(2 * rate) {
            #expect(leases.allows(Sample.session(), at: Sample.at(0)) == true, "\(number)")
        }
        #expect(leases.allows(Sample.session(), at: Sample.at(0)) == false)
        #expect(leases.allows(Sample.session(), at: Sample.at(0.999 / rate)) == false)
        #expect(leases.allows(Sample.session(), at: Sample.at(1.001 / rate)) == true)
        #expect(leases.allows(Sample.session(), at: Sample.at(1.001 / rate)) == false)
        // A long rest does not save up more than that.
        for number in 0..<Int(2 * rate) {
            #expect(leases.allows(Sample.session(), at: Sample.at(200)) == true, "\(number)")
        }
        #expect(leases.allows(Sample.session(), at: Sample.at(200)) == false)
        #expect(leases.allows(Sample.session(2), at: Sample.at(200)) == true, "another session has its own allowance")
    }

    @Test func `a rate below one request a second lets requests through all the same`() {
        var leases = self.leases(rate: 0.25)
        _ = leases.renew(Sample.session(), stream: Sample.stream, at: Sample.at(0))
        #expect(leases.allows(Sample.session(), at: Sample.at(0)) == true)
        #expect(leases.allows(Sample.session(), at: Sample.at(3.9)) == false)
        #expect(leases.allows(Sample.session(), at: Sample.at(8)) == true)
    }

    @Test func `no rate is no limit, and a clock that goes back gives nothing`() {
        var free = self.leases(rate: 0)
        _ = free.renew(Sample.session(), stream: Sample.stream, at: Sample.at(0))
        for _ in 0..<5_000 { #expect(free.allows(Sample.session(), at: Sample.at(0)) == true) }
        var leases = self.leases(rate: 1)
        _ = leases.renew(Sample.session(), stream: Sample.stream, at: Sample.at(100))
        #expect(leases.allows(Sample.session(), at: Sample.at(50)) == true)
        #expect(leases.allows(Sample.session(), at: Sample.at(20)) == true)
        #expect(leases.allows(Sample.session(), at: Sample.at(10)) == false)
        #expect(leases.allows(Sample.session(), at: Timestamp(microseconds: .min)) == false)
    }

    @Test func `sessions that come and go leave no more behind than there is room for`() {
        var leases = self.leases(100)
        for number in 0..<20_000 as Range<UInt64> {
            let now = Sample.at(Double(number) / 1_000)
            #expect(leases.renew(Sample.session(number), stream: Sample.stream, at: now).isGiven)
            if number >= 50 { leases.end(Sample.session(number - 50)) }
        }
        #expect(leases.count == 50)
        #expect(leases.endCount <= 2 * 50 + 1_024)
        leases.expire(at: Sample.at(400))
        #expect(leases.count == 0)
        #expect(leases.endCount == 0)
    }
}
