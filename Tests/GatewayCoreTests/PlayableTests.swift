// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The ads that a late listener still gets: no dead air, and nothing cut if the break says so.
@Suite(.suiteLimit)
struct PlayableTests {
    private let microsecond = Duration.microseconds(1)

    /// A break that starts at 100.
    private func made(
        _ seconds: [Double],
        duration: Double? = 30,
        exact: Bool = false,
        start: BreakStart? = .at(Sample.at(100)),
        preStream: Bool = false
    ) throws -> (break: Break, desk: Desk) {
        var desk = Desk()
        let publish = Sample.publish(
            start: start,
            duration: duration.map { .milliseconds(Int64($0 * 1_000)) },
            advertisements: Sample.advertisements(seconds),
            preStream: preStream,
            exact: exact
        )
        _ = desk.ask(.publish(publish), at: 90)
        return (try #require(desk["b1"]), desk)
    }

    @Test func `a late listener begins with what the others hear now, at each boundary`() throws {
        let each = try self.made([10, 15, 5]).break
        let expected: [(Double, Break.Playable)] = [
            (0, .from(0)), (100, .from(0)), (109.999_999, .from(0)), (110, .from(1)), (110.000_001, .from(1)),
            (124.999_999, .from(1)), (125, .from(2)), (129.999_999, .from(2)), (130, .nothing), (131, .nothing),
        ]
        for (seconds, playable) in expected { #expect(each.playable(at: Sample.at(seconds)) == playable, "\(seconds)") }
    }

    @Test func `a list longer than the break is cut at its end`() throws {
        let each = try self.made([10, 15, 20]).break
        #expect(each.playable(at: Sample.at(129.999_999)) == .from(2))
        #expect(each.playable(at: Sample.at(130)) == .nothing)
    }

    @Test func `a list shorter than the break leaves nothing after it`() throws {
        let each = try self.made([10, 5]).break
        #expect(each.playable(at: Sample.at(114.999_999)) == .from(1))
        #expect(each.playable(at: Sample.at(115)) == .nothing)
    }

    @Test func `an exact break hands out the end of the list that fits, at each boundary`() throws {
        let each = try self.made([10, 15, 5], exact: true).break
        let expected: [(Double, Break.Playable)] = [
            (0, .from(0)), (100, .from(0)), (100.000_001, .from(1)), (110, .from(1)), (110.000_001, .from(2)),
            (125, .from(2)), (125.000_001, .nothing), (130, .nothing),
        ]
        for (seconds, playable) in expected { #expect(each.playable(at: Sample.at(seconds)) == playable, "\(seconds)") }
    }

    @Test func `an exact break never hands out what cannot fit, also before it starts or while it is cued`() throws {
        let ahead = try self.made([10, 15, 10], exact: true).break
        #expect(ahead.playable(at: Sample.at(0)) == .from(1))
        let cued = try self.made([10, 15, 10], exact: true, start: nil).break
        #expect(cued.playable(at: Sample.at(95)) == .from(1))
        let open = try self.made([200, 150, 100], duration: nil, exact: true, start: nil).break
        #expect(open.playable(at: Sample.at(95)) == .from(1), "the longest time that an open break lasts")
    }

    @Test func `a break without a duration ends at its longest time`() throws {
        let each = try self.made([200, 200], duration: nil).break
        #expect(each.playable(at: Sample.at(299.999_999)) == .from(0))
        #expect(each.playable(at: Sample.at(300)) == .from(1))
        #expect(each.playable(at: Sample.at(399.999_999)) == .from(1))
        #expect(each.playable(at: Sample.at(400)) == .nothing)
    }

    @Test func `an early end counts`() throws {
        var desk = try self.made([10, 10, 10]).desk
        desk.tick(at: 92)
        _ = desk.ask(.end(.init(key: Sample.key(), at: Sample.at(115))), at: 101)
        let each = try #require(desk["b1"])
        #expect(each.playable(at: Sample.at(114.999_999)) == .from(1))
        #expect(each.playable(at: Sample.at(115)) == .nothing)
    }

    @Test func `a cued break is whole until it is punched, and trimmed from then on`() throws {
        var desk = try self.made([10, 10, 10], start: nil).desk
        #expect(desk["b1"]?.playable(at: Sample.at(5_000)) == .from(0))
        _ = desk.ask(.punch(.init(key: Sample.key(), start: .now)), at: 100)
        #expect(desk["b1"]?.playable(at: Sample.at(100)) == .from(0))
        #expect(desk["b1"]?.playable(at: Sample.at(111)) == .from(1))
        #expect(desk["b1"]?.playable(at: Sample.at(130)) == .nothing)
    }

    @Test func `a pre-stream break is whole as long as it is open`() throws {
        let each = try self.made([10, 10], start: nil, preStream: true).break
        #expect(each.playable(at: Sample.at(90)) == .from(0))
        #expect(each.playable(at: Sample.at(1_889.999_999)) == .from(0))
        #expect(each.playable(at: Sample.at(1_890)) == .nothing)
        let exact = try self.made([10, 25], exact: true, start: nil, preStream: true).break
        #expect(exact.playable(at: Sample.at(90)) == .from(1), "30 s are the most that it lasts")
        let open = try self.made([200, 200], duration: nil, exact: true, start: nil, preStream: true).break
        #expect(open.playable(at: Sample.at(90)) == .from(0))
    }

    @Test func `random breaks have no dead air, and exact ones are never cut`() throws {
        var generator = SeededGenerator(for: #function)
        for _ in 0..<150 {
            let seconds = generator.list(1...6) { Double($0.number(1...20_000)) / 1_000 }
            let exact = generator.bool()
            // Where not even the last one fits, an exact break is refused.
            let shortest = exact ? Int((seconds.last ?? 0) * 1_000) : 1
            let duration = Double(generator.number(shortest...60_000)) / 1_000
            let each = try self.made(seconds, duration: duration, exact: exact).break
            let end = try #require(each.end)
            var previous = 0
            var playheads = (0..<10).map { _ in Sample.at(99) + .microseconds(generator.number(0...70_000_000)) }
            var slotEnd = Sample.at(100)
            for advertisement in each.record.advertisements {
                slotEnd = slotEnd + advertisement.duration
                playheads += [slotEnd - self.microsecond, slotEnd, slotEnd + self.microsecond]
            }
            for playhead in playheads.sorted() {
                let said = "CUECAST_SEED=\(SeededGenerator.seed) \(seconds) \(duration) exact \(exact) at \(playhead)"
                let total = each.record.advertisements.map(\.duration).reduce(.zero, +)
                switch each.playable(at: playhead) {
                case .from(let first):
                    #expect(playhead < end, "\(said)")
                    #expect(first >= previous, "a later listener never gets more: \(said)")
                    previous = first
                    let before = each.record.advertisements[..<first].map(\.duration).reduce(.zero, +)
                    let rest = total - before
                    if exact {
                        #expect(max(playhead, Sample.at(100)) + rest <= end, "nothing is cut: \(said)")
                        if first > 0 {
                            let more = rest + each.record.advertisements[first - 1].duration
                            #expect(max(playhead, Sample.at(100)) + more > end, "no more fits: \(said)")
                        }
                    } else {
                        let slot = Sample.at(100) + before
                        #expect(first == 0 || slot <= playhead, "nothing is skipped that is not over: \(said)")
                        #expect(playhead < slot + each.record.advertisements[first].duration, "\(said)")
                    }
                case .nothing:
                    previous = .max
                    let over = playhead >= end || (!exact && playhead >= Sample.at(100) + total)
                    let last = each.record.advertisements.last?.duration ?? .zero
                    #expect(over || (exact && max(playhead, Sample.at(100)) + last > end), "\(said)")
                }
            }
        }
    }
}
