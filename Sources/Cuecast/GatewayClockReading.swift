// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A player's reading of the gateway's clock: breaks begin by it.
///
/// A player learns it from when its requests were sent and answered, on this device's monotonic clock; the device's wall
/// clock plays no part.
@_spi(Diagnostics) public struct GatewayClockReading: Hashable, Sendable {
    /// The best estimate of what it shows.
    public let date: Date
    /// The most by which the estimate can be wrong: half of the quickest round trips' difference, and 100 parts per million
    /// of the time since.
    public let errorMax: Duration
    /// The instant of this device's clock for which it is said.
    public let at: ContinuousClock.Instant
}

extension Date {
    init(_ timestamp: Timestamp) {
        self.init(timeIntervalSince1970: Double(timestamp.microseconds) / 1_000_000)
    }
}
