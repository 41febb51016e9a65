// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension EventLogLimits {
    /// The largest record, in bytes (4 MiB); larger groups become several records.
    ///
    /// The largest request is a quarter of it.
    package static let recordBytesMax = LimitName.recordBytesMax.value
    /// How many of the newest appends of a log are known by their ids (see `RecentAppends`).
    package static let appendIDsKept = 8_192
    /// The bytes that a log accepts above its limit, so that breaks can still be started, ended and cancelled, and timers still
    /// fire (64 MiB).
    package static let reservedBytes = 64 * 1_048_576
    /// The part of its bound from which a log raises an alarm, and removes records that are no longer needed sooner.
    package static let nearShare = 0.8
}
