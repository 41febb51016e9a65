// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// When a break starts, as the broadcaster says it.
///
/// The gateway resolves it once, by its own clock.
package enum BreakStart: Hashable, Sendable {
    case at(Timestamp)
    /// This long after the gateway received the request.
    case after(Duration)
    case now
}

/// The action that a broadcaster asks for.
package struct BroadcastRequest: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case publish(Publish)
        case punch(Punch)
        case update(Update)
        case end(End)
        case cancel(BreakKey)
        case list(List)
        case postpone(Postpone)
        case signal(Signal)
        case putList(PutList)
        case removeList(AdListName)
        /// A list with its advertisements; `nil`: the names of all.
        case lists(AdListName?)
        case watchReport(WatchReport)
    }

    package struct Publish: Hashable, Sendable {
        package var key: BreakKey
        /// `nil`: the break is cued, or, with `preStream`, open at once.
        package var start: BreakStart?
        /// The most that the break lasts; `nil`: until it is ended.
        package var duration: Duration?
        package var advertisements: [AdvertisementContent]
        /// Other advertisements for some listeners, in the order in which they are tried.
        package var variants: [AudienceVariant] = []
        package var preStream: Bool
        /// Late batches hold only what fits into the rest of the break.
        package var exact: Bool
        package var endMode: EndMode
        /// How long a cued break is held, or a pre-stream break open; `nil`: 30 min.
        package var hold: Duration?

        package init(
            key: BreakKey,
            start: BreakStart?,
            duration: Duration? = nil,
            advertisements: [AdvertisementContent],
            preStream: Bool = false,
            exact: Bool = false,
            endMode: EndMode = .cut,
            hold: Duration? = nil
        ) {
            self.key = key
            self.start = start
            self.duration = duration
            self.advertisements = advertisements
            self.preStream = preStream
            self.exact = exact
            self.endMode = endMode
            self.hold = hold
        }
    }

    package struct Punch: Hashable, Sendable {
        package var key: BreakKey
        /// `nil`: after the gateway's usual lead.
        package var start: BreakStart?

        package init(key: BreakKey, start: BreakStart? = nil) {
            self.key = key
            self.start = start
        }
    }

    package struct Update: Hashable, Sendable {
        package var key: BreakKey
        package var start: BreakStart?
        package var duration: Duration?
        /// Those of `default`; `nil`: they stay.
        package var advertisements: [AdvertisementContent]?
        /// The other variants, all of them; `nil`: they stay.
        package var variants: [AudienceVariant]?

        package init(
            key: BreakKey,
            start: BreakStart? = nil,
            duration: Duration? = nil,
            advertisements: [AdvertisementContent]? = nil
        ) {
            self.key = key
            self.start = start
            self.duration = duration
            self.advertisements = advertisements
        }
    }

    package struct End: Hashable, Sendable {
        package var key: BreakKey
        /// `nil`: as the break was published.
        package var endMode: EndMode?
        /// The programme position at which it ends; `nil`: now.
        package var at: Timestamp?

        package init(key: BreakKey, endMode: EndMode? = nil, at: Timestamp? = nil) {
            self.key = key
            self.endMode = endMode
            self.at = at
        }
    }

    package struct Postpone: Hashable, Sendable {
        package var key: BreakKey
        /// By how much; above zero, in whole milliseconds.
        package var by: Duration
        /// The start that it has now; `nil`: the request expects a revision.
        package var from: Timestamp?

        package init(key: BreakKey, by: Duration, from: Timestamp? = nil) {
            self.key = key
            self.by = by
            self.from = from
        }
    }

    package struct List: Hashable, Sendable {
        /// `nil`: all streams.
        package var stream: StreamID?
        package var id: BreakID?
        /// As the last page gave it.
        package var after: [UInt8]

        package init(stream: StreamID? = nil, id: BreakID? = nil, after: [UInt8] = []) {
            self.stream = stream
            self.id = id
            self.after = after
        }
    }

    package var id: UInt64
    /// The sender's token; it has no effect yet.
    package var token: String
    /// The revision that the break must have for anything to change, `nil` for any; or one of `ExpectedRevision`.
    ///
    /// A list of breaks has none, and neither has a signal.
    package var expectedRevision: UInt64?
    /// The trace that it belongs to, as it was sent; empty: none is told.
    ///
    /// `TraceParent` reads it, where anybody wants to know.
    package var traceparent: String
    package var kind: Kind

    package init(
        id: UInt64,
        token: String = "",
        expectedRevision: UInt64? = nil,
        traceparent: String = "",
        kind: Kind
    ) {
        self.id = id
        self.token = token
        self.expectedRevision = expectedRevision
        self.traceparent = traceparent
        self.kind = kind
    }
}

/// The expectations that a request may state in the place of a revision.
package enum ExpectedRevision {
    /// The break is not there yet, not even as it is asked for; only of a request to publish.
    package static let absent: UInt64 = 0
    /// The break is there, whatever its revision.
    package static let any = UInt64(Int64.max)
}
