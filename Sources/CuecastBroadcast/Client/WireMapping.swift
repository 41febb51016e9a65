// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// Public values to the wire's and back. The rules of the wire are not repeated here: `RequestEncoder` asks the wire's values for
// them, as the gateway does. Only what the wire cannot hold is refused here.

/// Writes requests, after the check that the gateway makes when it reads them.
enum RequestEncoder {
    static func frame(
        id: UInt64,
        token: String,
        expectedRevision: UInt64? = nil,
        traceparent: String = "",
        _ kind: BroadcastRequest.Kind
    ) throws(BroadcastError) -> [UInt8] {
        let request = BroadcastRequest(
            id: id,
            token: token,
            expectedRevision: expectedRevision,
            traceparent: traceparent,
            kind: kind
        )
        do throws(WireError) {
            _ = try request.checked()
        } catch {
            throw BroadcastError(error)
        }
        return request.encoded()
    }
}

extension BroadcastError {
    init(_ error: WireError) {
        switch error {
        case .invalid(let field, let rule): self = .invalid(field: field, reason: rule)
        case .tooLarge(let limit, let maximum, let found):
            self = .tooLarge(limit: limit, maximum: maximum, found: found)
        case .malformed, .unsupported: self = .invalid(field: "request", reason: error.description)
        }
    }
}

extension BreakKey {
    init(stream: String, breakID: String) throws(BroadcastError) {
        do throws(WireError) {
            self.init(stream: try StreamID(stream), id: try BreakID(breakID))
        } catch {
            throw BroadcastError(error)
        }
    }
}

/// Whole milliseconds as the wire has them.
func wireDuration(_ duration: Duration, field: String) throws(BroadcastError) -> Duration {
    do throws(WireError) {
        return try duration.wholeMilliseconds(field: field)
    } catch {
        throw BroadcastError(error)
    }
}

extension Timestamp {
    init(_ date: Date, field: String) throws(BroadcastError) {
        let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
        guard let microseconds = Int64(exactly: microseconds) else {
            throw .invalid(field: field, reason: "it is not an instant that the gateway can plan")
        }
        self.init(microseconds: microseconds)
    }
}

extension Date {
    init(_ timestamp: Timestamp) {
        self.init(timeIntervalSince1970: Double(timestamp.microseconds) / 1e6)
    }
}

extension BreakMoment {
    var wire: BreakStart {
        get throws(BroadcastError) {
            switch self {
            case .at(let date): .at(try Timestamp(date, field: "start"))
            case .in(let lead): .after(try wireDuration(lead, field: "start"))
            case .now: .now
            }
        }
    }
}

extension AdBreak {
    var wire: BroadcastRequest.Publish {
        get throws(BroadcastError) {
            var publish = BroadcastRequest.Publish(
                key: try BreakKey(stream: self.stream, breakID: self.id),
                start: nil,
                advertisements: []
            )
            switch self.start {
            case .at(let date): publish.start = try BreakMoment.at(date).wire
            case .in(let lead): publish.start = try BreakMoment.in(lead).wire
            case .now: publish.start = .now
            case .cued(let hold):
                if let hold { publish.hold = try wireDuration(hold, field: "hold") }
            case .preStream(let hold):
                publish.preStream = true
                if let hold { publish.hold = try wireDuration(hold, field: "hold") }
            }
            if let duration = self.duration { publish.duration = try wireDuration(duration, field: "duration") }
            for each in self.advertisements { publish.advertisements.append(try each.wire) }
            for each in self.variants { publish.variants.append(try each.wire) }
            publish.exact = self.isExact
            publish.endMode = self.endMode.wire
            return publish
        }
    }
}

extension AdBreak.EndMode {
    var wire: EndMode {
        switch self {
        case .cut: .cut
        case .finishAd: .finishAd
        }
    }
}

extension BreakStatus {
    init(_ info: BreakInfo, at now: Timestamp) {
        self.init(
            stream: info.key.stream.description,
            id: info.key.id.description,
            state: State(info.state),
            start: info.start.map { Date($0) },
            end: info.end.map { Date($0) },
            duration: info.duration,
            advertisementCount: info.advertisementCount,
            firstAdvertisementTitle: info.firstAdvertisementTitle,
            isPreStream: info.preStream,
            isExact: info.exact,
            position: info.position.map { Position(epoch: $0.epoch, sequence: $0.sequence) },
            announcement: info.announce.map { Date($0) },
            holdUntil: info.holdUntil.map { Date($0) },
            published: Date(info.published),
            broadcaster: info.broadcaster.orNil,
            revision: info.revision,
            signals: info.signals.map { Signal($0) },
            publishedAs: info.publishedAs?.description,
            variants: info.variants.map { Variant($0) },
            gatewayTime: Date(now)
        )
    }
}

extension BreakStatus.Variant {
    fileprivate init(_ variant: VariantInfo) {
        self.init(
            name: variant.name,
            conditions: variant.conditions.map { AdVariant.Condition($0) },
            advertisementCount: variant.advertisementCount
        )
    }
}

extension BreakStatus.Signal {
    fileprivate init(_ claim: SignalClaim) {
        self.init(
            source: claim.name.source.description,
            eventID: claim.name.event.description,
            start: Date(claim.start),
            end: claim.end.map { Date($0) },
            duration: claim.duration,
            isCancelled: claim.isCancelled
        )
    }
}

extension BreakStatus.State {
    init(_ state: BreakState) {
        switch state {
        case .scheduled: self = .scheduled
        case .cued: self = .cued
        case .announced: self = .announced
        case .live: self = .live
        case .complete: self = .complete
        case .cancelled: self = .cancelled
        case .expired: self = .expired
        }
    }
}

extension BroadcastRefusal {
    init(_ refusal: Refusal) {
        self.init(
            status: Status(rawValue: refusal.status.name) ?? .invalid,
            sentence: refusal.sentence,
            canRetry: refusal.status.canRetry,
            retryAfter: refusal.retryAfter
        )
    }
}
