// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

extension Timestamp {
    /// An instant as RFC 3339 in UTC, to the millisecond: what plans are made of is no finer.
    ///
    /// - Parameter milliseconds: since 1970.
    /// - Returns: the text.
    package static func text(ofMilliseconds milliseconds: Int64) -> String {
        let (microseconds, overflows) = milliseconds.multipliedReportingOverflow(by: 1_000)
        let text = Timestamp(microseconds: overflows ? .max : microseconds).description
        // Whole milliseconds: the last three digits before the Z are zeros.
        return overflows ? text : String(text.dropLast(4)) + "Z"
    }
}
