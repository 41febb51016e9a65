// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import LoadEngine

struct Idle: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Hold listeners that do nothing, so that a server's memory and CPU can be looked at.",
        discussion: """
            Prints {"ready":N} when all listeners are up: joined, with one connection that \
            brings notices too or with two; with --bare subscribed and answered once. With \
            --use-notices and --use-requests each gets so many notices and asks for so \
            many batches before that.

            Example: cuecast-load idle --connections 9000 --hold 20s \\
              --notices tcp://127.0.0.1:7400 --requests tcp://127.0.0.1:7401
            """
    )

    @Option(help: "Where notices are published, as tcp://HOST:PORT.")
    var notices: String

    @Option(help: "Where listeners ask; without it they only subscribe.")
    var requests: String?

    @Option(help: "How many listeners.")
    var connections = 100

    @Option(help: "How long to hold them. (default: 20s)", transform: DurationArgument.read)
    var hold = DurationArgument(.seconds(20))

    @Flag(
        help: "Two connections for each listener. Otherwise one, and two only where the gateway sends no notices on it."
    )
    var noPush = false

    @Option(help: "Where the break is published that --use-notices and --use-requests are about.")
    var broadcast: String?

    @Option(help: "How many notices each listener gets before it is held.")
    var useNotices = 0

    @Option(help: "How many batches each listener asks for before it is held, once it has its notices.")
    var useRequests = 0

    @Option(help: "How many listeners to connect in a second.")
    var connectRate = 2_500.0

    @Flag(help: "The peers are no gateway: nothing proves a subscription, and any answer is good.")
    var bare = false

    @OptionGroup var encryption: EncryptionOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard self.useNotices >= 0, self.useRequests >= 0 else {
            throw ValidationError("--use-notices and --use-requests take a number from 0 on.")
        }
        guard self.useNotices == 0 || self.broadcast != nil else {
            throw ValidationError("--use-notices needs --broadcast: the tool must publish.")
        }
        guard self.useRequests == 0 || self.useNotices > 0 && self.requests != nil else {
            throw ValidationError(
                "--use-requests needs --use-notices and --requests: what would be asked for, and where?"
            )
        }
        guard self.useNotices == 0 || !self.bare else { throw ValidationError("Give one of --bare and --use-notices.") }
    }

    func run() throws {
        let result = try perform { () throws(LoadError) in
            var settings = IdleSettings(
                notices: try self.encryption.endpoint(self.notices),
                requests: try self.requests.map { (text) throws(LoadError) in try self.encryption.endpoint(text) },
                connections: self.connections,
                hold: self.hold.duration
            )
            settings.isBare = self.bare
            settings.encryption = self.encryption.encryption
            settings.push = !self.noPush
            if let broadcast, self.useNotices > 0 {
                settings.use = IdleSettings.Use(
                    broadcast: try Endpoint(broadcast),
                    notices: self.useNotices,
                    requests: self.useRequests
                )
            }
            settings.connectionsPerSecond = self.connectRate
            settings.handlesSignals = true
            return try holdIdleListeners(settings) { say("{\"ready\":\($0)}") }
        }
        if self.output.isJSON {
            try say(json: result)
        } else {
            say("\(result.connections) listeners, up after \(result.connectSeconds) s, held \(result.holdSeconds) s")
            say("  \(result.pushed) with one connection")
            let handshake = result.handshake
            let times = "median \(microseconds(handshake.p50)), 99 % \(microseconds(handshake.p99))"
            say("  \(result.handshakes) handshakes: \(times), last \(microseconds(handshake.max))")
            say("  \(result.ended) connections ended meanwhile; own CPU \(result.ownCPUSeconds) s")
        }
        if result.ended > 0 { throw CommandExit.checkFailed }
    }
}
