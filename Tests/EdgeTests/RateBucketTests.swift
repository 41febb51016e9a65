// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import NetworkIO
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
            bucket.takeOne()
            count += 1
        }
        return count
    }

    @Test func `twice as many as in a second at once, then as many a second`() {
        let limit = RateBucket.Limit.rate(10)
        var bucket = RateBucket(limit, at: 0)
        #expect(self.take(&bucket, limit, at: 0) == 20)
        #expect(self.take(&bucket, limit, at: Self.second) == 10)
        #expect(self.take(&bucket, limit, at: Self.second) == 0)
        #expect(self.take(&bucket, limit, at: 1_000 * Self.second) == 20, "what is not used is not saved up")
        #expect(self.take(&bucket, limit, at: 999 * Self.second) == 0, "a clock that goes back gives nothing")
    }

    @Test func `so many within a time, and none means no limit`() {
        let limit = RateBucket.Limit.count(100, within: .seconds(300))
        var bucket = RateBucket(limit, at: 0)
        #expect(self.take(&bucket, limit, at: 0) == 100)
        #expect(self.take(&bucket, limit, at: 3 * Self.second) == 1)
        #expect(self.take(&bucket, limit, at: 303 * Self.second) == 100)
        let none = RateBucket.Limit.rate(0)
        var endless = RateBucket(none, at: 0)
        #expect(self.take(&endless, none, at: 0) == 100_000)
    }

    @Test func `an address that comes again has what it had left, until it has been gone for long`() throws {
        let (messages, sessions) = (RateBucket.Limit.rate(10), RateBucket.Limit.count(2, within: .seconds(300)))
        var addresses = EdgeAddresses(messages: messages, sessions: sessions, memory: .seconds(300))
        let address = PeerAddress(ipv4: 0xC000_0207)
        func admit(_ address: PeerAddress, at now: UInt64) -> EdgeAddress? {
            addresses.admit(address, connectionsMax: 2, at: now)
        }
        let first = try #require(admit(address, at: 0))
        #expect(admit(address, at: 0) === first)
        #expect(admit(address, at: 0) == nil)
        #expect(admit(PeerAddress(ipv4: 1), at: 0) != nil)
        #expect(self.take(&first.sessions, sessions, at: 0) == 2)
        addresses.leave(address, first, at: 0)
        addresses.leave(address, first, at: 0)
        addresses.forgetOld(at: 299 * Self.second)
        let again = try #require(admit(address, at: Self.second))
        #expect(self.take(&again.sessions, sessions, at: Self.second) == 0)
        addresses.leave(address, again, at: Self.second)
        addresses.forgetOld(at: 301 * Self.second)
        #expect(addresses.count == 1)
        let later = try #require(admit(address, at: 301 * Self.second))
        #expect(self.take(&later.sessions, sessions, at: 301 * Self.second) == 2)
    }

    @Test func `as many addresses that have gone are remembered as may be, one more lets all of them go`() throws {
        let limit = RateBucket.Limit.rate(10)
        var addresses = EdgeAddresses(messages: limit, sessions: limit, memory: .seconds(300))
        func come(_ number: UInt32) throws -> EdgeAddress {
            let known = addresses.admit(PeerAddress(ipv4: number), connectionsMax: 0, at: 0)
            return try #require(known)
        }
        func comeAndGo(_ number: UInt32) throws {
            let known = try come(number)
            addresses.leave(PeerAddress(ipv4: number), known, at: 0)
        }
        for number in 0..<EdgeAddresses.goneMax { try comeAndGo(UInt32(number)) }
        #expect(addresses.count == EdgeAddresses.goneMax)
        let stays = try come(.max)
        try comeAndGo(.max - 1)
        #expect(addresses.count == 1)
        #expect(stays.connectionCount == 1)
    }
}
