// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging
import ServiceLifecycle
import Synchronization

/// Leaves snapshots of the board for gateways that begin: one gateway writes them for all, the one that ranks first as a rule.
///
/// The thread that makes digests of the board also writes them, because a snapshot says what its board comes to. Nothing waits for it.
final class SnapshotWriter: Service {
    private struct State {
        /// The newest snapshot that is known; others may have written one since.
        var newest: SnapshotManifest?
        /// Whether one is asked for, or being written.
        var isUnderWay = false
        /// How many could not be written, one after the other.
        var failures = 0
        /// No one is written before, by `elapsed`.
        var waitsUntil: Timestamp?
    }

    private static let begun = ContinuousClock.now
    /// Monotonic time.
    private static var elapsed: Timestamp { Timestamp(microseconds: (ContinuousClock.now - Self.begun).inMicroseconds) }

    private let archive: SnapshotArchive
    private let log: any EventLog
    private let schedule: SnapshotSchedule
    private let cluster: ClusterHolder
    /// Has the newest board.
    private let board: BoardHolder
    private let common: CommonParts
    private let state = Mutex(State())

    init(
        _ archive: SnapshotArchive,
        of log: any EventLog,
        schedule: SnapshotSchedule,
        cluster: ClusterHolder,
        board: BoardHolder,
        common: CommonParts
    ) {
        self.archive = archive
        self.log = log
        self.schedule = schedule
        self.cluster = cluster
        self.board = board
        self.common = common
    }

    /// Asks for a board with its digest, whenever a snapshot is due; `BoardDigests` sets it.
    let wants: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: SnapshotLimits.lookInterval)) != nil { await self.look() }
        }
    }

    /// Whether this gateway has to write one, as far as it knows.
    private func isDue(_ newest: SnapshotManifest?) -> Bool {
        let others = self.cluster.withLock { $0.table.peers(elapsed: Self.elapsed).appending }
        return self.schedule.isDue(
            newest: newest,
            offset: self.board.offset,
            now: self.common.clock.now(),
            rank: TimerRanks(own: self.common.instance, others: others).boardRank
        )
    }

    private func look() async {
        let newest = self.state.withLock { state -> SnapshotManifest?? in
            guard !state.isUnderWay, state.waitsUntil.map({ $0 <= Self.elapsed }) ?? true else { return nil }
            return .some(state.newest)
        }
        guard let newest, self.isDue(newest) else { return }
        do throws(SnapshotFault) {
            let logID = self.log.identity.logID
            let found = try await self.archive.list().entries.map(\.manifest).first { $0.logID == logID }
            self.state.withLock { $0.newest = found }
            guard self.isDue(found) else { return }
            self.state.withLock { $0.isUnderWay = true }
            self.wants.withLock(\.self)?()
        } catch {
            self.common.logger.debug("the snapshots of the log cannot be listed", metadata: ["error": "\(error)"])
        }
    }

    /// Writes a snapshot.
    ///
    /// - Parameters:
    ///   - board: the board.
    ///   - digest: its number (`BoardDigest.value`).
    func write(_ board: Board, digest: UInt64) async {
        defer { self.state.withLock { $0.isUnderWay = false } }
        do {
            let identity = self.log.identity
            let entry = try await self.archive.write(
                SnapshotManifest(
                    identity: identity,
                    rules: board.rules,
                    board: digest,
                    writers: board.writers.count,
                    made: self.common.clock.now(),
                    lanes: try await self.marks(of: board)
                ),
                of: board
            )
            self.state.withLock { ($0.newest, $0.failures, $0.waitsUntil) = (entry.manifest, 0, nil) }
            self.common.logger.info(
                "wrote a snapshot of the board for gateways that begin",
                metadata: [
                    "offset": "\(board.offset)", "snapshot": "\(entry.sequence)", "bytes": "\(entry.manifest.bytes)",
                    "chunks": "\(entry.manifest.chunks)",
                ]
            )
            try await self.archive.removeOld(of: identity.logID)
        } catch {
            guard !Task.isCancelled else { return }
            if case .limitReached(let limit)? = error as? SnapshotFault {
                self.common.metrics.count(.limitsHit, .limit(limit))
            }
            self.state.withLock {
                $0.failures += 1
                $0.waitsUntil = Self.elapsed + self.schedule.wait(afterFailures: $0.failures)
            }
            // The log has every record: only the next gateway that begins takes longer.
            self.common.logger.warning("could not write a snapshot of the board", metadata: ["error": "\(error)"])
        }
    }

    /// The newest record of each lane, for those who compare them with the log.
    private func marks(of board: Board) async throws -> [Lane: SnapshotManifest.Mark] {
        var marks: [Lane: SnapshotManifest.Mark] = [:]
        for lane in [Lane.breaks] + Lane.acknowledgementLanes {
            let offset = lane == .breaks ? board.offset : try await self.log.head(of: lane)
            guard offset > 0 else { continue }
            let record = try await self.log.read(lane, after: offset - 1, recordsMax: 1, bytesMax: 1).first
            guard let record, record.offset == offset else {
                throw SnapshotFault.unavailable("the record \(offset) of \(lane) cannot be read")
            }
            marks[lane] = SnapshotManifest.Mark(offset: offset, digest: record.digest)
        }
        return marks
    }
}
