// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// The books as JSON. `cuecast report` reads it too.
package struct ReportDocument: Codable, Hashable, Sendable {
    package struct Counts: Codable, Hashable, Sendable {
        package var delivered: Int64
        package var played: Int64
        package var ignored: Int64
        package var failed: Int64
        package var unknown: Int64
        /// Of `played`: concluded from the time that passed.
        package var inferred: Int64
        package var repeats: Int64
        package var contradictions: Int64
        package var heardMilliseconds: Int64
        package var muted: Int64
        package var ignoredBy: [String: Int64]
        /// Whether `delivered = played + ignored + failed + unknown`.
        package var balanced: Bool

        init(_ counts: OutcomeCounts) {
            self.delivered = counts.delivered
            self.played = counts.played
            self.ignored = counts.ignored
            self.failed = counts.failed
            self.unknown = counts.unknown
            self.inferred = counts.inferred
            self.repeats = counts.repeats
            self.contradictions = counts.contradictions
            self.heardMilliseconds = counts.heardMilliseconds
            self.muted = counts.muted
            self.ignoredBy = Dictionary(uniqueKeysWithValues: counts.ignoredBy.map { ("\($0.key)", $0.value) })
            self.balanced = counts.balances
        }
    }

    package struct Advertisement: Codable, Hashable, Sendable {
        package var id: String
        package var title: String
        package var durationMilliseconds: Int64
        package var counts: Counts
    }

    package struct Break: Codable, Hashable, Sendable {
        package var stream: String
        package var `break`: String
        package var number: UInt64
        package var published: String
        package var start: String?
        package var end: String?
        package var cancelled: Bool
        package var expired: Bool
        package var preStream: Bool
        package var sessions: Int64
        /// Whether its end and ten minutes are over, so that `unknown` is final but for late outcomes.
        package var settled: Bool
        package var balanced: Bool
        package var advertisements: [Advertisement]
    }

    /// Up to where a lane is counted, and how far the log has come.
    package struct LaneState: Codable, Hashable, Sendable {
        package var counted: UInt64
        package var head: UInt64?
    }

    package var time: String
    package var balanced: Bool
    package var total: Counts
    package var breaks: [Break]
    /// Whether there are older breaks: ask again with `before` = the number of the last one here.
    package var more: Bool
    package var lanes: [String: LaneState]

    package init(_ report: Report, heads: [Lane: UInt64], now: Timestamp) {
        self.time = now.description
        self.balanced = report.balances
        self.total = Counts(report.total)
        self.breaks = report.breaks.map { each in
            Break(
                stream: each.summary.key.stream.description,
                break: each.summary.key.id.description,
                number: each.summary.number.rawValue,
                published: each.summary.published.description,
                start: each.summary.start?.description,
                end: each.summary.end?.description,
                cancelled: each.summary.cancelled,
                expired: each.summary.expired,
                preStream: each.summary.preStream,
                sessions: each.sessions,
                settled: each.settled,
                balanced: each.advertisements.allSatisfy(\.counts.balances),
                advertisements: each.advertisements.map {
                    Advertisement(
                        id: $0.id.description, title: $0.title,
                        durationMilliseconds: Int64($0.duration.inMilliseconds), counts: Counts($0.counts))
                })
        }
        self.more = report.more
        self.lanes = Dictionary(
            uniqueKeysWithValues: Set(heads.keys).union(report.offsets.keys).map { lane in
                (lane.description, LaneState(counted: report.offsets[lane] ?? 0, head: heads[lane]))
            })
    }
}

/// A break on the board as JSON. Keys that do not apply are absent.
struct BreakDocument: Encodable {
    let stream: String
    let `break`: String
    let state: String
    let published: String
    let announce: String?
    let start: String?
    let end: String?
    let holdUntil: String?
    let advertisements: Int
    let firstAdvertisement: String
    let preStream: Bool
    let exact: Bool
    let sequence: UInt64?

    init(_ info: BreakInfo) {
        self.stream = info.key.stream.description
        self.break = info.key.id.description
        self.state = info.state.name
        self.published = info.published.description
        self.announce = info.announce?.description
        self.start = info.start?.description
        self.end = info.end?.description
        self.holdUntil = info.holdUntil?.description
        self.advertisements = info.advertisementCount
        self.firstAdvertisement = info.firstAdvertisementTitle
        self.preStream = info.preStream
        self.exact = info.exact
        self.sequence = info.position?.sequence
    }
}
