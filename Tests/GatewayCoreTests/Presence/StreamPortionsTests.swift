// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Counts of streams go out in portions, and come together again.
@Suite(.suiteLimit)
struct StreamPortionsTests {
    private func stream(_ number: Int) -> StreamID { Sample.stream("s\(10_000 + number)") }

    @Test func `the portions of a round cover every stream once`() {
        let counts = Dictionary(uniqueKeysWithValues: (0..<500).map { (self.stream($0), UInt64($0 + 1)) })
        var portions = StreamPortions()
        for _ in 0..<2 {
            var found: [StreamPortion.Value] = []
            var last: StreamID?
            while true {
                let portion = portions.next(bytesMax: 1_000, streams: { Array(counts.keys) }, value: { counts[$0] })
                #expect(portion.after == last && portion.values.count <= 1_000 / 22)
                found += portion.values
                last = portion.through
                if last == nil { break }
            }
            #expect(found.map(\.stream) == counts.keys.sorted())
            #expect(found.allSatisfy { counts[$0.stream] == $0.value })
        }
    }

    @Test func `an empty gateway tells that it has no listeners`() {
        var portions = StreamPortions()
        let portion = portions.next(streams: { [] }, value: { _ in nil })
        #expect(portion == StreamPortion(after: nil, through: nil, values: []))
    }

    /// Portions are lost and doubled while counts change.
    @Test func `sums come to what all gateways have, once a round came through`() {
        var generator = SeededGenerator(for: "sums of counts")
        var counts: [UInt64: [StreamID: UInt64]] = [2: [:], 3: [:], 4: [:]]
        var portions: [UInt64: StreamPortions] = [2: .init(), 3: .init(), 4: .init()]
        var sums = StreamSums()
        func speak(_ gateway: UInt64, _ isHeard: Bool) {
            let portion = portions[gateway]?
                .next(
                    bytesMax: 220,
                    streams: { Array((counts[gateway] ?? [:]).keys) },
                    value: { counts[gateway]?[$0] }
                )
            guard let portion, isHeard else { return }
            #expect(sums.take(portion, of: gateway) == true)
            if generator.bool() { #expect(sums.take(portion, of: gateway) == true) }
        }
        for _ in 0..<2_000 {
            let gateway = generator.pick([2, 3, 4] as [UInt64])
            let stream = self.stream(Int.random(in: 0..<40, using: &generator))
            counts[gateway]?[stream] = generator.bool() ? generator.number(1...1_000) : nil
            speak(gateway, Int.random(in: 0..<5, using: &generator) > 0)
        }
        for gateway in counts.keys { for _ in 0..<20 { speak(gateway, true) } }
        func expected() -> [StreamID: Int] {
            counts.values.reduce(into: [:]) { all, each in
                for (stream, count) in each { all[stream, default: 0] += Int(count) }
            }
        }
        #expect(sums.sums == expected())
        #expect(sums.keptCount == counts.values.reduce(0) { $0 + $1.count })
        for gateway in counts.keys {
            counts[gateway] = nil
            sums.drop(gateway)
            #expect(sums.sums == expected())
        }
        #expect(sums.keptCount == 0)
    }

    @Test func `at the limit all counts are kept, and one more is left out`() {
        let most = 1_000
        var sums = StreamSums(countsMax: most)
        let values = (0..<most).map { StreamPortion.Value(stream: Sample.stream("s\(10_000_000 + $0)"), value: 1) }
        #expect(sums.take(StreamPortion(after: nil, through: nil, values: values), of: 2) == true)
        #expect(sums.keptCount == most)
        let more = StreamPortion(after: nil, through: nil, values: [.init(stream: self.stream(1), value: 1)])
        #expect(sums.take(more, of: 3) == false)
        #expect(sums.keptCount == most)
        // What takes the place of others has room.
        #expect(sums.take(more, of: 2) == true)
        #expect(sums.keptCount == 1)
        #expect(sums.take(more, of: 3) == true)
        #expect(sums.sums[self.stream(1)] == 2)
    }

    @Test func `absurd counts do not trap`() {
        var sums = StreamSums()
        for gateway in 2...9 as ClosedRange<UInt64> {
            let values = [StreamPortion.Value(stream: self.stream(1), value: .max)]
            let backwards = StreamPortion(after: self.stream(3), through: self.stream(0), values: [])
            #expect(sums.take(backwards, of: gateway) == true)
            #expect(sums.take(StreamPortion(after: nil, through: nil, values: values), of: gateway) == true)
        }
        #expect(sums.sums[self.stream(1)] == 8 * Int(UInt32.max))
    }
}
