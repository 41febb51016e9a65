// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CueWatching
import CuecastWire
import Foundation

struct WatchTransportStream: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ts",
        abstract: "Watch an MPEG transport stream, and send the signals of its SCTE-35 cues.",
        discussion: """
            The stream comes from standard input, a file, a named pipe, or as datagrams by UDP or RTP, also from a multicast group. The \
            program's clock (PCR) and the times of arrival say when a cue is by the wall clock: this machine's clock must be right.

            A file is read as fast as possible, and its first clock is now, or at --start; with --paced it is read at the speed of its \
            clock. A named pipe is watched on when its writer has gone: another one may come.

            A line is printed for each cue: what it is, and what was sent, or why it was ignored. Faults of the stream are told once for \
            each kind, counted, and end nothing. SIGTERM and SIGINT end the watch; the counts are printed then.

            Example: cuecast watch ts udp://@239.1.1.1:5000 --interface eth0 --stream sport1 --source encoder
            """
    )

    @Argument(help: "-, a file, a named pipe, udp://[@]ADDRESS:PORT or rtp://[@]ADDRESS:PORT.")
    var input: String

    @Option(help: "The stream that the gateway knows.")
    var stream: String

    @Option(help: "Only the cues of the program with this number; otherwise those of all programs.")
    var program: Int?

    @Option(help: "Only the cues with this PID.")
    var pid: Int?

    @Option(help: "The name or an address of the interface on which a multicast group is joined.")
    var interface: String?

    @Option(help: "The time of the file's first clock (RFC 3339); otherwise it is now.", transform: TimeArgument.read)
    var start: TimeArgument?

    @Flag(help: "Read a file at the speed of its clock.")
    var paced = false

    @OptionGroup var segmentation: SegmentationOptions
    @OptionGroup var watch: WatchOptions

    func validate() throws {
        do {
            _ = try StreamID(self.stream)
        } catch {
            throw ValidationError("--stream: \(error)")
        }
        if let program, !(1...65_535).contains(program) {
            throw ValidationError("--program must be a number from 1 to 65535.")
        }
        if let pid, !(16...8_190).contains(pid) { throw ValidationError("--pid must be a number from 16 to 8190.") }
        let input = try self.parsedInput()
        if case .datagrams = input {
            guard self.start == nil, !self.paced else {
                throw ValidationError("--start and --paced are for files: datagrams are of the moment of their coming.")
            }
        } else if self.interface != nil {
            throw ValidationError("--interface is for multicast: udp://@GROUP:PORT.")
        }
        guard self.start == nil || !self.paced else {
            throw ValidationError("Give one of --start and --paced: a paced file begins now.")
        }
    }

    func run() async throws {
        let input = try self.parsedInput()
        let say: @Sendable (String) -> Void = { complain($0) }
        let opened: TransportStreamWatcher.Opened
        do throws(CueRefusal) {
            opened = try await TransportStreamWatcher.open(input, interface: self.interface, say: say)
        } catch {
            complain(error.sentence)
            throw CommandExit.unavailable
        }
        var recordedStart: Int?
        if opened.isRecorded || self.start != nil || self.paced {
            recordedStart = Int(((self.start?.date ?? Date()).timeIntervalSince1970 * 1_000).rounded())
        }
        let watch = TransportStreamWatch(
            stream: self.stream,
            source: self.watch.source,
            choice: TransportStreamChoice(program: self.program, pid: self.pid),
            rule: self.segmentation.choice.rule(SegmentPolicy()),
            recordedStart: recordedStart
        )
        let isPaced = self.paced
        let watched = try self.watch.source(
            of: self.stream,
            .transportStream,
            at: input.description,
            choice: self.segmentation.choice
        )
        try await self.watch.run([watched]) { sender in
            let watcher = TransportStreamWatcher(
                input: input,
                isPaced: isPaced,
                sender: sender,
                say: say,
                watched: watched
            )
            await watcher.run(watch, of: opened)
        }
    }

    private func parsedInput() throws -> TransportStreamInput {
        do throws(TransportStreamInput.Fault) {
            return try TransportStreamInput(self.input)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
