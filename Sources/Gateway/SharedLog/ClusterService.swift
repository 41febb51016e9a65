// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Logging
import ServiceLifecycle

/// Tells the other gateways of the log, about once a second, that this one is there, and takes what they say.
///
/// Nothing waits for it: a bus that loses everything leaves each gateway as if it were alone, which costs repeats that are harmless, and
/// windows that are sized for its own listeners only.
struct ClusterService: Service {
    /// The parts that it uses.
    struct Tools: Sendable {
        let bus: GatewayBusParts
        let cluster: ClusterHolder
        /// How many listen at this gateway.
        let live: LiveListeners
        let keys: KeyHolder
        /// Has the newest board.
        let board: BoardHolder
        /// Where listeners reach this gateway.
        let addresses: [String]
        /// Where players reach it from outside, as its operator says.
        let advertised: [PlayerAddress]
        /// Gets the other gateways that joins are told.
        let alternatives: AlternativesHolder
        /// The newest version of the fold's rules that this gateway knows.
        let rules: UInt32
        /// How often it speaks.
        let interval: Duration
        /// Takes turns with the other gateways.
        let desk: BreakDesk
    }

    private static let begun = ContinuousClock.now
    /// Monotonic time.
    private static var elapsed: Timestamp { Timestamp(microseconds: (ContinuousClock.now - Self.begun).inMicroseconds) }

    private let tools: Tools
    private let common: CommonParts

    init(_ tools: Tools, common: CommonParts) {
        self.tools = tools
        self.common = common
    }

    func run() async throws {
        let bus = self.tools.bus.bus
        let messages = await bus.messages(on: BusSubject.beats)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await message in messages { self.take(message) } }
            group.addTask { await self.speak() }
            try? await gracefulShutdown()
            group.cancelAll()
        }
        let facts = self.facts
        let farewell = self.tools.cluster.withLock { $0.farewell(facts) }
        await bus.publish(farewell.encoded(), on: BusSubject.beats)
        await bus.close()
    }

    private func take(_ message: BusMessage) {
        let beat: GatewayBeat
        do throws(WireError) {
            beat = try GatewayBeat(decoding: message.bytes)
        } catch {
            self.common.metrics.count(.gatewayBeats, .undecodable)
            self.common.logger.debug("a beat could not be read", metadata: ["error": "\(error)"])
            return
        }
        let (clock, elapsed) = (self.common.clock.now(), Self.elapsed)
        let (taken, limits) = self.tools.cluster.withLock { $0.heard(beat, clock: clock, elapsed: elapsed) }
        // The bus brings this gateway its own beats too: so it knows that it is heard.
        guard beat.gateway != self.common.instance else { return }
        for limit in limits { self.common.metrics.count(.limitsHit, .limit(limit)) }
        self.common.metrics.count(.gatewayBeats, taken.metricLabel)
    }

    private func speak() async {
        var peers = GatewayPeers.none
        repeat {
            let (facts, listeners, elapsed) = (self.facts, self.tools.live.counts, Self.elapsed)
            let applied = facts.applied[Lane.breaks.description] ?? 0
            let now = self.tools.cluster.withLock { cluster in
                cluster.dropSilent(elapsed: elapsed)
                return Now(
                    beat: cluster.beat(facts, listeners: listeners),
                    alternatives: cluster.alternatives,
                    peers: cluster.table.peers(elapsed: elapsed),
                    alarms: cluster.alarms(keys: facts.keys),
                    aliveCount: cluster.table.aliveCount,
                    clockDifference: cluster.clockDifference,
                    lateness: cluster.lateness(applied: applied, elapsed: elapsed)
                )
            }
            self.show(now)
            if now.peers != peers {
                peers = now.peers
                await self.tools.desk.gatewaysChanged(to: peers)
            }
            await self.tools.bus.bus.publish(now.beat.encoded(), on: BusSubject.beats)
            self.common.metrics.count(.gatewayBeats, .sent)
        } while (try? await Task.sleep(for: self.tools.interval)) != nil
    }

    /// The next beat, and the consequences of those of the others.
    private struct Now: Sendable {
        let beat: GatewayBeat
        let alternatives: Alternatives
        let peers: GatewayPeers
        let alarms: [Alarm: String?]
        let aliveCount: Int
        let clockDifference: Int64
        let lateness: GatewayCluster.Lateness
    }

    private func show(_ now: Now) {
        self.tools.alternatives.replace(by: now.alternatives)
        self.common.metrics.set(.alternativeGateways, to: now.alternatives.count)
        self.common.metrics.set(.gateways, to: now.aliveCount + 1)
        self.common.metrics.set(.gatewayClockDifferenceSeconds, to: Int(clamping: now.clockDifference))
        self.common.metrics.set(.gatewayLateRecords, to: Int(clamping: now.lateness.own.records))
        self.common.metrics.set(.gatewayLateSeconds, to: Int(clamping: now.lateness.own.time.inMicroseconds))
        for (alarm, sentence) in now.alarms { _ = self.show(alarm, sentence) }
        // How late it is changes with each beat: one that is late is told once.
        if self.show(.gatewayLate, now.lateness.alarm) {
            for limit in now.lateness.limits { self.common.metrics.count(.limitsHit, .limit(limit)) }
        }
    }

    /// - Returns: whether it was raised just now.
    private func show(_ alarm: Alarm, _ sentence: String?) -> Bool {
        if let sentence {
            guard self.common.readiness.raise(alarm, sentence) else { return false }
            self.common.logger.error("\(sentence)", metadata: ["alarm": "\(alarm.rawValue)"])
            return true
        }
        if self.common.readiness.clear(alarm) {
            self.common.logger.notice("the alarm is over", metadata: ["alarm": "\(alarm.rawValue)"])
        }
        return false
    }

    private var facts: GatewayCluster.Facts {
        var facts = GatewayCluster.Facts(clock: self.common.clock.now())
        facts.writer = self.tools.bus.writer
        facts.version = self.tools.bus.version
        facts.rules = self.tools.rules
        facts.applied = [Lane.breaks.description: self.tools.board.offset]
        facts.listeners = self.tools.live.total
        facts.isDraining = self.common.readiness.isDraining
        facts.addresses = self.tools.addresses
        facts.advertised = self.tools.advertised
        facts.keys = self.tools.keys.keys.ring.facts
        return facts
    }
}

extension GatewayTable.Taken {
    fileprivate var metricLabel: MetricLabel {
        switch self {
        case .taken: .taken
        case .passedOver: .passedOver
        case .limit: .overLimit
        }
    }
}
