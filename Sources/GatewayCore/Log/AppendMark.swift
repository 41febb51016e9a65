// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The writer of a record of a log that several gateways share, and the instant of storing.
///
/// A writer is one run of a gateway. It numbers its appends to a lane from 1 on. An append whose answer was lost may come into the log
/// late; every reader applies a number only above the highest one of its writer (`WriterTable`).
package struct AppendMark: Hashable, Sendable {
    /// The writer and the number of its append.
    package let id: AppendID
    /// When the log stored the record, by the log's clock: the same for every reader.
    package let at: Timestamp

    package init(_ id: AppendID, at: Timestamp) {
        self.id = id
        self.at = at
    }
}
