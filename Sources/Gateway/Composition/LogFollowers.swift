// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

/// The followers of the event log: the board, which publishes notices, and the ledger.
struct LogFollowers: Sendable {
    /// Has the newest board.
    let board: BoardHolder
    /// The changes of breaks, for watchers.
    let breakChanges: BreakChanges
    /// Makes boards, on a thread of its own.
    let boardService: ThreadedService
    /// That thread.
    let boardThread: WorkerThreads
    let ledgerService: LedgerService

    /// - Parameters:
    ///   - configuration: checked.
    ///   - log: loaded.
    ///   - ledger: open.
    ///   - desk: gets the results of its entries first.
    ///   - listeners: get the notices.
    ///   - digests: are made of the board; `nil`: there is no other gateway to compare it with.
    ///   - traces: which requests are traced.
    ///   - common: the parts that every part uses.
    /// - Throws: where the system has no thread more.
    init(
        _ configuration: GatewayConfiguration,
        log: LoadedLog,
        ledger: any Ledger,
        desk: BreakDesk,
        listeners: ListenerParts,
        digests: BoardDigests?,
        traces: RequestTraces,
        common: CommonParts
    ) throws {
        let feed = LedgerFeed(log.board)
        self.board = log.holder
        self.boardThread = try WorkerThreads(name: "cuecast-board", count: 1)
        self.breakChanges = BreakChanges(
            log.board,
            live: listeners.overview.presence,
            clock: common.clock,
            metrics: common.metrics
        )
        self.boardService = ThreadedService(
            BreakBoardService(
                log,
                observers: [desk, feed, self.breakChanges] + (log.catchUp.map { [$0] } ?? []),
                sinks: listeners.sinks(configuration),
                digests: digests,
                traces: traces,
                common: common
            ),
            on: self.boardThread
        )
        self.ledgerService = LedgerService(
            log: log.parts,
            ledger: ledger,
            feed: feed,
            settings: LedgerSettings(configuration),
            common: common
        )
    }
}
