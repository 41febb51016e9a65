// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The needs of several gateways on one log.
@Suite(.suiteLimit)
struct ClusterCapacityTests {
    /// A million listeners at 20 gateways while one of 21 is away: 50,000 at each.
    private let million = CapacityCase(
        listeners: 1_000_000,
        streams: 1_000,
        breaksPerHour: 4,
        advertisements: 3,
        joinsPerHour: 1_000_000
    )

    private static let settings = CapacitySettings(
        breaks: BreakPolicy(),
        keepTotalsFor: .seconds(400 * 86_400),
        ledgerCopiesKept: 3,
        ledgerCopiesInterval: .seconds(3_600),
        logBytesMax: 20 * 1_073_741_824
    )

    private func needs(
        of gateways: Int?,
        _ wanted: CapacityCase,
        on machine: CapacityMachine = CapacityMachine()
    ) -> [String: CapacityPlan.Need] {
        let plan = CapacityPlan(
            wanted,
            on: machine,
            settings: Self.settings,
            cluster: gateways.map { CapacityCluster(gateways: $0) }
        )
        #expect(Set(plan.needs.map(\.resource)).count == plan.needs.count)
        return Dictionary(uniqueKeysWithValues: plan.needs.map { ($0.resource, $0) })
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (21, 20), (1_024, 1_023)])
    func `one gateway may be away`(gateways: Int, serving: Int) {
        #expect(CapacityCluster(gateways: gateways).serving == serving)
    }

    @Test func `a gateway needs for its share what a gateway alone needs for as many listeners`() throws {
        var share = self.million
        (share.listeners, share.joinsPerHour) = (50_000, 50_000)
        let alone = self.needs(of: nil, share)
        let one = self.needs(of: 21, self.million)
        let same = [
            "batch requests at the break", "from the first listener's notice to the last's",
            "until all listeners are back after a restart", "open files (LimitNOFILE)", "the board (boardBytesMax)",
            "network, on average", "network, at the break", "memory", "streams",
        ]
        for resource in same {
            #expect(try #require(one[resource]).amount == #require(alone[resource]).amount, "\(resource)")
        }
    }

    @Test func `a share is rounded up`() throws {
        var odd = self.million
        odd.listeners = 1_000_001
        let files = try #require(self.needs(of: 21, odd)["open files (LimitNOFILE)"])
        #expect(files.amount == Double(DescriptorReserve.limit(for: 50_001)))
    }

    @Test func `every gateway counts the outcomes of all`() throws {
        let needs = self.needs(of: 21, self.million)
        // 1,000,000 listeners with 4 breaks an hour; 950,000 of them are at other gateways.
        let heard = 1_000_000.0 * 4 / 3_600
        var share = self.million
        (share.listeners, share.joinsPerHour) = (50_000, 50_000)
        let own = try #require(self.needs(of: nil, share)["cores, on average"]).amount
        let others = heard * 0.95 * 4 * MeasuredCost.ledgerRowTime.value / 1_000_000
        #expect(abs(try #require(needs["cores, on average"]).amount - own - others) < 1e-9)
        let rows = heard * 9 * 86_400 * (MeasuredCost.breakLedger.value + 3 * MeasuredCost.advertisementLedger.value)
        let totals = 1_000.0 * 4 * 24 * 400 * MeasuredCost.totalsLedger.value
        // The ledger, three copies, and one that is being made. The log is at the servers.
        #expect(abs(try #require(needs["disk"]).amount / (5 * (rows + totals)) - 1) < 1e-9)
        let seconds = 2_000_000 / MeasuredCost.ledgerRowRate.value
        #expect(abs(try #require(needs["until a ledger has all outcomes of an advertisement"]).amount - seconds) < 1e-9)
    }

    @Test func `the servers take the records of all, and send them to all`() throws {
        let needs = self.needs(of: 21, self.million)
        let bytes = 1_000_000.0 * 4 / 3_600 * (MeasuredCost.breakLog.value + 3 * MeasuredCost.advertisementLog.value)
        #expect(abs(try #require(needs["network, the log to a gateway"]).amount - bytes * 8) < 1e-3)
        #expect(abs(try #require(needs["servers: disk of each, a day"]).amount - bytes * 86_400) < 1)
        let peak = try #require(needs["servers: acknowledgements after an advertisement"])
        #expect(abs(peak.amount - 1_000 / MeasuredCost.sharedAppendRate.value) < 1e-9)
        #expect(peak.available == 5)
        let records = try #require(needs["servers: records a second, on average"])
        #expect(abs(records.amount - 2 * 4_000_000 / 3_600) < 1e-9)
        // A beat with 20 echoes and as many streams as fit.
        let beat = 400 + 20 * 29 + 12_288 + 100.0
        #expect(abs(try #require(needs["network, the bus to a gateway"]).amount - 20 * beat * 8) < 1e-6)
        let all = (bytes * 24 + 21 * 20 * beat) * 8
        #expect(abs(try #require(needs["servers: network, all together"]).amount / all - 1) < 1e-9)
    }

    @Test func `a thousand gateways with few streams hear each other`() throws {
        var few = self.million
        few.streams = 10
        let needs = self.needs(of: 1_000, few)
        // 32 echoes at most, and 10 streams.
        let beat = 400 + 32 * 29 + 280 + 100.0
        #expect(abs(try #require(needs["network, the bus to a gateway"]).amount - 999 * beat * 8) < 1e-6)
    }

    @Test func `a gateway tells of streams with listeners only`() throws {
        var few = self.million
        few.listeners = 40
        // 2 listeners at each of 20 gateways.
        let beat = 400 + 20 * 29 + 2 * 28 + 100.0
        let bus = try #require(self.needs(of: 21, few)["network, the bus to a gateway"])
        #expect(abs(bus.amount - 20 * beat * 8) < 1e-6)
    }

    @Test(arguments: [(1_024, true), (1_025, false)])
    func `gateways fit up to their limit`(gateways: Int, fits: Bool) throws {
        let need = try #require(self.needs(of: gateways, self.million)["gateways"])
        #expect(need.available == 1_024)
        #expect(((need.share ?? 0) <= 1) == fits)
    }

    @Test func `more gateways make the share of each smaller, and the bus louder`() throws {
        let (few, many) = (self.needs(of: 11, self.million), self.needs(of: 41, self.million))
        for resource in ["cores, on average", "memory", "open files (LimitNOFILE)", "batch requests at the break"] {
            #expect(try #require(many[resource]).amount < #require(few[resource]).amount, "\(resource)")
        }
        for resource in ["network, the bus to a gateway", "servers: network, all together"] {
            #expect(try #require(many[resource]).amount > #require(few[resource]).amount, "\(resource)")
        }
    }

    // The sizes of a beat that the arithmetic takes are those of real ones.

    private func beat(echoes: Int, streams: Int) throws -> Int {
        let now = Timestamp(microseconds: 1_764_000_000_000_000)
        var beat = GatewayBeat(gateway: .max, writer: .max, number: 1_000_000, clock: now)
        beat.version = "0.1.0+12345678"
        beat.applied = ["breaks": 1_000_000, "acknowledgements/0": 1_000_000_000]
        beat.listeners = 50_000
        beat.addresses = (0..<3).map { "tcp://gateway-1\($0).example.com:7401" }
        beat.keys = (0..<2).map { GatewayBeat.Key(id: KeyID(rawValue: $0), signs: $0 == 0, isRevoked: false) }
        beat.boards = (0..<8).map { GatewayBeat.Board(offset: 1_000_000 + $0, digest: .max) }
        beat.echoes = (0..<echoes)
            .map { _ in
                GatewayBeat.Echo(gateway: .max, sent: now, heard: now)
            }
        beat.counts = StreamPortion(
            after: nil,
            through: nil,
            values: try (0..<streams)
                .map { StreamPortion.Value(stream: try StreamID("broadcast-\(100_000 + $0)"), value: 50_000) },
            offset: 0
        )
        return beat.encoded().count
    }

    @Test func `a beat has the size that is reckoned with, or less`() throws {
        let bare = try self.beat(echoes: 0, streams: 0)
        #expect(Double(bare) <= CapacityCluster.beatBytes)
        #expect(Double(bare) > CapacityCluster.beatBytes / 2, "the arithmetic takes far more than there is")
        let echo = Double(try self.beat(echoes: 32, streams: 0) - bare) / 32
        #expect(echo <= CapacityCluster.echoBytes && echo > CapacityCluster.echoBytes / 2)
        let stream = Double(try self.beat(echoes: 0, streams: 100) - bare) / 100
        #expect(stream <= CapacityCluster.streamBytes && stream > CapacityCluster.streamBytes / 2)
    }
}
