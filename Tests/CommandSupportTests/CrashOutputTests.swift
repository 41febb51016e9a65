// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import Testing

@Suite(.suiteLimit)
struct CrashOutputTests {
    @Test(arguments: [
        (nil, true), ("", true), ("enable=yes", true), ("preset=full", true), ("registers=all", true),
        ("registers=crashed-only", true), ("registers=none,registers=all", true), ("Registers=None", true),
        ("xregisters=none", true), ("registers=none", false), ("enable=yes,registers=none", false),
        ("registers=none,preset=full", false), ("registers=all,registers=none", false),
    ])
    func `a backtrace holds memory unless it is told to leave registers out`(settings: String?, holds: Bool) {
        #expect(CrashOutput.holdsMemory(settings) == holds)
    }
}
