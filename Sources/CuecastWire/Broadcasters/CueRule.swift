// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// The part of a cue policy about the segments of SCTE-35 (section 10.3.3.1, table 23); a value that is `nil` is not said.
package struct SegmentPolicy: Hashable, Sendable {
    /// A restriction that a segment may have (section 10.3.3.1).
    package enum Restriction: String, CaseIterable, Hashable, Sendable {
        /// It may not be delivered on the web (`web_delivery_allowed_flag` is 0).
        case web
        /// It is blacked out in regions (`no_regional_blackout_flag` is 0).
        case blackout
    }

    /// The types that open a break unless something says otherwise: breaks, placement opportunities, ad blocks and ads.
    package static let usualOpeningTypes: Set<UInt8> = [0x22, 0x30, 0x32, 0x34, 0x36, 0x44, 0x46]
    /// The types that may open a break: the usual ones, chapters and unscheduled events.
    package static let possibleOpeningTypes: Set<UInt8> = Self.usualOpeningTypes.union([0x20, 0x40])
    /// The types that may end every break that runs: a programme starts, ends, or is terminated early.
    package static let possibleEndingTypes: Set<UInt8> = [0x10, 0x11, 0x12]

    /// The start types that open a break; each is even, and its end has the next number.
    package var openingTypes: Set<UInt8>?
    /// The types that end every break that runs.
    package var endingTypes: Set<UInt8>?
    /// The restrictions that are obeyed: a segment that has one opens no break.
    package var restrictions: Set<Restriction>?

    /// A policy that says nothing.
    package init() {}

    /// Reads types as people write them: in hexadecimal, with commas between them, with or without `0x`.
    ///
    /// - Parameter text: the types, for instance `0x22,0x34`.
    /// - Returns: them; `nil`: a part is no byte in hexadecimal.
    package static func types(_ text: String) -> Set<UInt8>? {
        var types: Set<UInt8> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = part.lowercased().hasPrefix("0x") ? part.dropFirst(2) : part[...]
            // What Swift reads beside digits: a sign.
            guard digits.first?.isHexDigit == true, let type = UInt8(digits, radix: 16) else { return nil }
            types.insert(type)
        }
        return types
    }

    /// Types as people write them: `0x22, 0x34`.
    package static func text(of types: Set<UInt8>) -> String {
        types.sorted()
            .map { type in
                let digits = String(type, radix: 16, uppercase: true)
                return "0x" + (digits.count < 2 ? "0" : "") + digits
            }
            .joined(separator: ", ")
    }
}

/// The cue rule of a stream, as the gateway tells it to watchers.
package struct CueRule: Hashable, Sendable {
    /// The longest that a start in programme time may be late, in milliseconds (1 h).
    package static let programmeLateMillisecondsMax = 3_600_000
    /// How late a start in programme time may be unless a rule says otherwise, in milliseconds.
    package static let programmeLateMillisecondsDefault = 120_000

    /// Whether the policy has a rule for the stream; otherwise the gateway refuses its signals.
    package var isKnown: Bool
    package var segments: SegmentPolicy
    /// How late a start in programme time may be; at most ``programmeLateMillisecondsMax``.
    package var programmeLateMax: Duration
    /// How long after a report the next one is expected.
    package var reportInterval: Duration

    package init(isKnown: Bool, segments: SegmentPolicy, programmeLateMax: Duration, reportInterval: Duration) {
        self.isKnown = isKnown
        self.segments = segments
        self.programmeLateMax = programmeLateMax
        self.reportInterval = reportInterval
    }
}

// MARK: - Wire

extension CueRule {
    /// The most types that a list may have: a type is a byte.
    private static let typesMax = 256

    init(wire: Cuecast_V1_CueRule) throws(WireError) {
        var segments = SegmentPolicy()
        // Types that only a newer gateway knows are passed over: they cannot be watched for.
        if wire.hasOpens {
            segments.openingTypes = try Self.types(wire.opens).intersection(SegmentPolicy.possibleOpeningTypes)
        }
        if wire.hasEnds {
            segments.endingTypes = try Self.types(wire.ends).intersection(SegmentPolicy.possibleEndingTypes)
        }
        if wire.hasRestrictions {
            segments.restrictions = []
            if wire.restrictions.web { segments.restrictions?.insert(.web) }
            if wire.restrictions.blackout { segments.restrictions?.insert(.blackout) }
        }
        self.init(
            isKnown: wire.known,
            segments: segments,
            programmeLateMax: .milliseconds(min(Int(wire.lateMs), Self.programmeLateMillisecondsMax)),
            reportInterval: .milliseconds(wire.reportMs)
        )
    }

    private static func types(_ wire: Cuecast_V1_SegmentTypes) throws(WireError) -> Set<UInt8> {
        try requireAtMost(Self.typesMax, wire.types.count, limit: "segmentTypesMax")
        return Set(wire.types.compactMap { UInt8(exactly: $0) })
    }

    var wire: Cuecast_V1_CueRule {
        .with {
            $0.known = self.isKnown
            if let types = self.segments.openingTypes { $0.opens = Self.wire(types) }
            if let types = self.segments.endingTypes { $0.ends = Self.wire(types) }
            if let restrictions = self.segments.restrictions {
                $0.restrictions = .with {
                    $0.web = restrictions.contains(.web)
                    $0.blackout = restrictions.contains(.blackout)
                }
            }
            $0.lateMs = self.programmeLateMax.inMilliseconds
            $0.reportMs = self.reportInterval.inMilliseconds
        }
    }

    private static func wire(_ types: Set<UInt8>) -> Cuecast_V1_SegmentTypes {
        .with { $0.types = types.sorted().map { UInt32($0) } }
    }
}
