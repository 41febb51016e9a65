// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a break stands in its life.
package enum BreakState: Int, CaseIterable, Sendable {
    case scheduled = 1
    case cued = 2
    case announced = 3
    case live = 4
    case complete = 5
    case cancelled = 6
    case expired = 7

    /// The word for people and scripts, for instance `announced`.
    package var name: String {
        switch self {
        case .scheduled: "scheduled"
        case .cued: "cued"
        case .announced: "announced"
        case .live: "live"
        case .complete: "complete"
        case .cancelled: "cancelled"
        case .expired: "expired"
        }
    }
}

/// A break as broadcasters and operators see it.
package struct BreakInfo: Hashable, Sendable {
    package var key: BreakKey
    package var state: BreakState
    package var start: Timestamp?
    package var duration: Duration?
    package var advertisementCount: Int
    package var preStream: Bool
    package var exact: Bool
    /// The stream's position at the last notice about this break; `nil` before the first.
    package var position: Position?
    /// When its announcement is due.
    package var announce: Timestamp?
    /// When it ends or ended.
    package var end: Timestamp?
    /// Until when a cued or pre-stream break is held open.
    package var holdUntil: Timestamp?
    package var published: Timestamp
    package var firstAdvertisementTitle: String
    /// The publisher of the break; empty where broadcasters are not told apart.
    package var broadcaster: String
    /// 1 when it was published, and one more with each change.
    package var revision: UInt64
    /// The events that signals said of it, by precedence: the one that goes first stands first.
    package var signals: [SignalClaim]
    /// The id with which a broadcaster published it after a signal had opened it; `nil`: none did.
    package var publishedAs: BreakID?
    /// Its variants beside `default`, in the order in which they are tried.
    package var variants: [VariantInfo]

    package init(
        key: BreakKey,
        state: BreakState,
        start: Timestamp?,
        duration: Duration?,
        advertisementCount: Int,
        preStream: Bool,
        exact: Bool,
        position: Position?,
        announce: Timestamp?,
        end: Timestamp?,
        holdUntil: Timestamp?,
        published: Timestamp,
        firstAdvertisementTitle: String,
        broadcaster: String = "",
        revision: UInt64 = 0,
        signals: [SignalClaim] = [],
        publishedAs: BreakID? = nil,
        variants: [VariantInfo] = []
    ) {
        self.key = key
        self.state = state
        self.start = start
        self.duration = duration
        self.advertisementCount = advertisementCount
        self.preStream = preStream
        self.exact = exact
        self.position = position
        self.announce = announce
        self.end = end
        self.holdUntil = holdUntil
        self.published = published
        self.firstAdvertisementTitle = firstAdvertisementTitle
        self.broadcaster = broadcaster
        self.revision = revision
        self.signals = signals
        self.publishedAs = publishedAs
        self.variants = variants
    }
}

/// The gateway's answer to a broadcaster.
package struct BroadcastReply: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        /// The break as it stands after the request.
        case `break`(BreakInfo)
        /// One page; `after` is empty when that was all.
        case list([BreakInfo], after: [UInt8])
        /// An ad list as it stands after the request; with its advertisements where it was asked for.
        case adList(AdListInfo, [AdvertisementContent])
        /// All ad lists, in the order of their names.
        case adLists([AdListInfo])
        /// The cue rule of the stream that a watcher reported about.
        case cueRule(CueRule)
        case refused(Refusal)
    }

    package var requestID: UInt64
    package var gatewayTime: Timestamp
    /// The trace of the request, with the gateway's span for it; `nil`: it is not traced.
    package var trace: TraceContext?
    /// Whether the request changed something; `false`: the break was already as asked for, or the request changes nothing.
    package var changed: Bool
    package var body: Body

    package init(
        requestID: UInt64,
        gatewayTime: Timestamp,
        trace: TraceContext? = nil,
        changed: Bool = false,
        body: Body
    ) {
        self.requestID = requestID
        self.gatewayTime = gatewayTime
        self.trace = trace
        self.changed = changed
        self.body = body
    }

    /// Reads one reply frame; never traps.
    package init(decoding frame: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_BroadcastReply.self,
            from: frame,
            atMost: WireLimits.replyFrameBytesMax,
            limit: "replyFrameBytesMax",
            what: "a reply"
        )
        self.requestID = wire.requestID
        self.gatewayTime = Timestamp(microseconds: wire.gatewayUs)
        self.trace = TraceContext(bytes: wire.trace)
        self.changed = wire.changed
        guard wire.status == .ok else {
            let status = StatusCode(rawValue: wire.status.rawValue)
            self.body = .refused(
                Refusal(
                    status ?? (wire.retry ? .unavailable : .invalid),
                    wire.message,
                    retryAfter: .milliseconds(wire.retryAfterMs)
                )
            )
            return
        }
        if wire.hasBreak {
            self.body = .break(try BreakInfo(wire: wire.break))
        } else if wire.hasList {
            try requireAtMost(WireLimits.breaksPerPageMax, wire.list.breaks.count, limit: "breaksPerPageMax")
            try requireAtMost(WireLimits.pageTokenBytesMax, wire.list.after.count, limit: "pageTokenBytesMax")
            self.body = .list(
                try wire.list.breaks.map { (info) throws(WireError) in try BreakInfo(wire: info) },
                after: Array(wire.list.after)
            )
        } else if wire.hasAdList {
            let advertisements = wire.adList.advertisements
            self.body = .adList(
                try AdListInfo(wire: wire.adList.info),
                advertisements.isEmpty ? [] : try AdvertisementContent.list(wire: advertisements)
            )
        } else if wire.hasAdLists {
            try requireAtMost(WireLimits.adListsMax, wire.adLists.lists.count, limit: "adListsMax")
            self.body = .adLists(
                try wire.adLists.lists.map { (info) throws(WireError) in try AdListInfo(wire: info) }
            )
        } else if wire.hasCueRule {
            self.body = .cueRule(try CueRule(wire: wire.cueRule))
        } else {
            throw .malformed(what: "a reply: its body is missing")
        }
    }

    /// The frame's bytes.
    package func encoded() -> [UInt8] {
        encode(
            Cuecast_V1_BroadcastReply.with {
                $0.requestID = self.requestID
                $0.gatewayUs = self.gatewayTime.microseconds
                $0.status = .ok
                if let trace = self.trace { $0.trace = Data(trace.bytes) }
                $0.changed = self.changed
                switch self.body {
                case .break(let info): $0.break = info.wire
                case .list(let infos, let after):
                    $0.list = .with {
                        $0.breaks = infos.map(\.wire)
                        $0.after = Data(after)
                    }
                case .adList(let info, let advertisements):
                    $0.adList = .with {
                        $0.info = info.wire
                        $0.advertisements = advertisements.map(\.wire)
                    }
                case .adLists(let infos): $0.adLists = .with { $0.lists = infos.map(\.wire) }
                case .cueRule(let rule): $0.cueRule = rule.wire
                case .refused(let refusal):
                    $0.status = .init(rawValue: refusal.status.rawValue) ?? .unspecified
                    $0.message = refusal.sentence
                    $0.retry = refusal.status.canRetry
                    $0.retryAfterMs = refusal.retryAfter.inMilliseconds
                }
            }
        )
    }
}

extension BreakInfo {
    init(wire: Cuecast_V1_BreakInfo) throws(WireError) {
        try requireAtMost(BreakSignals.claimsPerBreakMax, wire.signals.count, limit: "claimsPerBreakMax")
        try requireAtMost(WireLimits.variantsPerBreakMax, wire.variants.count, limit: "variantsPerBreakMax")
        self.init(
            key: try BreakKey(wire.stream, wire.breakID),
            state: try requireKnown(wire.state, field: "state") { BreakState(rawValue: $0.rawValue) },
            start: wire.hasStartUs ? Timestamp(microseconds: wire.startUs) : nil,
            duration: wire.hasDurationMs ? .milliseconds(wire.durationMs) : nil,
            advertisementCount: Int(wire.advertisementCount),
            preStream: wire.preStream,
            exact: wire.exact,
            position: wire.hasPosition ? Position(wire: wire.position) : nil,
            announce: wire.hasAnnounceUs ? Timestamp(microseconds: wire.announceUs) : nil,
            end: wire.hasEndUs ? Timestamp(microseconds: wire.endUs) : nil,
            holdUntil: wire.hasHoldUntilUs ? Timestamp(microseconds: wire.holdUntilUs) : nil,
            published: Timestamp(microseconds: wire.publishedUs),
            firstAdvertisementTitle: wire.firstAdvertisementTitle,
            broadcaster: wire.broadcaster,
            revision: min(wire.revision, UInt64(Int64.max)),
            signals: try wire.signals.map { (claim) throws(WireError) in try SignalClaim(wire: claim) },
            publishedAs: wire.publishedAs.isEmpty ? nil : try BreakID(wire.publishedAs),
            variants: wire.variants.map { VariantInfo(wire: $0) }
        )
    }

    var wire: Cuecast_V1_BreakInfo {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            $0.state = .init(rawValue: self.state.rawValue) ?? .unspecified
            if let start = self.start { $0.startUs = start.microseconds }
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            $0.advertisementCount = UInt32(clamping: self.advertisementCount)
            $0.preStream = self.preStream
            $0.exact = self.exact
            if let position = self.position { $0.position = position.wire }
            if let announce = self.announce { $0.announceUs = announce.microseconds }
            if let end = self.end { $0.endUs = end.microseconds }
            if let holdUntil = self.holdUntil { $0.holdUntilUs = holdUntil.microseconds }
            $0.publishedUs = self.published.microseconds
            $0.firstAdvertisementTitle = self.firstAdvertisementTitle
            $0.broadcaster = self.broadcaster
            $0.revision = self.revision
            $0.signals = self.signals.map(\.wire)
            if let id = self.publishedAs { $0.publishedAs = id.description }
            $0.variants = self.variants.map(\.wire)
        }
    }
}
