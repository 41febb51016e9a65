// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@testable import Cuecast

@Suite(.suiteLimit)
struct ClosedBreaksTests {
    @Test func `as many are remembered as may be, and with one more the oldest is forgotten`() {
        var closed = ClosedBreaks()
        for number in 1...ClosedBreaks.rememberedMax { closed.add(breakID("b\(number)"), .expired) }
        #expect(closed.reason(of: breakID("b1")) == .expired)
        closed.add(breakID("b0"), .expired)
        #expect(closed.reason(of: breakID("b1")) == nil)
        #expect(closed.reason(of: breakID("b2")) == .expired)
    }

    @Test func `each is news once, and those of an earlier run are none`() {
        var closed = ClosedBreaks()
        closed.restore([.init(id: breakID("b0"), reason: .user)])
        closed.add(breakID("b1"), .expired)
        closed.add(breakID("b1"), .cancelled)
        let news = [closed.takeNews(), closed.takeNews()]
        #expect(news == [[.init(id: breakID("b1"), reason: .expired)], []])
        #expect(closed.reason(of: breakID("b0")) == .user)
        #expect(closed.reason(of: breakID("b1")) == .cancelled, "the last reason counts")
    }
}
