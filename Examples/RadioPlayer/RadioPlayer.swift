// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import Cuecast
import CuecastZeroMQ
import Dispatch
import Foundation
import Logging

/// A player of a stream in a terminal.
@main
struct RadioPlayer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "radio-player",
        abstract: "Hear a stream in the terminal, with the advertisements that its broadcaster publishes.",
        discussion: """
            The programme is an audio file, or only time that passes. Sound comes from mpv, ffplay, mpg123, play, afplay \
            or aplay, whichever is installed; without them, and for what they cannot play, time is only counted.

            Example: radio-player --stream radio1 --programme music.mp3

            Keys: i ignore what waits, c open the banner, s skip, m mute, p pause, + and - the delay, q quit.
            """
    )

    @Option(help: "The stream to hear.")
    var stream: String

    @Option(help: "The gateway's host, with the usual ports 7400 and 7401. [CUECAST_GATEWAY]")
    var gateway: String?

    @Option(help: "Where notices are published, as tcp://HOST:PORT. [CUECAST_NOTICES]")
    var notices: String?

    @Option(help: "Where listeners ask, as tcp://HOST:PORT. [CUECAST_REQUESTS]")
    var requests: String?

    @Option(help: "The audio file that is the programme; without it the programme is simulated.")
    var programme: String?

    @Option(help: "The program that plays sound (mpv, ffplay, mpg123, play, afplay, aplay), or none.")
    var player: String?

    @Option(help: "How many seconds behind live the stream is heard, to begin with.")
    var delay: Int = 0

    @Flag(help: "Print lines instead of drawing a screen, as without a terminal.")
    var plain = false

    /// How far behind live the listener may fall.
    private static let delayMax = Duration.seconds(600)
    /// How often the screen is drawn anew.
    private static let tick = Duration.milliseconds(100)
    /// How many inputs may wait for the loop.
    private static let inputsMax = 4_096

    func validate() throws {
        guard self.delay >= 0, .seconds(self.delay) <= Self.delayMax else {
            throw ValidationError("--delay takes a number from 0 to \(Self.delayMax.components.seconds).")
        }
        if let player, player != "none", PlayerProgram.find(player) == nil {
            throw ValidationError("--player \(player): there is no such program in PATH that this player knows.")
        }
        if let programme, !FileManager.default.isReadableFile(atPath: programme) {
            throw ValidationError("--programme \(programme): there is no such file.")
        }
    }

    func run() async throws {
        let client = try self.makeClient()
        let (inputs, input) = AsyncStream.makeStream(
            of: Player.Input.self,
            bufferingPolicy: .bufferingOldest(Self.inputsMax)
        )
        let player = Player(
            client: client,
            programme: self.programme,
            program: self.player == "none" ? nil : PlayerProgram.find(self.player)
        ) { run, isDone in
            input.yield(.soundEnded(run, isDone: isDone))
        }
        let sources = Self.sources(input)
        defer { for source in sources { source.cancel() } }
        let terminal = self.plain ? nil : Terminal()
        let events = client.makeEvents()
        await withTaskGroup { group in
            group.addTask {
                for await event in events { input.yield(.event(event)) }
                // The client has stopped: nothing follows.
                input.finish()
            }
            group.addTask {
                while !Task.isCancelled {
                    input.yield(.tick)
                    try? await Task.sleep(for: Self.tick)
                }
            }
            group.addTask {
                do { try await client.start() } catch { input.yield(.quit) }
            }
            player.begin()
            for await each in inputs {
                player.take(each)
                Self.show(player, terminal)
                if player.isOver { client.stop() }
            }
            group.cancelAll()
        }
        await client.stopped()
        terminal?.restore()
        try self.close(player, client)
    }

    /// The last lines, and the exit code.
    private func close(_ player: Player, _ client: CuecastClient) throws {
        if let refusal = player.refusal {
            FileHandle.standardError.write(Data("radio-player: the gateway refuses this listener: \(refusal)\n".utf8))
            throw ExitCode(77)
        }
        let tally = player.state.tally
        Terminal.write("played \(tally.played), ignored \(tally.ignored), failed \(tally.failed)\n")
        let unconfirmed = client.unconfirmedOutcomes
        if unconfirmed > 0 {
            FileHandle.standardError.write(
                Data("radio-player: the gateway has not confirmed \(unconfirmed) outcomes\n".utf8)
            )
            throw ExitCode(69)
        }
    }

    private func makeClient() throws -> CuecastClient {
        func environment(_ name: String) -> String? {
            ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        var address = GatewayAddress(host: self.gateway ?? environment("CUECAST_GATEWAY") ?? "127.0.0.1")
        address.notices = self.notices ?? environment("CUECAST_NOTICES") ?? address.notices
        address.requests = self.requests ?? environment("CUECAST_REQUESTS") ?? address.requests
        var configuration = ListenerConfiguration(gateway: address, stream: LiveStream(id: self.stream))
        configuration.delay = .seconds(self.delay)
        configuration.delayMax = Self.delayMax
        configuration.client = "radio-player"
        do {
            return try CuecastClient(
                configuration: configuration,
                transport: ZeroMQListenerTransport(),
                logger: Logger(label: "radio-player") { _ in SwiftLogNoOpLogHandler() }
            )
        } catch {
            throw ValidationError("\(error)")
        }
    }

    private static func show(_ player: Player, _ terminal: Terminal?) {
        let lines = player.takeLines()
        if let terminal {
            terminal.draw(Screen.lines(player.state, width: terminal.size.columns))
        } else if !lines.isEmpty {
            Terminal.write(lines.map { Screen.fitted($0, 200) + "\n" }.joined())
        }
    }

    /// Keys and signals, as inputs of the loop.
    private static func sources(_ input: AsyncStream<Player.Input>.Continuation) -> [any DispatchSourceProtocol] {
        let signals: [any DispatchSourceProtocol] = [SIGINT, SIGTERM, SIGHUP]
            .map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { input.yield(.quit) }
                source.resume()
                return source
            }
        guard Terminal.isThere else { return signals }
        // A stopped player would leave the shell with a screen that is not its own.
        signal(SIGTSTP, SIG_IGN)
        let keys = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        keys.setEventHandler {
            let bytes = FileHandle.standardInput.availableData
            // The terminal is gone.
            if bytes.isEmpty { input.yield(.quit) }
            for key in bytes.compactMap(Key.init(byte:)) { input.yield(.key(key)) }
        }
        keys.resume()
        return signals + [keys]
    }
}
