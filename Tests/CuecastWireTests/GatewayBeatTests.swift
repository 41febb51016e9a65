// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// Beats of gateways: what was written is read, and what is wrong is refused.
@Suite(.suiteLimit)
struct GatewayBeatTests {
    private func stream(_ number: Int) throws -> StreamID { try StreamID("s\(10_000 + number)") }

    private func portion(_ count: Int, _ generator: inout SeededGenerator) throws -> StreamPortion {
        let values = try (0..<count)
            .map {
                StreamPortion.Value(stream: try self.stream($0 + 1), value: generator.number(0...UInt64.max))
            }
        return StreamPortion(
            after: generator.bool() ? try self.stream(0) : nil,
            through: generator.bool() ? try self.stream(count) : nil,
            values: values,
            offset: generator.number(0...UInt64.max)
        )
    }

    private func beat(_ generator: inout SeededGenerator) throws -> GatewayBeat {
        var beat = GatewayBeat(
            gateway: generator.number(1...UInt64.max),
            writer: generator.number(0...UInt64.max),
            number: generator.number(1...UInt64.max),
            clock: Timestamp(microseconds: generator.number(Int64.min...Int64.max))
        )
        beat.version = generator.bool() ? "0.1.0" : ""
        beat.rules = generator.number(1...UInt32.max)
        beat.applied = ["breaks": generator.number(0...UInt64.max)]
        beat.listeners = generator.number(0...Int.max)
        beat.isDraining = generator.bool()
        beat.isLeaving = generator.bool()
        beat.addresses = generator.list(0...3) { "tcp://192.0.2.\(UInt8.random(in: 0...255, using: &$0)):7401" }
        beat.advertised = generator.addresses(atMost: WireLimits.advertisedAddressesMax)
        beat.keys = generator.list(0...GatewayBeat.keysMax) {
            GatewayBeat.Key(id: KeyID(rawValue: $0.number(0...UInt32.max)), signs: $0.bool(), isRevoked: $0.bool())
        }
        beat.boards = generator.list(0...GatewayBeat.boardsMax) {
            GatewayBeat.Board(offset: $0.number(0...UInt64.max), digest: $0.number(0...UInt64.max))
        }
        beat.echoes = generator.list(0...GatewayBeat.echoesMax) {
            GatewayBeat.Echo(
                gateway: $0.number(0...UInt64.max),
                sent: Timestamp(microseconds: $0.number(Int64.min...Int64.max)),
                heard: Timestamp(microseconds: $0.number(Int64.min...Int64.max))
            )
        }
        beat.counts = generator.bool() ? try self.portion(Int.random(in: 0...50, using: &generator), &generator) : nil
        beat.digests = generator.bool() ? try self.portion(Int.random(in: 0...50, using: &generator), &generator) : nil
        return beat
    }

    @Test func `a beat that was written is read as it was`() throws {
        var generator = SeededGenerator(for: "beats")
        for _ in 0..<200 {
            let beat = try self.beat(&generator)
            #expect(try GatewayBeat(decoding: beat.encoded()) == beat)
        }
    }

    @Test func `bytes that are no beat are refused, and never trap`() throws {
        var generator = SeededGenerator(for: "hostile beats")
        for _ in 0..<2_000 {
            var bytes = try self.beat(&generator).encoded()
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                switch Int.random(in: 0..<3, using: &generator) {
                case 0 where !bytes.isEmpty:
                    bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
                        in: 0...255,
                        using: &generator
                    )
                case 1: bytes.removeLast(min(bytes.count, Int.random(in: 0...20, using: &generator)))
                default: bytes += generator.bytes(0...20)
                }
            }
            guard let beat = try? GatewayBeat(decoding: bytes) else { continue }
            #expect(try GatewayBeat(decoding: beat.encoded()) == beat)
        }
    }

    @Test func `a beat at each limit is taken, and one past it is refused`() throws {
        var generator = SeededGenerator(for: "limits of beats")
        func limit(_ name: String, at: (inout GatewayBeat) throws -> Void, past: (inout GatewayBeat) throws -> Void)
            throws
        {
            var beat = GatewayBeat(gateway: 1, writer: 2, number: 3, clock: Timestamp(microseconds: 4))
            try at(&beat)
            #expect(try GatewayBeat(decoding: beat.encoded()) == beat, "\(name)")
            try past(&beat)
            let error = #expect(throws: WireError.self) { try GatewayBeat(decoding: beat.encoded()) }
            guard case .tooLarge(name, _, _) = error else {
                Issue.record("\(name): \(String(describing: error))")
                return
            }
        }
        let address = String(repeating: "a", count: GatewayBeat.textBytesMax)
        try limit("textBytesMax") {
            $0.version = address
        } past: {
            $0.version = address + "a"
        }
        try limit("textBytesMax") {
            $0.addresses = [address]
        } past: {
            $0.addresses = [address + "a"]
        }
        try limit("addressesMax") {
            $0.addresses = Array(repeating: address, count: GatewayBeat.addressesMax)
        } past: {
            $0.addresses.append("a")
        }
        let key = GatewayBeat.Key(id: KeyID(rawValue: 7), signs: true, isRevoked: false)
        try limit("keysMax") {
            $0.keys = Array(repeating: key, count: GatewayBeat.keysMax)
        } past: {
            $0.keys.append(key)
        }
        let board = GatewayBeat.Board(offset: 1, digest: 2)
        try limit("boardsMax") {
            $0.boards = Array(repeating: board, count: GatewayBeat.boardsMax)
        } past: {
            $0.boards.append(board)
        }
        let echo = GatewayBeat.Echo(gateway: 1, sent: Timestamp(microseconds: 1), heard: Timestamp(microseconds: 2))
        try limit("echoesMax") {
            $0.echoes = Array(repeating: echo, count: GatewayBeat.echoesMax)
        } past: {
            $0.echoes.append(echo)
        }
        try limit("lanesMax") {
            $0.applied = Dictionary(uniqueKeysWithValues: (0..<GatewayBeat.lanesMax).map { ("lane\($0)", 1) })
        } past: {
            $0.applied["one more"] = 1
        }
        try limit("beatBytesMax") {
            $0.counts = try self.portion(1_000, &generator)
        } past: {
            $0.counts = try self.portion(3_000, &generator)
        }
    }

    @Test func `a beat without a gateway or a number, and a portion that says nothing clear, are refused`() throws {
        func refuses(_ field: String, _ change: (inout GatewayBeat) throws -> Void) throws {
            var beat = GatewayBeat(gateway: 1, writer: 2, number: 3, clock: Timestamp(microseconds: 4))
            try change(&beat)
            let error = #expect(throws: WireError.self) { try GatewayBeat(decoding: beat.encoded()) }
            guard case .invalid(field, _) = error else {
                Issue.record("\(field): \(String(describing: error))")
                return
            }
        }
        try refuses("gateway") { $0.gateway = 0 }
        try refuses("gateway") { $0.number = 0 }
        let values = try [1, 2].map { StreamPortion.Value(stream: try self.stream($0), value: 1) }
        try refuses("values") { $0.counts = StreamPortion(after: nil, through: nil, values: values.reversed()) }
        try refuses("values") { $0.counts = StreamPortion(after: nil, through: nil, values: [values[0], values[0]]) }
        try refuses("values") { $0.counts = StreamPortion(after: try self.stream(1), through: nil, values: values) }
        try refuses("values") { $0.digests = StreamPortion(after: nil, through: try self.stream(1), values: values) }
    }
}
