// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@_spi(Tuning) @testable import Cuecast

@Suite(.suiteLimit)
struct AddressRotationTests {
    /// Waits of the first round are a millisecond at most, of the next ones twice as long each.
    private func rotation(_ count: Int) -> AddressRotation {
        var timings = ListenerTimings()
        timings.retryDelayFirst = .milliseconds(1)
        timings.retryDelayMax = .seconds(30)
        return AddressRotation(count: count, timings)
    }

    @Test func `each failure leads to the next address, and an address that was good is tried again`() {
        var jitter = JitterSource(seed: 1)
        var addresses = self.rotation(3)
        var used: [GatewayTarget] = []
        for leaves in [true, true, false, true, true] {
            _ = addresses.lost(leaves: leaves, atLeast: .zero, jitter: &jitter)
            used.append(addresses.current)
        }
        #expect(used == [1, 2, 2, 0, 1].map { .configured($0) })
    }

    @Test func `the gateway's retry time counts at the end of a round, because it says nothing of other addresses`() {
        var jitter = JitterSource(seed: 1)
        var addresses = self.rotation(2)
        var waits: [Bool] = []
        for _ in 0..<4 {
            waits.append(addresses.lost(leaves: true, atLeast: .seconds(5), jitter: &jitter) >= .seconds(5))
        }
        #expect(waits == [false, true, false, true])
        addresses.startOver()
        let wait = addresses.lost(leaves: true, atLeast: .seconds(5), jitter: &jitter)
        #expect(wait < .seconds(5), "another round begins")
    }

    @Test(arguments: [false, true]) func `with one address each failure ends a round`(leaves: Bool) {
        var jitter = JitterSource(seed: 1)
        var addresses = self.rotation(1)
        let wait = addresses.lost(leaves: leaves, atLeast: .seconds(5), jitter: &jitter)
        #expect(wait >= .seconds(5))
        #expect(addresses.current == .configured(0))
    }

    @Test func `a gateway that does not push is known by its address`() {
        var jitter = JitterSource(seed: 1)
        var addresses = self.rotation(2)
        addresses.foundPushless()
        var pushes = [addresses.pushes]
        for _ in 0..<2 {
            _ = addresses.lost(leaves: true, atLeast: .zero, jitter: &jitter)
            pushes.append(addresses.pushes)
        }
        #expect(pushes == [false, true, false])
    }
}
