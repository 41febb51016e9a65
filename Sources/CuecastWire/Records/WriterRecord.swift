// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// How far a writer of a log that several gateways share has come: every record of it up to this number was applied, or is passed over.
package struct WriterRecord: Hashable, Sendable {
    /// The run of a gateway.
    package var writer: UInt64
    /// The highest number of its records.
    package var number: UInt64
    /// When it was last written, by the log's clock.
    package var at: Timestamp

    package init(writer: UInt64, number: UInt64, at: Timestamp) {
        self.writer = writer
        self.number = number
        self.at = at
    }

    init(wire: Cuecast_V1_WriterState) {
        self.init(writer: wire.writer, number: wire.number, at: Timestamp(microseconds: wire.atUs))
    }

    var wire: Cuecast_V1_WriterState {
        .with {
            $0.writer = self.writer
            $0.number = self.number
            $0.atUs = self.at.microseconds
        }
    }
}
