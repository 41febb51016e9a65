// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// When one listener asks for its batch.
///
/// A notice reaches all listeners of a stream in the same instant. Each picks its own instant in the notice's request window by a
/// hash of its session and the break. So the gateway sees an even flow, and the listeners need no coordination.
package enum RequestSlot {
    /// An instant of the half-open window, uniform over sessions; the same again for the same session and break.
    package static func instant(in window: RequestWindow, session: SessionID, break id: BreakID) -> Timestamp {
        let width = (window.by - window.from).inMicroseconds
        guard width > 0 else { return window.from }
        var hash = StableHash()
        for half in [session.high, session.low] {
            for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
                hash.add(UInt8(truncatingIfNeeded: half >> shift))
            }
        }
        hash.endPart()
        hash.add(id.description.utf8)
        let offset = UInt64(width).multipliedFullWidth(by: hash.value).high
        return window.from + .microseconds(Int64(offset))
    }
}
