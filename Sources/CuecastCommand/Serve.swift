// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Foundation
import Gateway
import GatewayCore
import GatewayHTTP
import Logging
import Synchronization
import SystemSupport
import UnixSignals
import ZeroMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a gateway until SIGTERM or SIGINT.",
        discussion: """
            Prints one line when it is ready: ready notices=… requests=… broadcast=… http=… instance=… \
            A port of * (for --http: 0) is chosen by the system. Messages for people go to standard error. SIGHUP reads the \
            configuration file again; 'cuecast check-config' marks the keys that take effect at once as reloadable.

            Exits with 0 after a stop that was asked for, 69 when it cannot run, and 75 when the event log failed so that \
            only a new start can tell what its file holds: a supervisor should then start it again.

            Example: cuecast serve --data-dir ./data --set breaks.announceAhead=8s
            """
    )

    @OptionGroup var options: ServeConfiguration

    @Flag(
        help: "Start although the machine's clock is behind the newest record: the clock is right, the record is not."
    )
    var acceptClock = false

    /// Kept until the process is gone: when it is let go, a hang-up ends the process again.
    private static let keptHangups: Mutex<UnixSignalsSequence?> = Mutex(nil)

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let manager = ServiceManager(ManagerEnvironment(environment, process: getpid())) {
            Logger(label: "cuecast").warning("\($0)")
        }
        ManagerEnvironment.clear()
        // From here on a hang-up ends nothing, whenever it comes.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        Self.keptHangups.withLock { $0 = hangups }
        let isForJournal = JournalStream.isStandardError(environment)
        let complain = { (sentence: String) in CommandOutput.complain(sentence, isForJournal: isForJournal) }
        var running: RunningConfiguration
        do {
            running = try await self.options.loadWithSources()
            try await self.options.checkFiles(of: running.configuration)
        } catch let faults as ConfigurationFaults {
            for fault in faults.faults { complain("the configuration is wrong: \(fault)") }
            manager.failed(
                "the configuration is wrong: \(faults.faults.first.map { "\($0)" } ?? "")",
                errorNumber: EINVAL
            )
            throw CommandExit.badData
        }
        running.configuration.acceptsClock = self.acceptClock
        let metrics = MetricRegistry()
        // The gateway does not wait for the reader of its messages.
        let lines = LineQueue(
            lost: { metrics.count(.logLinesSuppressed, .unread) },
            write: { CommandOutput.writeToError($0) }
        )
        let output = LogOutput(running.configuration, isForJournal: isForJournal, lines: lines)
        defer { output.finish() }
        LoggingSystem.bootstrap { label in GatewayLogHandler(label: label, output: output) }
        let logger = Logger(label: "cuecast")
        // A file that reaches a limit of the process is an error of the write, not the end of the process.
        signal(SIGXFSZ, SIG_IGN)
        let outlets = ProcessOutlets(output: output, metrics: metrics, manager: manager, logger: logger)
        do {
            let process = try await manager.whileStarting("starting: opening the event log and the ledger") {
                try await GatewayProcess(opening: running.configuration, outlets: outlets)
            }
            try await process.run(self.options, running, hangups: hangups)
        } catch let failure as GatewayProcess.LogFailed {
            let sentence =
                failure.isShared
                ? "the gateway ends because the shared log is not what it was: \(failure.reason). See docs/operations/cluster.md, 'The log went back', before gateways go on."
                : "the gateway ends because its event log failed: \(failure.reason). What was confirmed is in the file;"
                    + " mend the disk, and start again: the start reads what the file holds."
            output.complain(sentence)
            manager.failed(sentence, errorNumber: EIO)
            throw CommandExit.logFailed
        } catch is CommandOutput.Failure {
            throw CommandExit.cannotWrite
        } catch let error as ExitCode {
            throw error
        } catch {
            output.complain("the gateway cannot run: \(error)")
            manager.failed("the gateway cannot run: \(error)", errorNumber: Self.errorNumber(of: error))
            throw CommandExit.unavailable
        }
    }
}

extension Serve {
    /// The number that the system has for a failure; `nil`: it has none.
    private static func errorNumber(of error: any Error) -> Int32? {
        switch error {
        case let error as ZeroMQError: error.code.rawValue
        case let error as SystemCallError: error.code
        case GatewayHTTPError.addressInUse: EADDRINUSE
        default: nil
        }
    }
}
