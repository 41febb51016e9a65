// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayDocuments
import Logging
import ServiceLifecycle
import Synchronization

/// Keeps the gateway's clock near the wall clock, says what is wrong with it, and does what `cuecast clock` asks.
final class ClockService: Service {
    /// How often the two clocks are compared.
    private static let interval: Duration = .seconds(1)

    private let clock: SteeredClock
    private let retentionTime: @Sendable () -> Timestamp?
    private let retention: RetentionGate
    private let metrics: MetricRegistry
    private let readiness: ReadinessBoard
    private let logger: Logger
    /// Held from a look at the clocks until what came of it is shown: what is older must not be shown over what is newer.
    private let turn = Mutex(())

    /// - Parameters:
    ///   - clock: is compared with the wall clock, and set by command.
    ///   - retentionTime: the log's own time, which retention goes by; `nil` while there is none.
    ///   - retention: opened and closed as the clock says.
    ///   - metrics: has the difference.
    ///   - readiness: has the alarms.
    ///   - logger: for people.
    init(
        clock: SteeredClock,
        retentionTime: @escaping @Sendable () -> Timestamp?,
        retention: RetentionGate,
        metrics: MetricRegistry,
        readiness: ReadinessBoard,
        logger: Logger
    ) {
        self.clock = clock
        self.retentionTime = retentionTime
        self.retention = retention
        self.metrics = metrics
        self.readiness = readiness
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { self.observe() } while (try? await Task.sleep(for: Self.interval)) != nil
        }
    }

    /// Compares the clocks once, and shows what came of it.
    func observe() { _ = self.shown { self.clock.observe() } }

    /// Does something with the clock, and shows what came of it before anybody else does something.
    private func shown<Failure: Error>(
        _ body: () throws(Failure) -> SteeredClock.Status
    ) throws(Failure) -> SteeredClock.Status {
        try self.turn.withLock { _ throws(Failure) in
            let status = try body()
            self.show(status)
            return status
        }
    }

    private func show(_ status: SteeredClock.Status) {
        self.metrics.set(.clockDifferenceSeconds, to: Int(clamping: status.difference.inMicroseconds))
        let settings = self.clock.settings
        switch status.state {
        case .following:
            if self.readiness.clear(.clock) { self.logger.notice("the gateway's clock follows the wall clock again") }
        case .apart:
            let isNew = self.readiness.raise(
                .clock,
                "The wall clock is \(status.distance) the gateway's clock, which does not follow that far (clock.differenceMax is \(settings.differenceMax.inSecondsText)). Set the wall clock right; or, if it is right, run 'cuecast clock step'."
            )
            if isNew {
                self.logger.error(
                    "the gateway's clock goes on alone: the wall clock was set",
                    metadata: ["difference": "\(status.difference.inSecondsText)"]
                )
            }
        case .goingBack:
            let isNew = self.readiness.raise(
                .clock,
                "The wall clock is \(status.distance) the gateway's clock, which runs slower until it is reached, in \(status.settlesAfter.inSecondsText)."
            )
            if isNew { self.logger.warning("the gateway's clock is ahead of the wall clock and runs slower") }
        }
        self.retention.set(isOpen: status.retention == .running)
        switch status.retention {
        case .running:
            if self.readiness.clear(.retention) { self.logger.notice("retention runs again: the clock is confirmed") }
        case .frozen:
            let isNew = self.readiness.raise(
                .retention,
                "Nothing old is forgotten: the wall clock was \(status.ahead.inSecondsText) ahead of the books (clock.aheadMax is \(settings.aheadMax.inSecondsText)). If it is right, run 'cuecast clock confirm'; else it counts as right in \(status.confirmsAfter.inSecondsText)."
            )
            if isNew {
                self.logger.warning(
                    "retention is frozen: the wall clock is far ahead of the books",
                    metadata: ["ahead": "\(status.ahead.inSecondsText)"]
                )
            }
        }
    }

    /// Adds what `cuecast clock` asks for.
    func register(in commands: ControlCommands) {
        commands.register("clock") { _, _ in self.document(self.shown { self.clock.observe() }) }
        commands.register("clock.step", changes: true) { _, _ in
            let status: SteeredClock.Status
            do throws(ClockDiscipline.StepRefusal) {
                status = try self.shown { () throws(ClockDiscipline.StepRefusal) in try self.clock.step() }
            } catch {
                switch error {
                case .tooFarBehind(let behind):
                    throw ControlError(
                        "the wall clock is \(behind.inSecondsText) behind the gateway's clock, which players must never see go back; while it runs it lets itself be reached from at most \(self.clock.settings.stepBackMax.inSecondsText) (clock.stepBackMax). Stop the gateway and start it once with --accept-clock.",
                        exitCode: 65
                    )
                }
            }
            self.logger.warning("the gateway's clock was set by command", metadata: ["gateway": "\(status.gateway)"])
            return self.document(status)
        }
        commands.register("clock.confirm", changes: true) { _, _ in
            self.document(self.shown { self.clock.confirm() })
        }
    }

    private func document(_ status: SteeredClock.Status) -> [String: JSONValue] {
        var document: [String: JSONValue] = [
            "wall": .string("\(status.wall)"),
            "gateway": .string("\(status.gateway)"),
            "differenceMicroseconds": .integer(status.difference.inMicroseconds),
            "state": .string(status.state.rawValue),
            "settlesAfterSeconds": .number(status.settlesAfter.inSeconds),
            "retention": .string(status.retention == .frozen ? "frozen" : "running"),
            "gatewayMicroseconds": .integer(status.gateway.microseconds),
            "retentionTime": self.retentionTime().map { .string("\($0)") } ?? .null,
            "retentionMicroseconds": self.retentionTime().map { .integer($0.microseconds) } ?? .null,
        ]
        if status.retention == .frozen {
            document["aheadSeconds"] = .number(status.ahead.inSeconds)
            document["confirmsAfterSeconds"] = .number(status.confirmsAfter.inSeconds)
        }
        return document
    }
}

extension SteeredClock.Status {
    /// Where the wall clock is, as one says it.
    fileprivate var distance: String {
        self.difference < .zero
            ? "\((.zero - self.difference).inSecondsText) behind" : "\(self.difference.inSecondsText) ahead of"
    }
}
