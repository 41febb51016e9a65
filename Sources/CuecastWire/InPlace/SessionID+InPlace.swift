// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension SessionID {
    /// Reads the sixteen bytes of the wire where they lie.
    @inline(__always)
    package init?(_ frame: Span<UInt8>, at range: Range<Int>) {
        guard range.count == WireLimits.sessionBytes else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in range.lowerBound..<(range.lowerBound + 8) { high = high << 8 | UInt64(frame[index]) }
        for index in (range.lowerBound + 8)..<range.upperBound { low = low << 8 | UInt64(frame[index]) }
        self.init(high: high, low: low)
    }
}
