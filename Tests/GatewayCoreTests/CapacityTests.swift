// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import Testing

/// The needs of a case of a machine.
@Suite(.suiteLimit)
struct CapacityTests {
    private let ordinary = CapacityCase(
        listeners: 9_000,
        streams: 3,
        breaksPerHour: 4,
        advertisements: 3,
        joinsPerHour: 9_000
    )

    private static let settings = CapacitySettings(
        breaks: BreakPolicy(),
        keepTotalsFor: .seconds(400 * 86_400),
        ledgerCopiesKept: 3,
        ledgerCopiesInterval: .seconds(3_600),
        logBytesMax: 20 * 1_073_741_824
    )

    private func plan(_ wanted: CapacityCase, on machine: CapacityMachine = CapacityMachine()) -> CapacityPlan {
        CapacityPlan(wanted, on: machine, settings: Self.settings)
    }

    private func need(
        _ resource: String,
        _ wanted: CapacityCase,
        on machine: CapacityMachine = CapacityMachine()
    ) throws -> CapacityPlan.Need {
        try #require(self.plan(wanted, on: machine).needs.first { $0.resource.hasPrefix(resource) })
    }

    @Test func `each need is what the figures come to`() throws {
        // 9,000 listeners with 4 breaks an hour: 10 breaks heard a second.
        let microseconds =
            9_000 * MeasuredCost.idleListenerTime.value + 2.5 * MeasuredCost.joinTime.value
            + 10 * (MeasuredCost.breakTime.value + 3 * MeasuredCost.advertisementTime.value)
        #expect(abs(try self.need("cores", self.ordinary).amount - microseconds / 1_000_000) < 1e-9)
        // The window is 7 s: announced 8 s ahead, and over 1 s before the start.
        #expect(abs(try self.need("batch requests", self.ordinary).amount - 9_000 / 7.0) < 1e-9)
        let bytes = 10 * 7_200 * (MeasuredCost.breakLog.value + 3 * MeasuredCost.advertisementLog.value)
        #expect(abs(try self.need("the event log", self.ordinary).amount - bytes) < 1e-3)
        let rows = 10 * 86_400 * 9 * (MeasuredCost.breakLedger.value + 3 * MeasuredCost.advertisementLedger.value)
        let totals = 3.0 * 4 * 24 * 400 * MeasuredCost.totalsLedger.value
        #expect(abs(try self.need("disk", self.ordinary).amount - (5 * (rows + totals) + 20 * 1_073_741_824)) < 1)
        let sent =
            9_000 * MeasuredCost.idleTraffic.value
            + 10 * (MeasuredCost.breakTraffic.value + 3 * MeasuredCost.advertisementTraffic.value)
        #expect(abs(try self.need("network, on", self.ordinary).amount - 8 * sent) < 1e-3)
        #expect(try self.need("open files", self.ordinary).amount == Double(DescriptorReserve.limit(for: 9_000)))
    }

    @Test
    func `two connections for each listener need twice the descriptors`()
        throws
    {
        var two = self.ordinary
        two.connectionsPerListener = 2
        #expect(try self.need("open files", two).amount == 19_199)
        #expect(try self.need("open files", two).because.hasPrefix("two connections"))
    }

    @Test func `a listener's memory is the process's and the kernel's`() throws {
        let before = try self.need("memory", self.ordinary).amount
        var more = self.ordinary
        more.listeners += 1_000
        let each = MeasuredCost.listenerMemory.value + MeasuredCost.connectionMemory.value
        #expect(abs(try self.need("memory", more).amount - before - 1_000 * each * 1_024) < 1)
        more.connectionsPerListener = 2
        let second = Double(more.listeners) * MeasuredCost.connectionMemory.value * 1_024
        #expect(abs(try self.need("memory", more).amount - before - 1_000 * each * 1_024 - second) < 1)
    }

    @Test func `TLS costs memory, handshakes, and a part of what a thread does`() throws {
        var encrypted = self.ordinary
        encrypted.isEncrypted = true
        let memory = try self.need("memory", encrypted).amount - self.need("memory", self.ordinary).amount
        #expect(abs(memory - 9_000 * MeasuredCost.tlsMemory.value * 1_024) < 1)
        let back = try self.need("until all listeners are back", encrypted).amount
        #expect(abs(back - 9_000 * MeasuredCost.tlsJoinTime.value / 1_000_000) < 1e-9)
        for resource in ["cores", "from the first", "until all listeners are back", "memory"] {
            #expect(
                try self.need(resource, encrypted).amount > self.need(resource, self.ordinary).amount,
                "\(resource)"
            )
        }
        // As many ask; fewer can be answered, unless the configuration wants fewer still.
        let requests = try self.need("batch requests", encrypted)
        #expect(requests.amount == (try self.need("batch requests", self.ordinary).amount))
        let rate = MeasuredCost.batchRate.value * MeasuredCost.tlsBatchShare.value
        #expect(requests.available == min(rate, BreakPolicy().batchRequestsPerSecond))
        #expect(try self.need("open files", encrypted) == self.need("open files", self.ordinary))
    }

    @Test func `more of anything never needs less`() {
        let greater: [(inout CapacityCase) -> Void] = [
            { $0.listeners *= 2 }, { $0.streams *= 2 }, { $0.breaksPerHour *= 2 }, { $0.advertisements *= 2 },
            { $0.joinsPerHour *= 2 }, { $0.isEncrypted = true }, { $0.connectionsPerListener = 2 },
        ]
        let before = self.plan(self.ordinary).needs
        for change in greater {
            var wanted = self.ordinary
            change(&wanted)
            let after = self.plan(wanted).needs
            #expect(zip(before, after).allSatisfy { $0.amount <= $1.amount })
            #expect(zip(before, after).contains { $0.amount < $1.amount })
        }
    }

    @Test(arguments: [(10_000, true), (10_001, false)])
    func `streams fit up to their limit`(streams: Int, fits: Bool) {
        var wanted = self.ordinary
        wanted.streams = streams
        wanted.breaksPerHour = 0.1
        let plan = self.plan(wanted)
        #expect(plan.fits == fits)
        if !fits { #expect(plan.first?.resource == "streams") }
    }

    @Test func `the scarcest resource is the limit`() throws {
        let least = DescriptorReserve.limit(for: 9_000)
        var machine = CapacityMachine(cores: 64, memoryBytes: 1e12, diskBytes: 1e13, descriptors: least)
        let plan = self.plan(self.ordinary, on: machine)
        #expect(plan.fits)
        #expect(plan.first?.resource == "open files (LimitNOFILE)")
        machine.descriptors = least - 1
        #expect(!self.plan(self.ordinary, on: machine).fits)
        machine.descriptors = 1_000_000
        machine.memoryBytes = 1e9
        #expect(self.plan(self.ordinary, on: machine).first?.resource == "memory")
    }

    @Test(arguments: [1, 2, 63, 64, 447, 448, 449, 18_000, 114_687, 114_688, 114_689, 1_000_000])
    func `the least limit on open files leaves room for the connections, and one less does not`(connections: Int) {
        let limit = DescriptorReserve.limit(for: connections)
        #expect(limit - DescriptorReserve.reserve(of: limit) >= connections)
        #expect(limit - 1 - DescriptorReserve.reserve(of: limit - 1) < connections)
    }

    @Test func `every figure says what it is and where it comes from`() {
        #expect(MeasuredCost.all.allSatisfy { $0.value > 0 && !$0.row.isEmpty })
        #expect(Set(MeasuredCost.all.map(\.name)).count == MeasuredCost.all.count)
    }
}
