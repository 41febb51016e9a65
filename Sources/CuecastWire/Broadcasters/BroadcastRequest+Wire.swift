// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Messages become values and values become messages. The rules stand with the values; a reader asks for them as it goes, so that
// a message that breaks one is not read to its end.

extension BroadcastRequest {
    /// Reads one request frame; never traps.
    package init(decoding frame: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_BroadcastRequest.self,
            from: frame,
            atMost: WireLimits.broadcastFrameBytesMax,
            limit: "broadcastFrameBytesMax",
            what: "a request of a broadcaster"
        )
        guard let kind = wire.kind else { throw .unsupported }
        let makes: Bool
        switch kind {
        case .publish, .putList: makes = true
        default: makes = false
        }
        let revision = wire.hasExpectedRevision ? wire.expectedRevision : nil
        try Self.check(token: wire.token, expectedRevision: revision, ofPublication: makes)
        self.id = wire.requestID
        self.token = wire.token
        self.expectedRevision = revision
        self.traceparent = wire.traceparent
        switch kind {
        case .publish(let request): self.kind = .publish(try Publish(wire: request))
        case .punch(let request): self.kind = .punch(try Punch(wire: request))
        case .update(let request): self.kind = .update(try Update(wire: request))
        case .end(let request): self.kind = .end(try End(wire: request))
        case .cancel(let request): self.kind = .cancel(try BreakKey(request.stream, request.breakID))
        case .postpone(let request):
            let postpone = try Postpone(wire: request)
            try postpone.checkRepeat(expectedRevision: revision)
            self.kind = .postpone(postpone)
        case .list(let request):
            try List.check(afterByteCount: request.after.count)
            self.kind = .list(
                List(
                    stream: request.stream.isEmpty ? nil : try StreamID(request.stream),
                    id: request.breakID.isEmpty ? nil : try BreakID(request.breakID),
                    after: Array(request.after)
                )
            )
        case .signal(let request):
            let signal = try Signal(wire: request)
            try Signal.check(expectedRevision: revision)
            self.kind = .signal(signal)
        case .putList(let request): self.kind = .putList(try PutList(wire: request))
        case .removeList(let request): self.kind = .removeList(try AdListName(request.name))
        case .lists(let request): self.kind = .lists(request.name.isEmpty ? nil : try AdListName(request.name))
        case .watchReport(let request):
            let report = try WatchReport(wire: request)
            try WatchReport.check(expectedRevision: revision)
            self.kind = .watchReport(report)
        }
    }

    /// The id that a reply carries back, also when the rest of the request is refused; 0 where it cannot be read.
    package static func requestID(of frame: [UInt8]) -> UInt64 {
        frame.count <= WireLimits.broadcastFrameBytesMax ? RequestEnvelope.requestID(of: frame) : 0
    }

    /// The frame's bytes.
    package func encoded() -> [UInt8] {
        encode(
            Cuecast_V1_BroadcastRequest.with {
                $0.requestID = self.id
                $0.token = self.token
                if let revision = self.expectedRevision { $0.expectedRevision = revision }
                $0.traceparent = self.traceparent
                switch self.kind {
                case .publish(let request): $0.publish = request.wire
                case .punch(let request): $0.punch = request.wire
                case .update(let request): $0.update = request.wire
                case .end(let request): $0.end = request.wire
                case .cancel(let key): $0.cancel = key.cancelWire
                case .postpone(let request): $0.postpone = request.wire
                case .list(let request):
                    $0.list = .with {
                        $0.stream = request.stream?.description ?? ""
                        $0.breakID = request.id?.description ?? ""
                        $0.after = Data(request.after)
                    }
                case .signal(let request): $0.signal = request.wire
                case .putList(let request): $0.putList = request.wire
                case .removeList(let name): $0.removeList = name.removeWire
                case .lists(let name): $0.lists = .with { $0.name = name?.description ?? "" }
                case .watchReport(let report): $0.watchReport = report.wire
                }
            }
        )
    }
}

extension BreakKey {
    init(_ stream: String, _ id: String) throws(WireError) {
        self.init(stream: try StreamID(stream), id: try BreakID(id))
    }

    var cancelWire: Cuecast_V1_Cancel {
        .with {
            $0.stream = self.stream.description
            $0.breakID = self.id.description
        }
    }
}

extension BreakStart {
    init(wire: Cuecast_V1_Start) throws(WireError) {
        switch wire.kind {
        case .atUs(let microseconds): self = .at(Timestamp(microseconds: microseconds))
        case .inMs(let milliseconds): self = .after(.milliseconds(milliseconds))
        case .now(true): self = .now
        case .now(false), nil: throw .invalid(field: "start", rule: "it says no time")
        }
    }

    var wire: Cuecast_V1_Start {
        .with {
            switch self {
            case .at(let instant): $0.atUs = instant.microseconds
            case .after(let lead): $0.inMs = lead.inMilliseconds
            case .now: $0.now = true
            }
        }
    }
}

extension BroadcastRequest.Publish {
    init(wire: Cuecast_V1_Publish) throws(WireError) {
        self.init(
            key: try BreakKey(wire.stream, wire.breakID),
            start: wire.hasStart ? try BreakStart(wire: wire.start) : nil,
            duration: wire.hasDurationMs ? .milliseconds(wire.durationMs) : nil,
            advertisements: [],
            preStream: wire.preStream,
            exact: wire.exact,
            endMode: EndMode(wire: wire.endMode) ?? .cut,
            hold: wire.hasHoldMs ? .milliseconds(wire.holdMs) : nil
        )
        try self.check(wire.advertisements) { AdvertisementContent(wire: $0) }
        self.variants = try AudienceVariant.list(wire: wire.variants)
    }

    var wire: Cuecast_V1_Publish {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            if let start = self.start { $0.start = start.wire }
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            $0.advertisements = self.advertisements.map(\.wire)
            $0.preStream = self.preStream
            $0.exact = self.exact
            $0.endMode = self.endMode.wire
            if let hold = self.hold { $0.holdMs = hold.inMilliseconds }
            $0.variants = self.variants.map(\.wire)
        }
    }
}

extension BroadcastRequest.Punch {
    init(wire: Cuecast_V1_Punch) throws(WireError) {
        self.init(
            key: try BreakKey(wire.stream, wire.breakID),
            start: wire.hasStart ? try BreakStart(wire: wire.start) : nil
        )
    }

    var wire: Cuecast_V1_Punch {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            if let start = self.start { $0.start = start.wire }
        }
    }
}

extension BroadcastRequest.Update {
    init(wire: Cuecast_V1_Update) throws(WireError) {
        self.init(
            key: try BreakKey(wire.stream, wire.breakID),
            start: wire.hasStart ? try BreakStart(wire: wire.start) : nil,
            duration: wire.hasDurationMs ? .milliseconds(wire.durationMs) : nil
        )
        guard wire.replaceVariants || wire.variants.isEmpty else {
            throw .invalid(field: "replace_variants", rule: "it is set where there are variants")
        }
        if wire.replaceVariants { self.variants = try AudienceVariant.list(wire: wire.variants) }
        try self.check(wire.replaceAdvertisements ? wire.advertisements : nil) { AdvertisementContent(wire: $0) }
    }

    var wire: Cuecast_V1_Update {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            if let start = self.start { $0.start = start.wire }
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            if let advertisements = self.advertisements {
                $0.advertisements = advertisements.map(\.wire)
                $0.replaceAdvertisements = true
            }
            if let variants = self.variants {
                $0.variants = variants.map(\.wire)
                $0.replaceVariants = true
            }
        }
    }
}

extension BroadcastRequest.Postpone {
    init(wire: Cuecast_V1_Postpone) throws(WireError) {
        let delay = try Self.delay(.milliseconds(wire.byMs))
        self.init(
            key: try BreakKey(wire.stream, wire.breakID),
            by: delay,
            from: wire.hasFromUs ? Timestamp(microseconds: wire.fromUs) : nil
        )
    }

    var wire: Cuecast_V1_Postpone {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            $0.byMs = self.by.inMilliseconds
            if let from = self.from { $0.fromUs = from.microseconds }
        }
    }
}

extension BroadcastRequest.End {
    init(wire: Cuecast_V1_End) throws(WireError) {
        self.init(
            key: try BreakKey(wire.stream, wire.breakID),
            endMode: EndMode(wire: wire.endMode),
            at: wire.hasAtUs ? Timestamp(microseconds: wire.atUs) : nil
        )
    }

    var wire: Cuecast_V1_End {
        .with {
            $0.stream = self.key.stream.description
            $0.breakID = self.key.id.description
            $0.endMode = self.endMode?.wire ?? .unspecified
            if let at = self.at { $0.atUs = at.microseconds }
        }
    }
}
