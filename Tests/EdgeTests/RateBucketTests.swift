// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SystemSupport
import Testing

@testable import Edge

/// How much one connection, one address and all together may take, by a clock of the test.
@Suite(.suiteLimit)
struct RateBucketTests {
    private static let second: UInt64 = 1_000_000_000

    /// How many may be had at an instant.
    private func take(_ bucket: inout RateBucket, _ limit: RateBucket.Limit, at now: UInt64) -> Int {
        var count = 0
        while bucket.hasOne(of: limit, at: now), count < 100_000 {
            bucket.takeOne(of: limit, at: now)
            count += 1
        }
        return count
    }

    private func take(_ bucket: SharedRateBucket, at now: UInt64) -> Int {
        var count = 0
        while bucket.hasOne(at: now), count < 100_000 {
            bucket.takeOne(at: now)
            count += 1
        }
        return count
    }

    @Test func `twice as many as in a second at once, then as many a second`() {
        let limit = RateBucket.Limit.rate(10)
        var bucket = RateBucket()
        #expect(self.take(&bucket, limit, at: 0) == 20)
        #expect(self.take(&bucket, limit, at: Self.second) == 10)
        #expect(self.take(&bucket, limit, at: Self.second) == 0)
        #expect(self.take(&bucket, limit, at: 1_000 * Self.second) == 20, "what is not used is not saved up")
        #expect(self.take(&bucket, limit, at: 999 * Self.second) == 0, "a clock that goes back gives nothing")
    }

    @Test func `as many at once as are said, and not one more`() {
        let limit = RateBucket.Limit.rate(
            EdgeSettings.lightMessagesPerSecondMax,
            atOnce: EdgeSettings.lightMessagesAtOnceMax
        )
        var bucket = RateBucket()
        #expect(self.take(&bucket, limit, at: 0) == EdgeSettings.lightMessagesAtOnceMax)
        #expect(self.take(&bucket, limit, at: Self.second / UInt64(EdgeSettings.lightMessagesPerSecondMax)) == 1)
        #expect(self.take(&bucket, limit, at: 10 * Self.second) == EdgeSettings.lightMessagesAtOnceMax)
        var endless = RateBucket()
        #expect(self.take(&endless, .rate(0, atOnce: 8), at: 0) == 100_000)
    }

    @Test func `so many within a time, and none means no limit`() {
        let limit = RateBucket.Limit.count(100, within: .seconds(300))
        var bucket = RateBucket()
        #expect(self.take(&bucket, limit, at: 0) == 100)
        #expect(self.take(&bucket, limit, at: 3 * Self.second) == 1)
        #expect(self.take(&bucket, limit, at: 303 * Self.second) == 100)
        let none = RateBucket.Limit.rate(0)
        var endless = RateBucket()
        #expect(self.take(&endless, none, at: 0) == 100_000)
        #expect(self.take(SharedRateBucket(none), at: 0) == 100_000)
    }

    @Test func `an overdraft of a bucket is paid back`() {
        let limit = RateBucket.Limit.rate(10)
        var bucket = RateBucket()
        for _ in 0..<25 { bucket.takeOne(of: limit, at: 0) }
        #expect(!bucket.hasOne(of: limit, at: Self.second / 2))
        #expect(self.take(&bucket, limit, at: Self.second) == 5)
    }

    @Test func `several threads that take from one bucket get no more than one would`() async {
        let bucket = SharedRateBucket(.count(10_000, within: .seconds(1_000_000)))
        let taken = await withTaskGroup(of: Int.self) { tasks in
            for _ in 0..<4 {
                tasks.addTask {
                    var count = 0
                    while bucket.hasOne(at: 0) {
                        bucket.takeOne(at: 0)
                        count += 1
                    }
                    return count
                }
            }
            return await tasks.reduce(0, +)
        }
        // Who finds that there is one and takes it may do so at the same time as the others: that is paid back.
        #expect((10_000...10_003).contains(taken))
        #expect(self.take(bucket, at: 3 * 100 * Self.second) <= 3)
    }

    @Test func `an address that comes again has what it had left, until it has been gone for long`() throws {
        let (messages, sessions) = (RateBucket.Limit.rate(10), RateBucket.Limit.count(2, within: .seconds(300)))
        var addresses = EdgeAddresses(messages: messages, sessions: sessions, memory: .seconds(300))
        let address = PeerAddress(ipv4: 0xC000_0207)
        func admit(_ address: PeerAddress) -> EdgeAddress? {
            addresses.admit(address, connectionsMax: 2)
        }
        let first = try #require(admit(address))
        #expect(admit(address) === first)
        #expect(admit(address) == nil)
        #expect(admit(PeerAddress(ipv4: 1)) != nil)
        #expect(self.take(first.sessions, at: 0) == 2)
        addresses.leave(address, at: 0)
        addresses.leave(address, at: 0)
        addresses.forgetOld(at: 299 * Self.second)
        let again = try #require(admit(address))
        #expect(self.take(again.sessions, at: Self.second) == 0)
        addresses.leave(address, at: Self.second)
        addresses.forgetOld(at: 301 * Self.second)
        #expect(addresses.count == 1)
        let later = try #require(admit(address))
        #expect(self.take(later.sessions, at: 301 * Self.second) == 2)
    }

    @Test func `as many addresses that have gone are remembered as may be, one more lets all of them go`() throws {
        let limit = RateBucket.Limit.rate(10)
        var addresses = EdgeAddresses(messages: limit, sessions: limit, memory: .seconds(300))
        func comeAndGo(_ number: UInt32) {
            _ = addresses.admit(PeerAddress(ipv4: number), connectionsMax: 0)
            addresses.leave(PeerAddress(ipv4: number), at: 0)
        }
        for number in 0..<EdgeAddresses.goneMax { comeAndGo(UInt32(number)) }
        #expect(addresses.count == EdgeAddresses.goneMax)
        _ = addresses.admit(PeerAddress(ipv4: .max), connectionsMax: 0)
        comeAndGo(.max - 1)
        #expect(addresses.count == 1)
        #expect(addresses.connectionCount(of: PeerAddress(ipv4: .max)) == 1)
    }
}
