// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Knows since when the gateways of a log sign what they hand out.
package protocol SigningRecord: Sendable {
    /// A gateway that signs begins to work on the log.
    ///
    /// - Parameter time: the log's own time; `nil` where nothing was recorded yet.
    /// - Returns: the log's own time when the first gateway that signs began, which this call records where none has before it;
    ///   `nil` where nothing had been recorded then.
    /// - Throws: where that can be neither found nor recorded.
    func began(at time: Timestamp?) throws -> Timestamp?
}
