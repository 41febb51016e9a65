// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import LoadEngine

struct Idle: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Hold listeners that do nothing, so that a server's memory and CPU can be looked at.",
        discussion: """
            Prints {"ready":N} when all listeners are up: subscribed and joined; with
            --bare subscribed and answered once.

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

    @Option(help: "How long to hold them.")
    var hold = DurationArgument(.seconds(20))

    @Option(help: "How many listeners to connect in a second.")
    var connectRate = 2_500.0

    @Flag(help: "The peers are no gateway: nothing proves a subscription, and any answer is good.")
    var bare = false

    @Flag(help: "Print one JSON object at the end.")
    var json = false

    func run() throws {
        let result = try perform { () throws(LoadError) in
            var settings = IdleSettings(
                notices: try Endpoint(self.notices),
                requests: try self.requests.map { (text) throws(LoadError) in try Endpoint(text) },
                connections: self.connections,
                hold: self.hold.duration
            )
            settings.isBare = self.bare
            settings.connectionsPerSecond = self.connectRate
            settings.handlesSignals = true
            return try holdIdleListeners(settings) { say("{\"ready\":\($0)}") }
        }
        if self.json {
            try say(json: result)
        } else {
            say("\(result.connections) listeners, up after \(result.connectSeconds) s, held \(result.holdSeconds) s")
            say("  \(result.ended) connections ended meanwhile; own CPU \(result.ownCPUSeconds) s")
        }
        if result.ended > 0 { throw CommandExit.checkFailed }
    }
}
