// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The rules of a listener's request that both readers apply: `ScannedRequest` in place, and `ListenerRequest` in full.
///
/// Each rule stands here once, so that neither reader takes what the other refuses. The rules of texts are only of the reader in
/// full: in place, texts are compared with names that are valid.
enum RequestRules {
    @inline(__always)
    static func check(ticketBytes count: Int) throws(WireError) {
        try requireAtMost(WireLimits.ticketBytesMax, count, limit: "ticketBytesMax")
    }

    @inline(__always)
    static func check(deliveryBytes count: Int) throws(WireError) {
        try requireAtMost(WireLimits.deliveryBytesMax, count, limit: "deliveryBytesMax")
    }

    @inline(__always)
    static func check(outcomeCount count: Int) throws(WireError) {
        try requireAtMost(WireLimits.outcomesPerRequestMax, count, limit: "outcomesPerRequestMax")
        guard count > 0 else { throw .invalid(field: "outcomes", rule: "there is none") }
    }

    /// How far behind live a listener hears its stream, or may fall.
    @inline(__always)
    static func delay(milliseconds: UInt64) throws(WireError) -> Duration {
        try requireAtMost(
            Int(WireLimits.delayMillisecondsMax),
            Int(clamping: milliseconds),
            limit: "delayMillisecondsMax"
        )
        return .milliseconds(Int64(milliseconds))
    }
}

/// The numbers of an outcome as they stand on the wire, before any rule was applied.
struct OutcomeFields {
    var kind = 0
    var evidence = 0
    var reason = 0
    var heardMilliseconds: UInt64 = 0
    var quartiles: UInt64 = 0
    var muted = false
    var vastError: UInt64 = 0
    var occurred = Timestamp(microseconds: 0)
    var clicked = false
}

extension OutcomeDetails {
    /// Applies the rules of an outcome, for both readers.
    @inline(__always)
    init(_ fields: OutcomeFields) throws(WireError) {
        self.init(kind: try requireKnown(fields.kind, field: "outcome kind") { Outcome.Kind(rawValue: $0) })
        self.evidence = try requireKnown(fields.evidence, field: "evidence") { Outcome.Evidence(rawValue: $0) }
        self.reason = Outcome.Reason(rawValue: fields.reason)
        guard (self.kind == .ignored) == (self.reason != nil) else {
            throw .invalid(field: "reason", rule: "an ignored advertisement has a known reason, others have none")
        }
        try requireAtMost(
            Int(WireLimits.advertisementDurationMillisecondsMax),
            Int(clamping: fields.heardMilliseconds),
            limit: "advertisementDurationMillisecondsMax (heard_ms)"
        )
        self.heardMilliseconds = UInt32(truncatingIfNeeded: fields.heardMilliseconds)
        guard fields.quartiles <= 4 else { throw .invalid(field: "quartiles", rule: "it is 0 to 4") }
        self.quartiles = UInt8(truncatingIfNeeded: fields.quartiles)
        self.muted = fields.muted
        guard fields.vastError <= 999 else { throw .invalid(field: "vast_error", rule: "it is 0 to 999") }
        self.vastError = UInt16(truncatingIfNeeded: fields.vastError)
        self.occurred = fields.occurred
        self.clicked = fields.clicked
    }
}
