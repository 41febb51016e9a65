// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The gateway's clock: the truth about when breaks start, for all listeners.
package protocol GatewayClock: Sendable {
    func now() -> Timestamp
}

/// The system's real-time clock, which the operator keeps right (NTP or better).
package struct SystemClock: GatewayClock {
    package init() {}

    package func now() -> Timestamp {
        Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    }
}
