// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Testing

extension Trait where Self == TimeLimitTrait {
    /// The limit of every suite: what hangs ends there, and nothing else does.
    ///
    /// The time that a test takes depends on the machine's load, so tests have no limit of their own. A developer reads of a
    /// hanging test after five minutes. Where `CUECAST_TEST_PATIENCE` is above 20 s, as in continuous integration, the limit is
    /// an hour, which no machine needs.
    static var suiteLimit: Self {
        let patience = ProcessInfo.processInfo.environment["CUECAST_TEST_PATIENCE"].flatMap { Int($0) } ?? 20
        return .timeLimit(.minutes(patience > 20 ? 60 : 5))
    }
}
