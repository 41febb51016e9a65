// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import CuecastBroadcast
import TestSupport
import Testing

@testable import CueWatching

/// From SCTE-35 cues to signals.
@Suite(.suiteLimit)
struct SpliceSignalsTests {
    @Test func `splice_insert goes out, comes back and is cancelled by its number`() throws {
        var source = Source()
        let out = try source.take(Cues.insert(4_711))
        #expect(short(out) == ["out splice-4711 +10000 30s"])
        guard case .signal(let signal) = out.first?.meaning else { return }
        #expect(signal.isProgrammeTime)
        #expect(signal.raw == (try Cues.insert(4_711).encoded()))
        let back = Cues.insert(4_711, out: false, pts: 1_800_000, seconds: nil)
        #expect(short(try source.take(back)) == ["in splice-4711 +20000"])
        #expect(short(try source.take(Cues.insertIsCancelled(4_711))) == ["cancel splice-4711"])
    }

    @Test func `a cue that comes again says nothing new, and one that changes is an update`() throws {
        var source = Source()
        for (later, seconds) in [(0, 30 as UInt64), (3_000, 30), (5_000, 30)] {
            let said = short(try source.take(Cues.insert(1, seconds: seconds), atMilliseconds: later))
            #expect(said == (later == 0 ? ["out splice-1 +10000 30s"] : ["ignored: a repeat of what was said before"]))
        }
        #expect(short(try source.take(Cues.insert(1, seconds: 60))) == ["out splice-1 +10000 60s"])
        #expect(short(try source.take(Cues.insert(1, pts: 990_000, seconds: 60))) == ["out splice-1 +11000 60s"])
        let back = Cues.insert(1, out: false, pts: 1_800_000, seconds: nil)
        #expect(short(try source.take(back)) == ["in splice-1 +20000"])
        #expect(short(try source.take(back)) == ["ignored: a repeat of what was said before"])
        #expect(short(try source.take(Cues.insert(1, pts: 990_000, seconds: 60))) == ["ignored: event 1 ended already"])
    }

    @Test func `the same number means another break the next day`() throws {
        var source = Source()
        _ = try source.take(Cues.insert(1))
        let day = 86_400_000
        source.clock = .reference(ptsTicks: 0, atMilliseconds: Cues.noon + day)
        #expect(short(try source.take(Cues.insert(1), atMilliseconds: day)) == ["out splice-1 +86410000 30s"])
    }

    @Test func `a cue at once is now, and stays where it was first`() throws {
        var source = Source()
        #expect(short(try source.take(Cues.insert(1, pts: nil), atMilliseconds: 500)) == ["out splice-1 +500 30s"])
        let again = short(try source.take(Cues.insert(1, pts: nil), atMilliseconds: 1_500))
        #expect(again == ["ignored: a repeat of what was said before"])
        let longer = short(try source.take(Cues.insert(1, pts: nil, seconds: 60), atMilliseconds: 2_500))
        #expect(longer == ["out splice-1 +500 60s"])
        let back = Cues.insert(1, out: false, pts: nil, seconds: nil)
        #expect(short(try source.take(back, atMilliseconds: 9_000)) == ["in splice-1 +9000"])
        #expect(short(try source.take(back, atMilliseconds: 9_500)) == ["ignored: a repeat of what was said before"])
    }

    @Test func `a cue at once after the planned end means another break, also with the same number`() throws {
        var source = Source()
        let cue = Cues.insert(1, pts: nil)
        #expect(short(try source.take(cue)) == ["out splice-1 +0 30s"])
        let last = 30_000 + SpliceSignalLimits().toleranceMilliseconds
        let again = short(try source.take(cue, atMilliseconds: last))
        #expect(again == ["ignored: a repeat of what was said before"])
        #expect(short(try source.take(cue, atMilliseconds: last + 1)) == ["out splice-1 +32001 30s"])
        let back = Cues.insert(1, out: false, pts: nil, seconds: nil)
        #expect(short(try source.take(back, atMilliseconds: 50_000)) == ["in splice-1 +50000"])
    }

    @Test func `components have the time of the first one, and a duration of 0 is none`() throws {
        var source = Source()
        let event = SpliceInsert.Event(
            isOutOfNetwork: true,
            splicePoint: .components([.init(tag: 1, ptsTicks: 90_000), .init(tag: 2, ptsTicks: 180_000)]),
            breakDuration: BreakDuration(autoReturn: false, ticks: 0)
        )
        let section = SpliceInfoSection(command: .spliceInsert(SpliceInsert(eventID: 9, event: event)))
        #expect(short(try source.take(section)) == ["out splice-9 +1000"])
    }

    @Test func `the adjustment and the wrap of 33 bits lead to the nearest moment`() throws {
        var source = Source()
        source.clock = .reference(ptsTicks: 0x1_FFFF_FFFF - 89_999, atMilliseconds: Cues.noon)
        var section = Cues.insert(1, pts: 0x1_FFFF_FFFF)
        section.ptsAdjustmentTicks = 90_001
        #expect(short(try source.take(section)) == ["out splice-1 +2000 30s"])
        source.clock = .reference(ptsTicks: 45_000, atMilliseconds: Cues.noon)
        #expect(short(try source.take(Cues.insert(2, pts: 0x1_FFFF_FFFF - 44_999))) == ["out splice-2 +-1000 30s"])
    }

    @Test func `a time further away than the limit is refused, and one at the limit is not`() throws {
        let hour = 3_600 * 90_000 as UInt64
        var source = Source()
        #expect(short(try source.take(Cues.insert(1, pts: hour))) == ["out splice-1 +3600000 30s"])
        #expect(short(try source.take(Cues.insert(2, pts: hour + 90))) == ["refused: TOO_FAR"])
        let ago = (1 << 33) - hour
        #expect(short(try source.take(Cues.insert(3, pts: ago))) == ["out splice-3 +-3600000 30s"])
        #expect(short(try source.take(Cues.insert(4, pts: ago - 90))) == ["refused: TOO_FAR"])
        // What is refused leaves nothing behind.
        #expect(source.splices.rememberedEvents == 2)
    }

    @Test func `a break may be as long as the gateway allows, and not longer`() throws {
        var source = Source()
        #expect(short(try source.take(Cues.insert(1, seconds: 21_600))) == ["out splice-1 +10000 21600s"])
        #expect(short(try source.take(Cues.insert(2, seconds: 21_601))) == ["refused: TOO_LONG"])
    }

    @Test func `without a reference only a cue at once has a time`() throws {
        var source = Source()
        source.clock = .none
        #expect(short(try source.take(Cues.insert(1))) == ["refused: NO_TIME_REFERENCE"])
        #expect(short(try source.take(Cues.insert(2, pts: nil))) == ["out splice-2 +0 30s"])
        source.clock = .program(PCRWallClock())
        #expect(short(try source.take(Cues.insert(3))) == ["refused: NO_TIME_REFERENCE"])
        source.clock = .fixed(atMilliseconds: Cues.noon + 5_000)
        #expect(short(try source.take(Cues.insert(4))) == ["out splice-4 +5000 30s"])
    }

    @Test func `the usual types open breaks, and others say why not`() throws {
        for type in SegmentationRule.usualTypes.sorted() {
            var source = Source()
            #expect(short(try source.take(Cues.segment(7, type, seconds: 30))) == ["out segment-7 +10000 30s"])
            #expect(short(try source.take(Cues.segment(7, type + 1, pts: 1_800_000))) == ["in segment-7 +20000"])
        }
        for type in [0x10, 0x11, 0x12, 0x20, 0x21, 0x40, 0x41, 0x3C, 0x50, 0x01] as [UInt8] {
            var source = Source()
            let said = short(try source.take(Cues.segment(7, type)))
            #expect(said.count == 1 && said[0].hasPrefix("ignored: segments of type 0x"), "\(said)")
        }
        var rule = SegmentationRule()
        rule.openingTypes = SegmentationRule.possibleTypes
        for type in [0x20, 0x40] as [UInt8] {
            var source = Source(rule)
            #expect(short(try source.take(Cues.segment(7, type))) == ["out segment-7 +10000"])
            #expect(short(try source.take(Cues.segment(7, type + 1, pts: 1_800_000))) == ["in segment-7 +20000"])
        }
    }

    @Test func `the outermost segment is the break, and those inside it are ignored while it runs`() throws {
        var source = Source()
        #expect(short(try source.take(Cues.segment(1, 0x22, seconds: 60))) == ["out segment-1 +10000 60s"])
        let inside = ["ignored: lies in the break segment-1"]
        #expect(short(try source.take(Cues.segment(2, 0x34, seconds: 60))) == inside)
        #expect(short(try source.take(Cues.segment(3, 0x30, seconds: 30))) == inside)
        #expect(short(try source.take(Cues.segment(3, 0x31, pts: 3_600_000))) == inside)
        // The same number at another level is another segment.
        #expect(short(try source.take(Cues.segment(1, 0x30, pts: 3_600_000, seconds: 30))) == inside)
        #expect(short(try source.take(Cues.segment(1, 0x31, pts: 6_300_000))) == inside)
        #expect(short(try source.take(Cues.segment(2, 0x35, pts: 6_300_000))) == inside)
        #expect(short(try source.take(Cues.segment(1, 0x23, pts: 6_300_000))) == ["in segment-1 +70000"])
        #expect(short(try source.take(Cues.segment(4, 0x30, pts: 6_400_000))) == ["out segment-4 +71111"])
    }

    @Test func `one section with several levels opens one break, in whichever order they stand`() throws {
        for types in [[0x22, 0x36, 0x30], [0x30, 0x36, 0x22]] as [[UInt8]] {
            var source = Source()
            let descriptors = types.map { Cues.descriptor(UInt32($0), $0, seconds: 30) }
            #expect(signals(try source.take(Cues.segments(descriptors))) == ["out segment-34 +10000 30s"])
        }
        // The provider's and the distributor's opportunity begin together.
        var source = Source()
        let both = Cues.segments([Cues.descriptor(1, 0x34, seconds: 60), Cues.descriptor(2, 0x36, seconds: 30)])
        #expect(signals(try source.take(both)) == ["out segment-1 +10000 60s"])
        // One section ends an ad and begins the next one.
        let change = Cues.segments([Cues.descriptor(3, 0x30, seconds: 30), Cues.descriptor(1, 0x35)], pts: 6_300_000)
        #expect(signals(try source.take(change)) == ["in segment-1 +70000", "out segment-3 +70000 30s"])
    }

    @Test func `a break that comes after the segments inside it takes them back`() throws {
        var source = Source()
        #expect(signals(try source.take(Cues.segment(2, 0x30, seconds: 15))) == ["out segment-2 +10000 15s"])
        let second = Cues.segment(3, 0x30, pts: 2_250_000, seconds: 15)
        #expect(signals(try source.take(second)) == ["out segment-3 +25000 15s"])
        #expect(
            signals(try source.take(Cues.segment(1, 0x22, seconds: 30)))
                == ["cancel segment-3", "out segment-1 +10000 30s", "cancel segment-2"]
        )
        let end = Cues.segment(2, 0x31, pts: 2_250_000)
        #expect(short(try source.take(end)) == ["ignored: lies in the break segment-1"])
    }

    @Test func `a break with the number of a segment inside it is not taken back with that`() throws {
        var source = Source()
        #expect(signals(try source.take(Cues.segment(5, 0x34, seconds: 30))) == ["out segment-5 +10000 30s"])
        #expect(signals(try source.take(Cues.segment(5, 0x22, seconds: 60))) == ["out segment-5 +10000 60s"])
        #expect(signals(try source.take(Cues.segment(5, 0x35, pts: 2_700_000))) == [])
        #expect(signals(try source.take(Cues.segment(5, 0x23, pts: 4_500_000))) == ["in segment-5 +50000"])
    }

    @Test func `a programme that begins ends the breaks that run, where the rule says so`() throws {
        var rule = SegmentationRule()
        rule.endingTypes = [0x10, 0x12]
        var source = Source(rule)
        #expect(short(try source.take(Cues.segment(5, 0x12))) == ["ignored: no break runs that it could end"])
        _ = try source.take(Cues.segment(1, 0x22, seconds: 60))
        _ = try source.take(Cues.insert(2, seconds: 60))
        let ended = signals(try source.take(Cues.segment(6, 0x10, pts: 1_800_000)))
        #expect(ended == ["in segment-1 +20000", "in splice-2 +20000"])
        #expect(short(try source.take(Cues.segment(7, 0x11, pts: 1_800_000))).first?.hasPrefix("ignored") == true)
    }

    @Test func `a segment is cancelled by its number, also where it was not seen`() throws {
        var source = Source()
        _ = try source.take(Cues.segment(1, 0x22, seconds: 60))
        _ = try source.take(Cues.segment(2, 0x30, seconds: 30))
        #expect(short(try source.take(Cues.segmentIsCancelled(2))) == ["ignored: lies in the break segment-1"])
        #expect(short(try source.take(Cues.segmentIsCancelled(1))) == ["cancel segment-1"])
        #expect(short(try source.take(Cues.segmentIsCancelled(3))) == ["cancel segment-3"])
    }

    @Test func `delivery restrictions count where the rule says so`() throws {
        let closed = DeliveryRestrictions(
            isWebDeliveryAllowed: false,
            hasRegionalBlackout: false,
            isArchiveAllowed: true
        )
        let section = Cues.segments([Cues.descriptor(1, 0x34, seconds: 30, restrictions: closed)])
        var usual = Source()
        #expect(signals(try usual.take(section)) == ["out segment-1 +10000 30s"])
        var rule = SegmentationRule()
        rule.obeysDeliveryRestrictions = true
        var strict = Source(rule)
        let said = short(try strict.take(section))
        #expect(said == ["ignored: the segment may not be delivered on the web (web_delivery_allowed_flag is 0)"])
        let open = DeliveryRestrictions(isWebDeliveryAllowed: true, hasRegionalBlackout: true, isArchiveAllowed: false)
        let allowed = Cues.segments([Cues.descriptor(1, 0x34, seconds: 30, restrictions: open)])
        #expect(signals(try strict.take(allowed)) == ["out segment-1 +10000 30s"])
        rule.obeysRegionalBlackout = true
        var stricter = Source(rule)
        let dark = short(try stricter.take(allowed))
        #expect(dark == ["ignored: the segment is blacked out in regions (no_regional_blackout_flag is 0)"])
        let free = DeliveryRestrictions(isWebDeliveryAllowed: true, hasRegionalBlackout: false, isArchiveAllowed: false)
        let shown = Cues.segments([Cues.descriptor(1, 0x34, seconds: 30, restrictions: free)])
        #expect(signals(try stricter.take(shown)) == ["out segment-1 +10000 30s"])
    }

    @Test func `other commands are ignored or refused, each with a reason`() throws {
        var source = Source()
        let commands: [(SpliceCommand, String)] = [
            (.spliceNull, "splice_null"), (.bandwidthReservation, "bandwidth_reservation"),
            (.privateCommand(PrivateCommand(identifier: 1, bytes: [2])), "private_command"),
        ]
        for (command, name) in commands {
            let said = short(try source.take(SpliceInfoSection(command: command)))
            #expect(said == ["ignored: \(name)() means nothing for breaks"])
        }
        let null = SpliceInfoSection(command: .spliceNull, descriptors: [Cues.descriptor(1, 0x22)])
        #expect(short(try source.take(null)) == ["ignored: a segment in a section with splice_null() has no time"])
        let bytes = try SpliceInfoSection(command: .spliceNull).encoded()
        for wrong in [[], [0xFC], Array(bytes.dropLast())] as [[UInt8]] {
            let said = source.splices.observations(of: wrong, clock: source.clock, atMilliseconds: source.now)
            #expect(short(said) == ["refused: UNREADABLE"])
        }
    }

    /// The writer writes neither: these are `splice_null()` with another type and with the bit of encryption, and the checksums of that.
    @Test(
        arguments: [
            (13, 0x04, [0x7D, 0x2D, 0x0D, 0xE3], "UNSUPPORTED_COMMAND", "splice_schedule() is not read"),
            (4, 0x82, [0x83, 0x90, 0xDC, 0x2A], "ENCRYPTED", "encrypted with algorithm 1"),
        ] as [(Int, UInt8, [UInt8], String, String)]
    )
    func `splice_schedule and encrypted sections are refused with codes of their own, and leave nothing behind`(
        place: Int,
        byte: UInt8,
        checksum: [UInt8],
        code: String,
        sentence: String
    ) throws {
        var bytes = try SpliceInfoSection(command: .spliceNull).encoded()
        bytes[place] = byte
        bytes.replaceSubrange(bytes.count - 4..<bytes.count, with: checksum)
        var source = Source()
        let said = source.splices.observations(of: bytes, clock: source.clock, atMilliseconds: source.now)
        #expect(short(said) == ["refused: \(code)"])
        guard case .refused(let refusal) = said.first?.meaning else { return }
        #expect(refusal.sentence.contains(sentence))
        #expect(source.splices.rememberedEvents == 0)
    }

    @Test func `a break ends by its duration with auto_return and without, and by a cue that comes before it`() throws {
        for autoReturn in [true, false] {
            var source = Source()
            #expect(short(try source.take(Cues.insert(1, autoReturn: autoReturn))) == ["out splice-1 +10000 30s"])
            let back = Cues.insert(1, out: false, pts: 1_800_000, seconds: nil)
            #expect(short(try source.take(back)) == ["in splice-1 +20000"])
        }
    }

    @Test func `the number of remembered events is bounded, and they are forgotten by time`() throws {
        var limits = SpliceSignalLimits()
        limits.rememberedEventsMax = 3
        var source = Source(limits: limits)
        for id in 1...3 as ClosedRange<UInt32> { _ = try source.take(Cues.insert(id), atMilliseconds: Int(id)) }
        #expect(source.splices.rememberedEvents == 3)
        _ = try source.take(Cues.insert(4), atMilliseconds: 4)
        #expect(source.splices.rememberedEvents == 3)
        // The one that was heard of the longest ago is forgotten, so its cue says something new.
        #expect(short(try source.take(Cues.insert(2), atMilliseconds: 5)).first?.hasPrefix("ignored") == true)
        #expect(signals(try source.take(Cues.insert(1), atMilliseconds: 6)) == ["out splice-1 +10000 30s"])
        let quiet = SpliceInfoSection(command: .spliceNull)
        let over = 40_000 + limits.rememberedMilliseconds
        _ = try source.take(quiet, atMilliseconds: over)
        #expect(source.splices.rememberedEvents == 3)
        _ = try source.take(quiet, atMilliseconds: over + 1)
        #expect(source.splices.rememberedEvents == 0)
    }
}
