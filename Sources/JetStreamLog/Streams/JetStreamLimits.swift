// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

/// The bounds of a log on JetStream.
package enum JetStreamLimits {
    /// The largest message that a server has to take, in bytes: the largest record, and what stands beside it.
    package static let payloadBytesMin = EventLogLimits.recordBytesMax + 4_096
    /// How many records of a lane are kept in memory for readers that are near its end.
    package static let tailRecordsMax = 4_096
    /// How many bytes of records of a lane are kept in memory for readers that are near its end (16 MiB).
    package static let tailBytesMax = 16 * 1_048_576
    /// The most records that are asked for at once.
    package static let recordsPerQuestionMax = 512
    /// The most bytes that are asked for at once (8 MiB).
    package static let bytesPerQuestionMax = 8 * 1_048_576
    /// How often each stream is looked at (1 s).
    package static let lookInterval: Duration = .seconds(1)
    /// How long a leader may say that the stream ends before a record that was seen, before the log has gone back for certain (10 s): a
    /// leader that lost the others in the moment says so until it notices.
    package static let doubtfulFor: Duration = .seconds(10)
    /// How many copies of each stream there are where nothing else is said.
    package static let replicasDefault = 3
}
