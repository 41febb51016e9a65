// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import Testing

/// The settings that a running gateway takes over when its configuration is read again.
@Suite(.suiteLimit)
struct ConfigurationChangeTests {
    private func change(_ edit: (inout GatewayConfiguration) -> Void) -> ConfigurationChange {
        var read = GatewayConfiguration()
        edit(&read)
        return ConfigurationChange(from: GatewayConfiguration(), to: read)
    }

    @Test func `nothing said otherwise changes nothing`() {
        let change = self.change { _ in }
        #expect(change.configuration == GatewayConfiguration())
        #expect(change.applied == [] && change.waiting == [])
    }

    @Test func `a setting that stays until a restart keeps its source`() {
        let running = RunningConfiguration(sources: ["edge.threads": .file, "listeners.max": .file, "ioThreads": .flag])
        let change = self.change {
            $0.limits[.listenersMax] = 7
            $0.edgeThreads = 3
            $0.limits[.logBytesMax] = 1 << 30
        }
        #expect(Set(change.waiting.map(\.key)) == ["edge.threads", "log.bytesMax"])
        let next = running.changed(
            by: change,
            ["listeners.max": .environment, "edge.threads": .environment, "log.bytesMax": .file]
        )
        #expect(next.configuration == change.configuration)
        #expect(next.sources == ["edge.threads": .file, "listeners.max": .environment])
    }

    @Test func `limits and the log's threshold are taken over`() {
        let change = self.change {
            $0.logLevel = "debug"
            $0.limits[.listenersMax] = 7
            $0.limits[.requestsPerSessionPerSecondMax] = 3
            $0.drainTimeout = .seconds(1)
            $0.breaks.announceAhead = .seconds(4)
        }
        #expect(
            change.applied.map(\.description) == [
                "breaks.announceAhead: 8s → 4s", "listeners.max: 0 → 7",
                "listeners.requestsPerSecondMax: 1000 → 3",
                "drainTimeout: 10s → 1s", "logLevel: info → debug",
            ]
        )
        #expect(change.waiting == [])
        #expect(change.configuration.limits[.listenersMax] == 7)
        #expect(change.configuration.breaks.announceAhead == .seconds(4))
    }

    @Test func `a setting that needs a restart stays and is named at every reading`() {
        let change = self.change {
            $0.notices = "tcp://127.0.0.1:9"
            $0.http = nil
            $0.dataDirectory = "elsewhere"
            $0.limits[.listenersMax] = 7
        }
        #expect(change.waiting.map(\.key) == ["notices", "http", "dataDir"])
        #expect(change.configuration.notices == GatewayConfiguration().notices)
        #expect(change.configuration.dataDirectory == GatewayConfiguration().dataDirectory)
        var read = change.configuration
        read.notices = "tcp://127.0.0.1:9"
        let again = ConfigurationChange(from: change.configuration, to: read)
        #expect(again.waiting.map(\.key) == ["notices"] && again.applied == [])
    }

    /// Each key by itself: what is reloadable is taken over alone, everything else is left.
    @Test func `every key is taken over or waits`() {
        let reloadable = ConfigurationTable.rows.filter(\.isReloadable).map(\.key)
        #expect(Set(reloadable).isSuperset(of: ["logLevel", "listeners.max", "breaks.announceAhead"]))
        #expect(Set(reloadable).isDisjoint(with: ["notices", "requests", "broadcast", "http", "dataDir", "ioThreads"]))
    }
}
