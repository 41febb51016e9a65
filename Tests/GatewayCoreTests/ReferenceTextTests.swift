// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Testing

/// Texts of declarations, and what all limits have.
@Suite(.suiteLimit)
struct ReferenceTextTests {
    @Test func `links and backticks are left out of plain text`() {
        #expect(ReferenceText.plain("lines of the [audit](../audit.md): `kept`") == "lines of the audit: kept")
        #expect(ReferenceText.plain("a key ([Tokens](a.md#keys)), `x`; a [list] (see)") == "a key, x; a [list] (see)")
        #expect(ReferenceText.plain("") == "")
        #expect(ReferenceText.sentence("open `sockets` ([Page](a.md))") == "Open sockets.")
        #expect(ReferenceText.sentence("Two parts. Of one thing.") == "Two parts. Of one thing.")
    }

    @Test func `values are those of the declarations until one is changed`() {
        var values = LimitValues()
        for name in LimitName.allCases { #expect(values[name] == name.declaration.value) }
        values[.streamsMax] = 3
        #expect(values[.streamsMax] == 3 && values != LimitValues())
        values[.streamsMax] = LimitName.streamsMax.value
        #expect(values == LimitValues())
    }

    @Test func `a default is in the range of its key, and no two limits have one key`() {
        let declarations = LimitName.allCases.map(\.declaration)
        for setting in declarations.compactMap(\.setting) { #expect(setting.meaning.last != ".") }
        for each in declarations { #expect(each.setting?.range.contains(each.value) ?? true, "\(each)") }
        let keys = declarations.compactMap(\.setting?.key)
        #expect(Set(keys).count == keys.count)
    }

    @Test func `0 is no limit only where the declaration says so`() {
        #expect(LimitName.connectionsPerAddressMax.declaration.maximum(0) == nil)
        #expect(LimitName.connectionsPerAddressMax.declaration.maximum(1) == 1)
        #expect(LimitName.httpListenersMax.declaration.maximum(0) == 0)
        #expect(LimitName.ringBytesMax.declaration.defaultText == "1048576 bytes of a stream")
        #expect(LimitName.refusedTokensPerConnectionPerSecondMax.declaration.defaultText == "1 a second")
        #expect(LimitName.controlIdleTimeout.declaration.defaultText == "30000 ms")
    }
}
