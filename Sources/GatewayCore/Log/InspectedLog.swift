// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Some records of a lane as its servers have them, with what is wrong among them.
package struct InspectedPortion: Hashable, Sendable {
    /// Offsets at which there is no record that can be read.
    package struct Fault: Hashable, Sendable {
        package let offsets: ClosedRange<UInt64>
        /// Why the record there cannot be read; `nil`: there is none.
        package let reason: String?

        package init(offsets: ClosedRange<UInt64>, reason: String? = nil) {
            self.offsets = offsets
            self.reason = reason
        }
    }

    /// In order.
    package var records: [LoggedRecord] = []
    /// In order; none is at the offset of a record.
    package var faults: [Fault] = []

    package init(records: [LoggedRecord] = [], faults: [Fault] = []) {
        self.records = records
        self.faults = faults
    }

    /// The last offset that was looked at; `nil`: none was.
    package var end: UInt64? {
        let ends = [self.records.last?.offset, self.faults.last?.offsets.upperBound].compactMap { $0 }
        return ends.max()
    }
}

/// A log that several gateways share, read as its servers have it, for those who verify it.
///
/// `EventLog` refuses a log that lacks a record. Here what is wrong is told, and reading goes on behind it.
package protocol InspectedLog: Sendable {
    /// Which log it is.
    var identity: LogIdentity { get }

    /// The newest record of a lane when the log was opened: reading ends there.
    func head(of lane: Lane) async throws(EventLogError) -> UInt64

    /// Reads what follows an offset.
    ///
    /// - Parameters:
    ///   - lane: the lane to read.
    ///   - offset: the last one that was looked at; 0 at the beginning.
    ///   - recordsMax: the most records to return.
    ///   - bytesMax: no further record once there are so many bytes.
    /// - Returns: at least one record or fault, and nothing only where the offset is the head.
    /// - Throws: `unanswered` where the servers do not answer.
    func portion(
        of lane: Lane,
        after offset: UInt64,
        recordsMax: Int,
        bytesMax: Int
    ) async throws(EventLogError) -> InspectedPortion
}
