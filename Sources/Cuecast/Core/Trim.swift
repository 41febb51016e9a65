// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Until when the advertisements of a break may be handed out.
enum PlayLimit: Hashable, Sendable {
    /// While the listener hears the programme before this instant.
    case playhead(Timestamp)
    /// While the gateway's clock is before this instant, however far behind the listener is.
    case gateway(Timestamp)

    func isReached(at moment: Moment) -> Bool {
        switch self {
        case .playhead(let time): moment.playhead >= time
        case .gateway(let time): moment.gateway >= time
        }
    }

    func local(at moment: Moment) -> LocalInstant {
        switch self {
        case .playhead(let time): moment.local(playhead: time)
        case .gateway(let time): moment.local(gateway: time)
        }
    }
}

/// Advertisements in order, split into those that can still be played and those that cannot.
struct Trimmed: Hashable, Sendable {
    /// How much an advertisement may pass the end of its break and still count as fitting: timers and media are not
    /// exact to the millisecond.
    static let tolerance = Duration.milliseconds(500)

    var kept: [Advertisement] = []
    var dropped: [Advertisement] = []

    /// The advertisements, of which the first began at `start`, that a listener with the playhead `playhead` can still play.
    ///
    /// Those whose own time is over are dropped from the front. Where the break must not cut its last advertisement short,
    /// those that no longer fit before its end are dropped from the back.
    init(_ advertisements: [Advertisement], start: Timestamp, end: Timestamp?, exact: Bool, playhead: Timestamp) {
        var ownEnd = start
        var passed = 0
        for advertisement in advertisements {
            ownEnd = ownEnd + advertisement.exactDuration
            guard ownEnd <= playhead else { break }
            passed += 1
        }
        self.dropped = Array(advertisements[..<passed])
        let rest = advertisements[passed...]
        if let end, playhead >= end {
            self.dropped += rest
            return
        }
        guard exact, let end else {
            self.kept = Array(rest)
            return
        }
        let fitting = Self.fitting(rest, from: max(start, playhead), before: end, endMode: .cut)
        self.kept = Array(rest.prefix(fitting))
        self.dropped += rest.dropFirst(fitting)
    }

    /// How many of `advertisements`, played one after the other from `start`, fit before `end`.
    ///
    /// Where the one that is playing at the end may play to its own end, it is enough that it begins before.
    static func fitting(
        _ advertisements: some Sequence<Advertisement>,
        from start: Timestamp,
        before end: Timestamp,
        endMode: EndMode
    ) -> Int {
        var cursor = start
        var count = 0
        for advertisement in advertisements {
            let begin = cursor
            cursor = cursor + advertisement.exactDuration
            let fits =
                switch endMode {
                case .cut: cursor <= end + self.tolerance
                case .finishAd: begin < end
                }
            guard fits else { break }
            count += 1
        }
        return count
    }
}
