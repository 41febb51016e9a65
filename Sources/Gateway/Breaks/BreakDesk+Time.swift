// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
import Logging
import ZeroMQ

/// Records that time alone makes due, and the turns of several gateways that append them.
extension BreakDesk {
    /// Records what has fallen due, and sets the timer for what falls due next.
    func runTimers() {
        self.timer?.cancel()
        guard !self.isDraining else { return }
        self.board = self.tools.holder.board
        let reading = self.tools.clock.reading()
        let forecast = self.tools.forecast
        let due = self.timekeeper.due(on: self.board, at: reading.now) { forecast.count(of: $0, at: reading.steady) }
        for entry in due { self.record(entry) }
        if !due.isEmpty { self.closeGroups() }
        let wait = self.timekeeper.wait(from: reading.now)
        self.timer = self.tools.thread.schedule(at: .now + wait, for: self) { $0.runTimers() }
    }

    /// Other gateways of the log are alive from now on, or know other rules: records of timers wait for those that rank before this one.
    package func gatewaysChanged(to peers: GatewayPeers) {
        let before = self.peers
        self.peers = peers
        guard peers.appending != before.appending else { return }
        let ranks = TimerRanks(own: self.tools.log.origin, others: peers.appending)
        self.timekeeper.take(ranks, board: self.tools.holder.board)
        self.runTimers()
    }

    /// Appends a record that activates the newest rules of the fold that all gateways know, where the log has older ones.
    private func activateRules() {
        guard !self.isDraining, !self.isActivating, self.timekeeper.boardRank == 0, let others = self.peers.rules,
            let entry = RulesActivation.entry(
                on: self.tools.holder.board,
                own: self.tools.rulesKnown,
                others: others,
                at: self.tools.clock.now()
            )
        else { return }
        self.isActivating = true
        self.record(entry)
    }

    func activated(_ version: UInt32) {
        self.isActivating = false
        self.tools.logger.notice("the event log goes by newer rules", metadata: ["version": "\(version)"])
    }

    /// Has a record of the timekeeper gather; where too many wait it falls due again.
    private func record(_ entry: BreakEntry) {
        guard self.lane.add(BreakLane.Member(entry: entry, waiting: nil, bytes: 0)) != nil else { return }
        self.wasNotTaken(entry)
    }

    /// A record of the timekeeper falls due again.
    func wasNotTaken(_ entry: BreakEntry) {
        if case .rules = entry.kind { self.isActivating = false }
        self.timekeeper.wasNotTaken(entry, board: self.tools.holder.board)
    }

    /// Appends a record that lets the log's own time go on, where it is time for one.
    private func letTimePass() {
        guard !self.isDraining else { return }
        let entry = self.timekeeper.housekeepingEntry(
            on: self.board,
            at: self.tools.clock.now(),
            elapsed: Self.elapsed,
            mayAdvance: self.tools.retention.isOpen
        )
        if let entry { self.record(entry) }
    }

    func housekept(_ done: Housekeeping) {
        self.timekeeper.housekept(done)
        if done.condensed + done.retired + done.streams > 0 {
            self.tools.logger.info(
                "let go of what is too old",
                metadata: [
                    "condensed": "\(done.condensed)", "breaks": "\(done.retired)", "streams": "\(done.streams)",
                ]
            )
        }
        if done.hasMore { self.letTimePass() }
    }

    func runHousekeeping() {
        self.tools.log.lookAtSilence()
        self.tools.log.lookAtServers()
        self.tools.recorder.signals.lookAtSources(at: self.tools.clock.now(), self.tools.readiness, self.tools.logger)
        self.letTimePass()
        self.activateRules()
        self.tools.forecast.remember(at: self.tools.clock.reading().steady)
        self.closeGroups()
    }
}
