// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import LoadEngine

extension RequestKind: ExpressibleByArgument {}

struct Requests: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure how many requests are answered, with one under way on each connection.",
        discussion: """
            Publishes the breaks that it needs, on streams of its own (load-…). For \
            acknowledgements it fetches deliveries first, so that every outcome is new.

            Example: cuecast-load requests --kind batch --connections 1000 --json \\
              --requests tcp://127.0.0.1:7401 --broadcast tcp://127.0.0.1:7402
            Example: cuecast-load requests --kind join --listener-token-file tokens \\
              --tls --listener-ca-file ca.pem --requests tcp://127.0.0.1:7401
            """
    )

    @Option(help: "Where listeners ask, as tcp://HOST:PORT.")
    var requests: String

    @Option(help: "Where broadcasters publish; needed for batch and acknowledge.")
    var broadcast: String?

    @Option(help: "How many connections ask.")
    var connections = 100

    @Option(help: "What they ask.")
    var kind = RequestKind.batch

    @Option(help: "How many outcomes an acknowledgement has.")
    var outcomes = 3

    @Option(help: "How many advertisements a break has. (default: 3; for acknowledge: ten times the outcomes)")
    var ads: Int?

    @Option(help: "How long to measure. (default: 10s)", transform: DurationArgument.read)
    var duration = DurationArgument(.seconds(10))

    @Option(help: "How long to ask before measuring. (default: 2s)", transform: DurationArgument.read)
    var warmup = DurationArgument(.seconds(2))

    @Option(help: "How many connections to open in a second.")
    var connectRate = 5_000.0

    @Option(help: "How many acknowledgements in a second to fetch deliveries for beforehand.")
    var expect = 60_000.0

    @Flag(help: "The peer is no gateway: it answers anything with the same bytes.")
    var bare = false

    @Option(help: "Write one exchange to request.bin and reply.bin in this folder.")
    var record: String?

    @Option(
        help: """
            With --kind join: a file of tokens, one for all or one a line for each connection, for streams load-… that \
            ask for one. Each join has its token checked.
            """
    )
    var listenerTokenFile: String?

    @Option(
        help: """
            With --kind batch: so many variants of the break, with default; each session joins first, with the attribute \
            'variant', which the gateway must name: listeners.attributes='load-* join=variant'.
            """
    )
    var variants: Int?

    @OptionGroup var encryption: EncryptionOptions

    @OptionGroup var output: OutputOptions

    func run() throws {
        let result = try perform { () throws(LoadError) in
            var settings = RequestsSettings(
                requests: try self.encryption.endpoint(self.requests),
                broadcast: try self.broadcast.map { (text) throws(LoadError) in try Endpoint(text) },
                kind: self.kind,
                connections: self.connections
            )
            settings.outcomes = self.outcomes
            settings.advertisements = self.ads
            settings.duration = self.duration.duration
            settings.warmUp = self.warmup.duration
            settings.isBare = self.bare
            settings.encryption = self.encryption.encryption
            if let file = self.listenerTokenFile {
                settings.tokens = try JoinTokens(path: file, listeners: self.connections)
            }
            settings.variants = self.variants
            settings.connectionsPerSecond = self.connectRate
            settings.acknowledgementsPerSecondExpected = self.expect
            settings.handlesSignals = true
            return try measureRequests(settings)
        }
        if let record = self.record { try Self.write(result.exchange, to: record) }
        if self.output.isJSON {
            try say(json: result)
        } else {
            Self.describe(result)
        }
        if result.lost > 0 || !result.refused.isEmpty { throw CommandExit.checkFailed }
    }

    private static func write(_ exchange: RequestsResult.Exchange, to folder: String) throws {
        let folder = URL(fileURLWithPath: folder, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(exchange.request).write(to: folder.appendingPathComponent("request.bin"))
        try Data(exchange.reply).write(to: folder.appendingPathComponent("reply.bin"))
    }

    private static func describe(_ result: RequestsResult) {
        let latency = result.latency
        say("\(Int(result.perSecond)) \(result.kind.rawValue) requests a second on \(result.connections) connections")
        say("  request \(result.requestBytes) bytes, reply \(result.replyBytes) bytes")
        say(
            "  median \(microseconds(latency.p50)), 99 % \(microseconds(latency.p99)), last \(microseconds(latency.max))"
        )
        say("  \(result.count) answered in \(result.seconds) s, lost \(result.lost)")
        for (status, count) in result.refused.sorted(by: { $0.key < $1.key }) { say("  refused \(status): \(count)") }
        say("  own CPU \(result.ownCPUSeconds) s")
    }
}
