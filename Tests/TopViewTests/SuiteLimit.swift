// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

extension Trait where Self == TimeLimitTrait {
    /// The limit of every suite: what hangs ends there, and nothing else does.
    ///
    /// How long a test takes says nothing of what it tests: machines are busy, and slower than ours. Tests wait for the
    /// thing itself without a limit of their own, and so each of them has this one, which no machine needs.
    static var suiteLimit: Self { .timeLimit(.minutes(60)) }
}
