// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
@_spi(Tuning) import Cuecast
import CuecastNIO
import CuecastZeroMQ
import Foundation
import UnixSignals

struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Listen to a stream as a player would: play or ignore its ads, and acknowledge.",
        discussion: """
            A demo player on the client library. It "plays" each ad for as long as it lasts (no sound), with a progress \
            line on a terminal, and acknowledges what it did.

            Where nothing answers at the gateway's addresses it ends with 69 after a few attempts; with --wait it goes on. A gateway that \
            was reached once is waited for in any case.

            With --json it prints one JSON object a line. It ends when the reader of its output closes the pipe.

            Example: cuecast listen --stream radio1 --breaks 1 --speed 10

            Example: cuecast listen --stream radio1 --url wss://ads.example.com/listen
            """
    )

    @Option(help: "The stream to listen to.")
    var stream: String

    @Flag(help: "Play the ads (the default), or ignore them.")
    var mode: Mode = .play

    @Option(help: "Stop after this many breaks; without it listen until interrupted.")
    var breaks: Int?

    @Option(help: "Play this many times faster than the ads last.")
    var speed: Double = 1

    @Option(help: "Hear the stream this much behind live, for instance 30s.", transform: DurationArgument.read)
    var delay: DurationArgument?

    @Option(
        help: """
            Keep the session and what the gateway has not confirmed in this file: a player that is killed goes on where \
            it was when it starts again within 10 min, and loses no outcome.
            """
    )
    var state: String?

    @Option(help: "The file of a token, for a stream that asks for one; read again for each join that needs it.")
    var tokenFile: String?

    @Option(
        help: """
            Listen at this address instead of --notices and --requests: ws://HOST/PATH or wss://HOST/PATH for WebSocket.
            """
    )
    var url: String?

    @Option(help: "Certificates that are trusted for wss://, as PEM. (default: those that the system trusts)")
    var listenerCaFile: String?

    @Flag(help: "Call the tracking URLs of the ads.")
    var tracking = false

    @Flag(help: "Hear the notices on a connection of their own, instead of on that of the requests.")
    var twoConnections = false

    @Flag(help: "Go on trying if nothing answers at the gateway's addresses, instead of ending with 69.")
    var wait = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var gateway: GatewayOptions

    enum Mode: String, EnumerableFlag {
        case play
        case ignore
    }

    func validate() throws {
        guard self.speed.isFinite, self.speed > 0 else { throw ValidationError("--speed takes a number above 0.") }
        guard self.breaks.map({ $0 > 0 }) ?? true else { throw ValidationError("--breaks takes a number above 0.") }
        if let url {
            guard url.hasPrefix("ws://") || url.hasPrefix("wss://") else {
                throw ValidationError("--url takes ws://HOST/PATH or wss://HOST/PATH.")
            }
        }
        guard self.listenerCaFile == nil || self.url?.hasPrefix("wss://") == true else {
            throw ValidationError("--listener-ca-file goes with --url wss://….")
        }
    }

    private func transport() throws -> any ListenerTransport {
        guard self.url != nil else { return ZeroMQListenerTransport() }
        guard let listenerCaFile else { return NIOListenerTransport() }
        let pem: [UInt8]
        do throws(HTTPEndpoint.Fault) {
            pem = try HTTPEndpoint.certificates(listenerCaFile)
        } catch {
            throw ValidationError("--listener-ca-file: \(error)")
        }
        return NIOListenerTransport(
            trust: GatewayTrust(roots: .certificates(pem: String(decoding: pem, as: UTF8.self)))
        )
    }

    func run() async throws {
        var configuration = ListenerConfiguration(
            gateway: try self.url.map { GatewayAddress(url: $0) }
                ?? GatewayAddress(
                    notices: try self.gateway.noticesEndpoint,
                    requests: try self.gateway.requestsEndpoint
                ),
            stream: LiveStream(id: self.stream)
        )
        configuration.delay = self.delay?.duration ?? .zero
        if self.twoConnections { configuration.connections = .two }
        if let state = self.state {
            configuration.storage = .file(path: state)
            // A command has nothing to do before it knows that the file is its own.
            configuration.timings.storageWait = .seconds(86_400)
        }
        if let tokenFile {
            do {
                _ = try OperatorToken.read(tokenFile)
            } catch {
                complain("\(error)")
                throw CommandExit.badData
            }
            configuration.tokenProvider = { try OperatorToken.read(tokenFile) }
        }
        if self.tracking {
            configuration.tracking = TrackingConfiguration(userAgent: "cuecast-listen/\(CuecastVersion.text)")
        }
        configuration.client = "cuecast-listen/\(CuecastVersion.text)"
        let client: CuecastClient
        do {
            client = try CuecastClient(
                configuration: configuration,
                transport: try self.transport(),
                logger: GatewayOptions.quietLogger
            )
        } catch {
            throw ValidationError("\(error)")
        }
        let printer = ListenPrinter(json: self.output.isJSON, isTerminal: isatty(STDOUT_FILENO) == 1)
        let player = DemoPlayer(
            client: client,
            ignores: self.mode == .ignore,
            speed: self.speed,
            waits: self.wait,
            printer: printer
        )
        let events = client.makeEvents()
        let breaks = self.breaks
        let end = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) { client.stop() }
            }
            defer { group.cancelAll() }
            do throws(CuecastError) {
                try await client.start()
            } catch {
                complain("\(error)")
                throw CommandExit.unavailable
            }
            return await player.follow(events, breaks: breaks)
        }
        client.stop()
        await client.stopped()
        printer.end()
        switch end {
        case .done: break
        case .refused(let reason):
            complain("the gateway refuses this listener: \(reason)")
            throw CommandExit.notAllowed
        case .unreachable(let reason):
            complain(
                """
                \(reason). Check that the gateway runs, and that --gateway, --requests and --notices, or the CUECAST_… variables, \
                have its addresses; --wait goes on trying
                """
            )
        }
        if client.unconfirmedOutcomes > 0 {
            complain("the gateway has not confirmed \(client.unconfirmedOutcomes) outcomes")
            throw CommandExit.unavailable
        }
        if case .unreachable = end { throw CommandExit.unavailable }
    }
}
