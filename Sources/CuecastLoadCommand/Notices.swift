// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import LoadEngine

extension NoticePattern: ExpressibleByArgument {}

struct Notices: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure how soon, or how fast, notices reach all the subscribers of a stream.",
        discussion: """
            single: one break published after a silence, several times. burst: many \
            pipelined updates of one break. Positions are checked: nothing lost, nothing \
            twice, nothing out of order.

            Example: cuecast-load notices --connections 9000 --silence 30s --json \\
              --notices tcp://127.0.0.1:7400 --broadcast tcp://127.0.0.1:7402
            """
    )

    @Option(help: "Where notices are published, as tcp://HOST:PORT.")
    var notices: String

    @Option(help: "Where broadcasters publish.")
    var broadcast: String?

    @Option(help: "Where a bare forwarder takes ready-made notices, instead of --broadcast.")
    var barePublish: String?

    @Option(help: "How many connections subscribe.")
    var connections = 100

    @Option(help: "How to publish.")
    var pattern = NoticePattern.single

    @Option(
        help: "How long nothing is published before each round. (default: 30s; for burst: 500ms)",
        transform: DurationArgument.read
    )
    var silence: DurationArgument?

    @Option(help: "How many rounds.")
    var count = 10

    @Option(help: "How many updates a burst has.")
    var burst = 500

    @Option(help: "How many connections to open in a second.")
    var connectRate = 5_000.0

    @OptionGroup var encryption: EncryptionOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (self.broadcast == nil) != (self.barePublish == nil) else {
            throw ValidationError("one of --broadcast and --bare-publish says where to publish")
        }
    }

    func run() throws {
        let result = try perform { () throws(LoadError) in
            let publisher: NoticesSettings.Publisher =
                if let bare = self.barePublish {
                    .forwarder(try Endpoint(bare))
                } else {
                    .gateway(try Endpoint(self.broadcast ?? ""))
                }
            var settings = NoticesSettings(
                notices: try self.encryption.endpoint(self.notices),
                publisher: publisher,
                connections: self.connections,
                pattern: self.pattern,
                silence: self.silence?.duration ?? (self.pattern == .single ? .seconds(30) : .milliseconds(500))
            )
            settings.rounds = self.count
            settings.burst = self.burst
            settings.encryption = self.encryption.encryption
            settings.connectionsPerSecond = self.connectRate
            settings.handlesSignals = true
            return try measureNotices(settings)
        }
        if self.output.isJSON {
            try say(json: result)
        } else {
            Self.describe(result)
        }
        if result.lost + result.repeated + result.outOfOrder > 0 { throw CommandExit.checkFailed }
    }

    private static func describe(_ result: NoticesResult) {
        say("\(result.connections) subscribers, notices of \(result.noticeBytes) bytes")
        for round in result.rounds {
            if let median = round.medianMicroseconds, let percentile = round.percentile99Microseconds,
                let last = round.lastMicroseconds
            {
                let times =
                    "median \(microseconds(median)), 99 % \(microseconds(percentile)), last \(microseconds(last))"
                say("  \(round.received) received: \(times)")
            } else if let perSecond = round.perSecond, let seconds = round.seconds {
                say("  \(round.received) received in \(seconds) s: \(Int(perSecond)) a second")
            }
        }
        say("  lost \(result.lost), repeated \(result.repeated), out of order \(result.outOfOrder)")
        say("  own CPU \(result.ownCPUSeconds) s")
    }
}
