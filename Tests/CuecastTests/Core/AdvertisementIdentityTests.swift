// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastMycrocast
import Testing

@testable import Cuecast

@Suite(.suiteLimit)
struct AdvertisementIdentityTests {
    @Test func `an advertisement's id is the same in every release`() {
        // Apps keep it.
        #expect(advertisement("spot-1").id == 6_847_109_315_337_020_634)
    }
}
