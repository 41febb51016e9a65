// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastWire
import Testing

@testable import CueWatching

/// Cues of transport streams.
@Suite(.suiteLimit)
struct TransportStreamWatchTests {
    private static func watch(
        _ choice: TransportStreamChoice = TransportStreamChoice(),
        recordedStart: Int? = nil
    ) -> TransportStreamWatch {
        TransportStreamWatch(stream: "sport1", source: "encoder", choice: choice, recordedStart: recordedStart)
    }

    @Test func `a cue has the time that the clock and the arrival say`() throws {
        var stream = TransportStreamMaker()
        var watch = Self.watch()
        // The clock wraps 2 s after its first value.
        let first = (1 << 33) - 180_000
        let begin = stream.tables() + stream.clock(first)
        let news = watch.read(begin, atMilliseconds: Cues.noon).messages
        #expect(news.count == 1)
        let cue = try Cues.insert(7, pts: 720_000).encoded()
        let seen = watch.read(stream.clock(first + 90_000) + stream.section(cue), atMilliseconds: Cues.noon + 1_000)
        #expect(signals(seen.observations).map { $0.split(separator: " ").suffix(2) } == [["+10000", "30s"]])
        #expect(seen.messages == [] && watch.faults.text == nil && watch.hasCues)
        let again = watch.read(stream.section(cue), atMilliseconds: Cues.noon + 2_000)
        #expect(short(again.observations) == ["ignored: a repeat of what was said before"])
    }

    @Test func `a recorded stream has the time of its clock, over a jump too`() throws {
        var stream = TransportStreamMaker()
        var watch = Self.watch(recordedStart: Cues.noon)
        #expect(watch.recordedMilliseconds == nil)
        _ = watch.read(stream.tables() + stream.clock(0) + stream.clock(270_000), atMilliseconds: 0)
        #expect(watch.recordedMilliseconds == Cues.noon + 3_000)
        _ = watch.read(stream.clock(90_000_000) + stream.clock(90_090_000), atMilliseconds: 0)
        #expect(watch.recordedMilliseconds == Cues.noon + 4_000)
        let cue = try Cues.insert(7, pts: 90_180_000).encoded()
        let seen = watch.read(stream.section(cue), atMilliseconds: 0)
        #expect(signals(seen.observations).first?.contains("+5000 ") == true)
    }

    @Test func `without a clock only a cue about now has a time`() throws {
        var stream = TransportStreamMaker()
        var watch = Self.watch()
        let cues = stream.section(try Cues.insert(7).encoded()) + stream.section(try Cues.insert(8, pts: nil).encoded())
        let seen = watch.read(stream.tables() + cues, atMilliseconds: Cues.noon)
        #expect(short(seen.observations).first == "refused: NO_TIME_REFERENCE")
        #expect(signals(seen.observations).count == 1)
    }

    @Test(arguments: [(1, 0x102, 1), (2, 0x102, 0), (1, 0x103, 0)])
    func `the program and the PID choose`(program: Int, pid: Int, count: Int) throws {
        var stream = TransportStreamMaker()
        var watch = Self.watch(TransportStreamChoice(program: program, pid: pid))
        let cue = stream.section(try Cues.insert(7, pts: nil).encoded())
        let seen = watch.read(stream.tables() + cue, atMilliseconds: Cues.noon)
        #expect(seen.observations.count == count)
    }

    @Test func `faults are told once for each kind, and all are counted`() throws {
        var stream = TransportStreamMaker()
        var watch = Self.watch()
        _ = watch.read(stream.tables() + stream.clock(0), atMilliseconds: Cues.noon)
        var bad = try Cues.insert(7).encoded()
        bad[bad.count - 1] ^= 1
        var told: [String] = []
        for _ in 0..<3 {
            stream.lose(1)
            let seen = watch.read(stream.section(bad), atMilliseconds: Cues.noon)
            #expect(short(seen.observations) == ["refused: UNREADABLE"])
            told += seen.messages
        }
        #expect(told.count == 1 && watch.faults.text == "continuity errors 2", "\(told)")
        let silent = watch.silence(seconds: 10).messages + watch.silence(seconds: 10).messages
        #expect(silent.count == 1)
        let foreign = watch.readDatagram([1, 2, 3], atMilliseconds: Cues.noon)
        #expect(foreign.messages.count == 1 && watch.faults.counts[.foreignDatagram] == 1)
    }

    @Test func `a clock that is silent for the limit and one more is told`() {
        var stream = TransportStreamMaker()
        var watch = Self.watch()
        _ = watch.read(stream.tables() + stream.clock(0), atMilliseconds: 0)
        let told = [5_000, 5_001, 9_000].map { watch.read([UInt8](), atMilliseconds: $0).messages.count }
        #expect(told == [0, 1, 0])
        _ = watch.read(stream.clock(810_000), atMilliseconds: 9_000)
        _ = watch.read([UInt8](), atMilliseconds: 19_000)
        #expect(watch.faults.counts[.clockLost] == 2)
    }

    @Test func `a stream without cues is told once`() {
        var watch = Self.watch()
        let told = [0, 10_000, 10_001, 20_000].map { watch.read([UInt8](), atMilliseconds: $0).messages.count }
        #expect(told == [0, 0, 1, 0])
    }

    @Test func `changes of programs are told up to the limit`() {
        var limits = TransportStreamWatchLimits()
        limits.programMessagesMax = 2
        var watch = TransportStreamWatch(stream: "sport1", source: "encoder", limits: limits)
        var messages: [String] = []
        var stream = TransportStreamMaker()
        for program in 1...4 {
            stream.program = program
            messages += watch.read(stream.tables(), atMilliseconds: 0).messages.filter { $0.hasPrefix("In the stream") }
        }
        #expect(messages.count == 2 && messages.last?.hasSuffix("Further changes are not told.") == true, "\(messages)")
    }

    @Test func `datagrams that come late or twice are passed over, and a new sender is taken`() {
        var order = DatagramOrder()
        let steps = [65_534, 65_535, 1, 1, 0, 40_000, 40_001, 40_002].map { order.take($0) }
        let next = DatagramOrder.Step.next(missing: 0)
        #expect(steps == [next, next, .next(missing: 1), .late, .late, .late, next, next])
    }

    @Test(
        arguments: [
            ("-", TransportStreamInput.standardInput), ("live.ts", .file("live.ts")),
            ("udp://@239.1.1.1:5000", .datagrams(NetworkAddress(host: "239.1.1.1", port: 5_000))),
            ("rtp://127.0.0.1:0", .datagrams(NetworkAddress(host: "127.0.0.1", port: 0))),
            ("udp://@:5000", .datagrams(NetworkAddress(host: "*", port: 5_000))),
            ("UDP://[::1]:5000", .datagrams(NetworkAddress(host: "::1", port: 5_000))),
        ] as [(String, TransportStreamInput)]
    )
    func `inputs are read as people write them`(text: String, input: TransportStreamInput) throws {
        #expect(try TransportStreamInput(text) == input)
    }

    @Test(arguments: ["", "srt://a:1", "udp://1.2.3.4", "udp://1.2.3.4:5000?pkt_size=1316", "udp://1.2.3.4:70000"])
    func `other inputs are refused with a sentence`(text: String) {
        let fault = #expect(throws: TransportStreamInput.Fault.self) { try TransportStreamInput(text) }
        #expect(fault?.description.isEmpty == false)
    }
}
