// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport

/// Broadcasters that ask for all sorts of things, sensible and not, and often once more.
struct RandomBroadcasters {
    var generator: SeededGenerator
    /// By the gateway's clock, in whole milliseconds.
    private(set) var now = Sample.t0
    private var sent: [BroadcastRequest.Kind] = []
    private var published: [BreakKey] = []

    init(for test: String) { self.generator = SeededGenerator(for: test) }

    /// Lets some time pass.
    mutating func pass() {
        let milliseconds = self.generator.pick([0, 0, 1, 500, 1_000, 3_000, 8_000, 20_000])
        self.now = self.now + .milliseconds(Int64(milliseconds))
    }

    /// The next request.
    ///
    /// - Parameter start: when a break starts, as far as broadcasters know.
    /// - Returns: the request; one of five is sent again.
    mutating func request(start: (BreakKey) -> Timestamp? = { _ in nil }) -> BroadcastRequest.Kind {
        if !self.sent.isEmpty, self.generator.number(0...4) == 0 { return self.generator.pick(self.sent.suffix(20)) }
        let kind: BroadcastRequest.Kind =
            switch self.generator.number(0...13) {
            case 0...4: .publish(self.publish(self.newKey()))
            case 5, 6: .punch(.init(key: self.key(), start: self.generator.maybe { Self.start(&$0, self.now) }))
            case 7, 8: .update(self.update(self.key()))
            case 9, 10:
                .end(
                    .init(
                        key: self.key(),
                        endMode: self.generator.maybe { $0.pick(EndMode.allCases) },
                        at: self.generator.maybe { self.now + .milliseconds(Int64($0.number(-20_000...40_000))) }
                    )
                )
            case 11, 12: .postpone(self.postpone(self.key(), start))
            default: .cancel(self.key())
            }
        if case .publish(let publish) = kind { self.published.append(publish.key) }
        self.sent.append(kind)
        return kind
    }

    private mutating func newKey() -> BreakKey {
        Sample.key(
            self.generator.pick(["a", "b", "c", "d", "e", "f", "g", "h"]) + self.generator.pick(["", "1", "2", "3"]),
            of: Sample.stream(self.generator.pick(["radio1", "radio10"]))
        )
    }

    /// Most often a break that was published lately.
    private mutating func key() -> BreakKey {
        self.published.isEmpty || self.generator.number(0...9) == 0
            ? self.newKey() : self.generator.pick(self.published.suffix(6))
    }

    private mutating func publish(_ key: BreakKey) -> BroadcastRequest.Publish {
        let preStream = self.generator.number(0...7) == 0
        let cued = self.generator.number(0...2) == 0
        let start = preStream || cued ? nil : Self.start(&self.generator, self.now)
        return BroadcastRequest.Publish(
            key: key,
            start: start,
            duration: self.generator.maybe { .milliseconds(Int64($0.number(1...60_000))) },
            advertisements: Sample.advertisements(self.generator.list(1...4) { Double($0.number(1...30)) }),
            preStream: preStream,
            exact: self.generator.bool(),
            endMode: self.generator.pick(EndMode.allCases),
            hold: start == nil ? self.generator.maybe { .milliseconds(Int64($0.number(1...100_000))) } : nil
        )
    }

    private mutating func update(_ key: BreakKey) -> BroadcastRequest.Update {
        BroadcastRequest.Update(
            key: key,
            start: self.generator.maybe { Self.start(&$0, self.now) },
            duration: .milliseconds(Int64(self.generator.number(1...60_000))),
            advertisements: self.generator.number(0...3) == 0 ? Sample.advertisements([7, 8]) : nil
        )
    }

    private mutating func postpone(
        _ key: BreakKey,
        _ start: (BreakKey) -> Timestamp?
    ) -> BroadcastRequest.Postpone {
        // Some know it wrong.
        let known = self.generator.number(0...4) == 0 ? nil : start(key)
        return BroadcastRequest.Postpone(
            key: key,
            by: self.generator.number(0...19) == 0
                ? .seconds(6 * 3_600) : .milliseconds(Int64(self.generator.number(1...40_000))),
            from: known ?? self.now + .milliseconds(Int64(self.generator.number(-20_000...60_000)))
        )
    }

    private static func start(_ generator: inout SeededGenerator, _ now: Timestamp) -> BreakStart {
        switch generator.number(0...9) {
        case 0, 1: .now
        case 2...5: .after(.milliseconds(Int64(generator.number(0...60_000))))
        case 6...8: .at(now + .milliseconds(Int64(generator.number(-3_000...60_000))))
        default: .after(.seconds(6 * 3_600) + .milliseconds(generator.pick([0, 1])))
        }
    }
}
