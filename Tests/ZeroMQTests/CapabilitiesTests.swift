// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct CapabilitiesTests {
    @Test func `the library is one that the options and work-arounds were written for`() {
        #expect(ZeroMQCapabilities.version >= ZeroMQVersion(major: 4, minor: 3, patch: 4))
        #expect(ZeroMQCapabilities.version < ZeroMQVersion(major: 5, minor: 0, patch: 0))
    }

    @Test func `capabilities are asked of the library`() {
        #expect(ZeroMQCapabilities.has("curve"))
        #expect(!ZeroMQCapabilities.has("no such capability"))
    }

    @Test(arguments: [
        ((4, 3, 4), (4, 3, 5)), ((4, 3, 5), (4, 4, 0)), ((4, 9, 9), (5, 0, 0)),
    ])
    func `versions compare by their numbers`(lower: (Int, Int, Int), higher: (Int, Int, Int)) {
        let lower = ZeroMQVersion(major: lower.0, minor: lower.1, patch: lower.2)
        let higher = ZeroMQVersion(major: higher.0, minor: higher.1, patch: higher.2)
        #expect(lower < higher)
        #expect(!(higher < lower))
        #expect(lower.description == "\(lower.major).\(lower.minor).\(lower.patch)")
    }
}
