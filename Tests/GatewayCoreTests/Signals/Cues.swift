// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Made-up signals, and a desk that knows what to make of them.
enum Cues {
    static let list = must { () throws(WireError) in try AdListName("spots") }
    static let spots = Sample.advertisements([10, 10, 10])

    static func source(_ text: String) -> SignalSource {
        must { () throws(WireError) in try SignalSource(text) }
    }

    static func name(_ source: String, _ event: String) -> SignalName {
        must { () throws(WireError) in
            SignalName(source: try SignalSource(source), event: try SignalEventID(event))
        }
    }

    /// A rule for every stream: the encoder goes before the playlist, and that before all others.
    static var policy: CuePolicy {
        var rule = CuePolicy.Rule(streams: .every, list: Self.list)
        rule.defaultDuration = .seconds(60)
        rule.precedence = [Self.source("encoder"), Self.source("playlist")]
        return CuePolicy(rules: [rule])
    }

    static func desk(_ policy: CuePolicy = Cues.policy) -> Desk {
        var desk = Desk()
        desk.planner.cues = policy
        _ = desk.ask(.putList(.init(name: Self.list, advertisements: Self.spots)), at: 0)
        return desk
    }

    static func out(
        _ source: String = "encoder",
        _ event: String = "1",
        at start: Double? = nil,
        lasting seconds: Double? = nil,
        programme: Bool = false
    ) -> BroadcastRequest.Kind {
        .signal(
            .init(
                stream: Sample.stream,
                name: Self.name(source, event),
                kind: .out,
                start: start.map { .at(Sample.at($0)) },
                isProgrammeTime: programme,
                duration: seconds.map { .milliseconds(Int64($0 * 1_000)) }
            )
        )
    }

    static func back(
        _ source: String = "encoder",
        _ event: String = "1",
        at end: Double? = nil,
        programme: Bool = false
    ) -> BroadcastRequest.Kind {
        .signal(
            .init(
                stream: Sample.stream,
                name: Self.name(source, event),
                kind: .in,
                start: end.map { .at(Sample.at($0)) },
                isProgrammeTime: programme
            )
        )
    }

    static func cancel(_ source: String = "encoder", _ event: String = "1") -> BroadcastRequest.Kind {
        .signal(.init(stream: Sample.stream, name: Self.name(source, event), kind: .cancel))
    }
}

extension Desk {
    /// The breaks of the stream, in the order in which they were opened.
    var cued: [Break] { self.board.stream(Sample.stream)?.sortedBreaks ?? [] }
}
