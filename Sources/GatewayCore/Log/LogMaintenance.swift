// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The operations of a log on this machine: report its size, and forget records that one gateway alone decides about.
package protocol LogMaintenance: Sendable {
    /// Forgets the records up to and including an offset. The caller has made sure that they are no longer needed.
    func prune(_ lane: Lane, through offset: UInt64) async throws(EventLogError)

    /// How much of its room it uses; `nil` where it has no bound of its own.
    ///
    /// Read for every pass over what came in: an atomic number at most.
    var usage: LogUsage? { get }

    /// How many bytes it takes on this machine's disk, with what is on its way into the file; `nil` where it has no file.
    var fileBytes: Int? { get }
}

extension LogMaintenance {
    package var usage: LogUsage? { nil }

    package var fileBytes: Int? { nil }
}
