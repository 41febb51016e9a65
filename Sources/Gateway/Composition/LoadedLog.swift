// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// The event log as a start finds it: the board that it makes, and the log's health from here on.
///
/// Only the start has it. A part that kept it would hold the first board for as long as the gateway runs.
struct LoadedLog: Sendable {
    let parts: LogParts
    let health: LogHealth
    /// The board as it was loaded.
    let board: Board
    /// The changes since the snapshot.
    let changes: BoardChanges
    /// The snapshot of another gateway from which this one began; `nil`: it was its own, or none.
    let beginning: BoardDigests.Beginning?
    /// Has the newest board.
    let holder: BoardHolder
    /// Tells when the board has all that the log has; `nil`: no other gateway writes to the log, and no request knows more than the board.
    let catchUp: LogCatchUp?

    /// Loads the board.
    ///
    /// - Parameters:
    ///   - parts: of the log, which is open.
    ///   - configuration: checked.
    ///   - common: the parts that every part uses.
    /// - Throws: `EventLogError` where the log cannot be read.
    init(_ parts: LogParts, configuration: GatewayConfiguration, common: CommonParts) async throws {
        let loaded = try await BreakBoardService.loadFromSnapshot(parts, rulesKnown: configuration.rulesKnown)
        var board = loaded.board
        let changes = board.takeChanges()
        self.changes = changes
        self.beginning = loaded.began.flatMap { mark in
            loaded.base.offset == mark.offset
                ? BoardDigests.Beginning(board: loaded.base, mark: mark, changes: changes) : nil
        }
        self.board = board
        self.holder = BoardHolder(board)
        self.parts = parts
        self.catchUp =
            parts.isShared
            ? LogCatchUp(log: parts.log, holder: self.holder, waitMax: configuration.behindWaitMax)
            : nil
        self.health = LogHealth(
            log: parts,
            origin: common.instance,
            silenceMax: configuration.logSilenceMax,
            metrics: common.metrics,
            readiness: common.readiness,
            logger: common.logger
        )
    }

    /// The newest time in the log; `nil` while there is none.
    var newestTime: Timestamp? { self.board.hasTime ? self.board.newestTime : nil }

    /// The log's own time at the start, which retention goes by; `nil` while there is none.
    var firstRetentionTime: Timestamp? { self.board.hasTime ? self.board.retentionTime : nil }

    /// The log's own time at present.
    var retentionTime: @Sendable () -> Timestamp? {
        { [holder] in
            let board = holder.board
            return board.hasTime ? board.retentionTime : nil
        }
    }

    /// Says that log and board are ready, and shows their sizes.
    ///
    /// - Throws: `EventLogError` where the log cannot be read.
    func show(in common: CommonParts) async throws {
        common.readiness.set(.log, isReady: true)
        common.readiness.set(.board, isReady: true)
        common.metrics.set(.startTime, to: Int(clamping: common.clock.now().microseconds / 1_000_000))
        common.metrics.set(.streams, to: self.board.streams.count)
        common.metrics.set(.boardBytes, to: self.board.bytes)
        for lane in [Lane.breaks] + Lane.acknowledgementLanes {
            common.metrics.set(.logOffset, .lane(lane), to: Int(clamping: try await self.parts.log.head(of: lane)))
        }
    }

    /// When the newest acknowledgement came, or the newest batch was handed out; `nil` where no record tells.
    func newestAcknowledgement() async -> Timestamp? {
        let log = self.parts.log
        var newest: Timestamp?
        for lane in Lane.acknowledgementLanes {
            guard let head = try? await log.head(of: lane), head > 0,
                let record = try? await log.read(lane, after: head - 1, recordsMax: 1, bytesMax: .max).last,
                let group = try? AcknowledgementGroup(decoding: record.bytes)
            else { continue }
            for time in group.requests.map(\.received) + group.deliveries.map(\.at) {
                newest = newest.map { max($0, time) } ?? time
            }
        }
        return newest
    }
}
