// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// What sections mean for breaks.
@Suite(.suiteLimit)
struct CueSignalTests {
    private func insert(
        out: Bool,
        _ point: SpliceInsert.SplicePoint,
        _ duration: BreakDuration? = nil
    ) -> SpliceInfoSection {
        let event = SpliceInsert.Event(isOutOfNetwork: out, splicePoint: point, breakDuration: duration)
        return SpliceInfoSection(command: .spliceInsert(SpliceInsert(eventID: 7, event: event)))
    }

    @Test func `splice_insert leaves the programme and returns to it`() {
        let duration = BreakDuration(autoReturn: true, ticks: 2_700_000)
        #expect(
            self.insert(out: true, .program(ptsTicks: 90_000), duration).signals == [
                CueSignal(
                    kind: .out,
                    eventID: 7,
                    start: .at(ptsTicks: 90_000),
                    durationTicks: 2_700_000,
                    autoReturn: true
                )
            ]
        )
        #expect(
            self.insert(out: false, .program(ptsTicks: 180_000)).signals
                == [CueSignal(kind: .in, eventID: 7, start: .at(ptsTicks: 180_000))]
        )
        let cancel = SpliceInfoSection(command: .spliceInsert(SpliceInsert(eventID: 7, event: nil)))
        #expect(cancel.signals == [CueSignal(kind: .cancel, eventID: 7, start: .immediate)])
    }

    @Test func `an event without a time is at once, and components have the time of the first one`() {
        let points: [(SpliceInsert.SplicePoint, CueSignal.Start)] = [
            (.programImmediate, .immediate), (.program(ptsTicks: nil), .immediate),
            (.componentsImmediate(tags: [1, 2]), .immediate),
            (
                .components([.init(tag: 1, ptsTicks: 500), .init(tag: 2, ptsTicks: nil), .init(tag: 3, ptsTicks: 400)]),
                .at(ptsTicks: 500)
            ),
            (.components([.init(tag: 1, ptsTicks: nil)]), .immediate),
        ]
        for (point, start) in points {
            #expect(self.insert(out: true, point).signals.map(\.start) == [start], "\(point)")
        }
    }

    @Test func `the adjustment is added to the time, modulo 2^33`() {
        var section = self.insert(out: true, .program(ptsTicks: 0x1_FFFF_FFFF))
        #expect(section.signals.first?.start == .at(ptsTicks: 0x1_FFFF_FFFF))
        section.ptsAdjustmentTicks = 1
        #expect(section.signals.first?.start == .at(ptsTicks: 0))
        section.ptsAdjustmentTicks = 0x1_FFFF_FFFF
        #expect(section.signals.first?.start == .at(ptsTicks: 0x1_FFFF_FFFE))
        #expect(section.effectiveTicks(90_000) == 89_999)
        // Of a cue without a time there is nothing to adjust.
        section = self.insert(out: true, .programImmediate)
        section.ptsAdjustmentTicks = 900
        #expect(section.signals.first?.start == .immediate)
    }

    /// The signal of a time signal with a segment.
    private func signals(of type: UInt8, command: SpliceCommand = .timeSignal(ptsTicks: 100)) -> [CueSignal] {
        let segment = SegmentationDescriptor.Segment(SegmentationType(rawValue: type), durationTicks: 900)
        let descriptor = SegmentationDescriptor(eventID: 9, segment: segment)
        return SpliceInfoSection(command: command, descriptors: [.segmentation(descriptor)]).signals
    }

    @Test func `segments have a level, and begin or end`() {
        let expected: [(UInt8, CueSignal.Level, CueSignal.Kind)] = [
            (0x10, .program, .out), (0x11, .program, .in), (0x12, .program, .in),
            (0x20, .chapter, .out), (0x21, .chapter, .in), (0x22, .breakSegment, .out), (0x23, .breakSegment, .in),
            (0x30, .advertisement, .out), (0x31, .advertisement, .in), (0x32, .advertisement, .out),
            (0x33, .advertisement, .in), (0x34, .placementOpportunity, .out), (0x35, .placementOpportunity, .in),
            (0x36, .placementOpportunity, .out), (0x37, .placementOpportunity, .in),
            (0x40, .unscheduledEvent, .out), (0x41, .unscheduledEvent, .in),
            (0x44, .adBlock, .out), (0x45, .adBlock, .in), (0x46, .adBlock, .out), (0x47, .adBlock, .in),
        ]
        for (type, level, kind) in expected {
            var signal = CueSignal(kind: kind, eventID: 9, start: .at(ptsTicks: 100), durationTicks: 900)
            signal.level = level
            signal.segmentationType = SegmentationType(rawValue: type)
            #expect(self.signals(of: type) == [signal], "\(type)")
            #expect(SegmentationType(rawValue: type).name?.isEmpty == false)
        }
        let others = Set(UInt8.min...UInt8.max).subtracting(expected.map(\.0))
        for type in others { #expect(self.signals(of: type).isEmpty, "\(type)") }
        #expect(CueSignal.Level.allCases == CueSignal.Level.allCases.sorted())
        #expect(CueSignal.Level.breakSegment < .placementOpportunity)
        #expect(CueSignal.Level.placementOpportunity < .advertisement)
    }

    @Test func `a segment needs a command with a moment`() {
        #expect(self.signals(of: 0x22, command: .timeSignal(ptsTicks: nil)).map(\.start) == [.immediate])
        #expect(self.signals(of: 0x22, command: .spliceNull).isEmpty)
        #expect(self.signals(of: 0x22, command: .bandwidthReservation).isEmpty)
        #expect(self.signals(of: 0x22, command: .privateCommand(PrivateCommand(identifier: 1, bytes: []))).isEmpty)
        let cancelled = SpliceCommand.spliceInsert(SpliceInsert(eventID: 1, event: nil))
        #expect(self.signals(of: 0x22, command: cancelled).map(\.kind) == [.cancel])
        // A cancellation needs none.
        let descriptor = SegmentationDescriptor(eventID: 9, segment: nil)
        let section = SpliceInfoSection(command: .spliceNull, descriptors: [.segmentation(descriptor)])
        #expect(section.signals == [CueSignal(kind: .cancel, eventID: 9, start: .immediate)])
    }

    @Test func `a segment of components begins with the offset of the first one, and tells its restrictions`() {
        var segment = SegmentationDescriptor.Segment(.breakStart)
        segment.components = [.init(tag: 1, offsetTicks: 50), .init(tag: 2, offsetTicks: 0)]
        segment.deliveryRestrictions = DeliveryRestrictions(
            isWebDeliveryAllowed: false,
            hasRegionalBlackout: true,
            isArchiveAllowed: true
        )
        let descriptor = SegmentationDescriptor(eventID: 9, segment: segment)
        var section = SpliceInfoSection(command: .timeSignal(ptsTicks: 100), descriptors: [.segmentation(descriptor)])
        section.ptsAdjustmentTicks = 0x1_FFFF_FFFF
        #expect(section.signals.map(\.start) == [.at(ptsTicks: 149)])
        #expect(section.signals.first?.deliveryRestrictions == segment.deliveryRestrictions)
    }

    @Test func `nested segments of one section come in the order of its descriptors`() {
        let types: [UInt8] = [0x31, 0x35, 0x23, 0x11, 0x10]
        let section = SpliceInfoSection(
            command: .timeSignal(ptsTicks: 5),
            descriptors: types.map { type in
                let segment = SegmentationDescriptor.Segment(SegmentationType(rawValue: type))
                return .segmentation(SegmentationDescriptor(eventID: UInt32(type), segment: segment))
            }
        )
        #expect(section.signals.compactMap(\.segmentationType?.rawValue) == types)
    }
}
