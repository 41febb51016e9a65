// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// A break of a ``ScriptedGateway``: what plays in it, and for how long.
public struct ScriptedBreak: Hashable, Sendable {
    /// The effect of an early end on the playing advertisement.
    public enum EndMode: Hashable, Sendable, CaseIterable {
        /// It stops.
        case cut
        /// It plays to its own end.
        case finishAd
    }

    /// The id of the break: 1 to 64 characters `A–Z a–z 0–9 . _ -`, unique at its gateway.
    public var id: String
    /// The advertisements that play, first to last; 1 to 64.
    public var advertisements: [ScriptedAdvertisement]
    /// The most that it lasts, up to 6 h; `nil`: as long as its advertisements together.
    public var duration: Duration?
    /// Whether it lasts until it is ended, at most 5 min; then `duration` does not count.
    public var isOpenEnded = false
    /// Whether listeners that come late get only what fits into the rest of the break, so that nothing is cut.
    public var isExact = false
    /// The effect of an early end on the playing advertisement, unless the end says otherwise.
    public var endMode = EndMode.cut

    /// A break.
    ///
    /// - Parameters:
    ///   - id: its id.
    ///   - advertisements: the advertisements, first to last.
    ///   - duration: the most that it lasts; `nil`: as long as its advertisements together.
    public init(_ id: String, _ advertisements: [ScriptedAdvertisement], duration: Duration? = nil) {
        self.id = id
        self.advertisements = advertisements
        self.duration = duration
    }
}

extension ScriptedBreak.EndMode {
    var wire: EndMode {
        switch self {
        case .cut: .cut
        case .finishAd: .finishAd
        }
    }
}

extension ScriptedBreak {
    /// The broadcaster's request that publishes it.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - start: `nil`: it is cued, or opened before streams.
    ///   - preStream: whether it plays before streams.
    ///   - hold: how long a break without a start is held or open.
    /// - Returns: the request.
    /// - Throws: where its id or that of an advertisement can be none.
    func request(
        _ stream: StreamID,
        start: BreakStart?,
        preStream: Bool = false,
        hold: Duration? = nil
    ) throws(WireError) -> BroadcastRequest.Publish {
        let all = self.advertisements.playingTime
        return BroadcastRequest.Publish(
            key: BreakKey(stream: stream, id: try BreakID(self.id)),
            start: start,
            // Where all of them last no time, that is what is wrong with them, and not with the break.
            duration: self.isOpenEnded || preStream ? nil : self.duration ?? (all > .zero ? all : nil),
            advertisements: try self.advertisements.map { (each) throws(WireError) in try each.content() },
            preStream: preStream,
            exact: self.isExact,
            endMode: self.endMode.wire,
            hold: hold
        )
    }
}
