// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import Testing

/// Each reason for which a section is refused, with its place.
@Suite(.suiteLimit)
struct SpliceSectionErrorTests {
    private static let timeSignal = SpliceInfoSection(command: .timeSignal(ptsTicks: 90_000))

    /// The error of a time signal in which some bytes are others, with the right checksum.
    private static func error(_ changes: [Int: UInt8]) throws -> SpliceSectionError? {
        var bytes = try Self.timeSignal.encoded()
        for (place, byte) in changes { bytes[place] = byte }
        return sectionError(withChecksum(bytes))
    }

    @Test(
        arguments: [
            (
                [0: 0x00], .notASection,
                "Byte 0, table_id: 0x00 is another table; a splice information section has 0xfc."
            ),
            ([1: 0xB0], .notASection, "Byte 1, section_syntax_indicator: the bit is 1, and it must be 0."),
            ([1: 0x70], .notASection, "Byte 1, private_indicator: the bit is 1, and it must be 0."),
            ([1: 0x3F, 2: 0xFE], .tooLarge, "Byte 1, section_length: 4094 is more than 4093."),
            ([2: 23], .truncated, "Byte 1, section_length: 23 bytes must follow, and 22 do."),
            ([2: 21], .wrongLength, "Byte 1, section_length: 21 bytes must follow, and there are more."),
            ([3: 1], .notASection, "Byte 3, protocol_version: 1 is not known; 0 is."),
            (
                [4: 0x82], .encrypted,
                "Byte 4, encrypted_packet: the section is encrypted with algorithm 1, and encrypted sections are "
                    + "not read."
            ),
            (
                [12: 9], .wrongLength,
                "Byte 11, splice_command_length: 9 bytes of command do not fit: 5 are left for it."
            ),
            (
                [12: 4], .truncated,
                "Byte 14, pts_time: pts_time has 33 bits, and time_signal() ends after 25 of them."
            ),
            (
                [13: 4], .unsupportedCommand(4),
                "Byte 13, splice_command_type: splice_schedule() is not read: its events have a wall clock time and "
                    + "no place in the stream."
            ),
            ([13: 1], .unsupportedCommand(1), "Byte 13, splice_command_type: 0x01 is reserved."),
            (
                [11: 0xFF, 12: 0xFF, 13: 0xFF], .wrongLength,
                "Byte 11, splice_command_length: a private_command() has no length of its own, and "
                    + "splice_command_length is 0xfff."
            ),
            (
                [20: 1], .wrongLength,
                "Byte 19, descriptor_loop_length: 1 bytes of descriptors do not fit: 0 are left before CRC_32."
            ),
        ] as [([Int: UInt8], SpliceSectionError.Reason, String)]
    )
    func `a section names the byte and the field that are wrong`(
        changes: [Int: UInt8],
        reason: SpliceSectionError.Reason,
        sentence: String
    ) throws {
        let error = try Self.error(changes)
        #expect(error?.reason == reason)
        #expect(error?.description == sentence)
        #expect(error?.errorDescription == sentence)
    }

    @Test func `a wrong checksum is told with the right one`() throws {
        var bytes = try Self.timeSignal.encoded()
        let right = bytes.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        bytes.replaceSubrange(bytes.count - 4..<bytes.count, with: [0, 0, 0, 0])
        #expect(sectionError(bytes)?.reason == .wrongChecksum(stated: 0, computed: right))
        // The fields can be shown all the same.
        let explanation = SpliceSectionExplanation(bytes: bytes)
        #expect(explanation.section == Self.timeSignal)
        #expect(explanation.error == sectionError(bytes))
    }

    @Test(
        arguments: [
            (
                [0x02, 0x03, 0, 0, 0],
                "Byte 22, descriptor_length: 3 bytes are too few for the identifier, which has 4."
            ),
            (
                [0x02, 0x09, 0x43, 0x55, 0x45, 0x49],
                "Byte 22, descriptor_length: 9 bytes do not fit: at most 4 may follow here."
            ),
            (
                [0x02],
                "Byte 22, descriptor_length: descriptor_length has 8 bits, and splice_descriptor() 1 ends after "
                    + "0 of them."
            ),
            (
                [0x00, 0x06, 0x43, 0x55, 0x45, 0x49, 1, 2],
                "Byte 27, provider_avail_id: provider_avail_id has 32 bits, and avail_descriptor() 1 ends after "
                    + "16 of them."
            ),
            (
                // Components by themselves, and none of them.
                [0x02, 0x0B, 0x43, 0x55, 0x45, 0x49, 0, 0, 0, 1, 0x7F, 0x3F, 0],
                "Byte 33, component_count: 0 components are spliced by themselves, and it must be 1 or more."
            ),
        ] as [([UInt8], String)]
    )
    func `a descriptor that ends too early or too late is refused`(descriptor: [UInt8], sentence: String) throws {
        var bytes = try Self.timeSignal.encoded()
        bytes[2] += UInt8(descriptor.count)
        bytes[20] = UInt8(descriptor.count)
        bytes.insert(contentsOf: descriptor, at: 21)
        #expect(sectionError(withChecksum(bytes))?.description == sentence)
    }

    /// The sentence of a section that cannot be written.
    private func refusal(_ change: (inout SpliceInfoSection) -> Void) -> String? {
        var section = Self.timeSignal
        change(&section)
        do throws(SpliceSectionError) {
            _ = try section.encoded()
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a value that its bits cannot hold is not written`() {
        #expect(self.refusal { $0.tier = 0x1000 } == "Byte 10, tier: 4096 does not fit into its 12 bits.")
        #expect(
            self.refusal { $0.ptsAdjustmentTicks = 1 << 33 }
                == "Byte 4, pts_adjustment: 8589934592 does not fit into its 33 bits."
        )
        #expect(
            self.refusal { $0.command = .timeSignal(ptsTicks: 1 << 33) }
                == "Byte 14, pts_time: 8589934592 does not fit into its 33 bits."
        )
        #expect(
            self.refusal {
                let dtmf = DTMFDescriptor(prerollTenths: 0, characters: Array("12345678".utf8))
                $0.descriptors = [SpliceDescriptor(.dtmf(dtmf))]
            } == "Byte 28, dtmf_count: 8 does not fit into its 3 bits."
        )
        #expect(
            self.refusal {
                $0.command = .spliceInsert(
                    SpliceInsert(eventID: 1, event: .init(isOutOfNetwork: true, splicePoint: .components([])))
                )
            } == "Byte 20, component_count: 0 components are spliced by themselves, and it must be 1 or more."
        )
        #expect(
            self.refusal {
                let identifier = SpliceDescriptor.cueIdentifier
                $0.descriptors = [SpliceDescriptor(.other(OtherDescriptor(tag: 2, identifier: identifier, bytes: [])))]
            } == "Byte 21, splice_descriptor_tag: the tag 2 of CUEI is a descriptor that is known."
        )
        #expect(
            self.refusal {
                var segment = SegmentationDescriptor.Segment(.breakEnd)
                segment.subsegment = .init(number: 1, expected: 1)
                $0.descriptors = [.segmentation(SegmentationDescriptor(eventID: 1, segment: segment))]
            } == "Byte 38, sub_segment_num: a segment “Break End” has no parts."
        )
    }

    @Test func `sections and descriptors are written up to their limits and not beyond`() throws {
        func descriptor(_ count: Int) -> SpliceDescriptor {
            SpliceDescriptor(.other(OtherDescriptor(tag: 9, identifier: 1, bytes: Array(repeating: 7, count: count))))
        }
        let longest = SpliceSectionLimits.descriptorLengthMax - 4
        #expect(self.refusal { $0.descriptors = [descriptor(longest)] } == nil)
        #expect(
            self.refusal { $0.descriptors = [descriptor(longest + 1)] }
                == "Byte 22, descriptor_length: 255 bytes are more than 254."
        )
        let descriptors = Array(repeating: descriptor(longest), count: 15)
        var section = SpliceInfoSection(command: .spliceNull, descriptors: descriptors)
        section.layout.alignmentStuffing = Array(repeating: 0, count: 4_093 - 17 - 15 * 256)
        let bytes = try section.encoded()
        #expect(bytes.count == SpliceSectionLimits.sectionBytesMax)
        #expect(try SpliceInfoSection(bytes: bytes) == section)
        section.layout.alignmentStuffing.append(0)
        #expect(throws: SpliceSectionError.self) { try section.encoded() }
        #expect(sectionError(bytes + [0])?.reason == .wrongLength)
        section.descriptors.append(descriptor(longest))
        #expect(throws: SpliceSectionError.self) { try section.encoded() }
    }

    @Test(
        arguments: [
            ("", "text: it is empty."), ("\n \t", "text: it is empty."),
            ("0xFC3", "text: 3 hexadecimal digits are no whole bytes."),
            ("0xFG", "text: character 4 is no hexadecimal digit."),
            ("/DA*", "text: character 4 is neither base64 nor XML."),
            ("/DAv/", "text: 5 characters of base64 and 0 at its end are no whole bytes."),
            ("/DAv=", "text: 4 characters of base64 and 1 at its end are no whole bytes."),
            ("<a/>", "Line 1, XML: “a” is no SpliceInfoSection, Binary or Signal of SCTE 35."),
            (
                "<SpliceInfoSection>",
                "Line 1, XML: column 20: the document ends inside “SpliceInfoSection”, which began on line 1."
            ),
            ("<SpliceInfoSection/>", "Line 1, SpliceInfoSection: it has no command."),
            (
                "<SpliceInfoSection tier='4096'><SpliceNull/></SpliceInfoSection>",
                "Line 1, tier: “4096” is no number from 0 to 4095."
            ),
            ("<SpliceInfoSection>\n<SpliceInsert/></SpliceInfoSection>", "Line 2, spliceEventId: it is missing."),
            (
                "<SpliceInfoSection><SpliceSchedule/></SpliceInfoSection>",
                "Line 1, SpliceSchedule: it is not read: its events have a wall clock time and no place in the stream."
            ),
            (
                "<Signal xmlns='http://www.scte.org/schemas/35/2016'><Binary signalType='private:a'>AA==</Binary>"
                    + "</Signal>",
                "Line 1, signalType: “private:a” is no SpliceInfoSection."
            ),
            ("<Signal>\n<Binary>/DA*</Binary></Signal>", "Line 2, Binary: “/DA*” is no base64."),
            (
                "<SpliceInfoSection xmlns='urn:other'/>",
                "Line 1, XML: “SpliceInfoSection” is no SpliceInfoSection, Binary or Signal of SCTE 35."
            ),
        ]
    )
    func `a text that is none says where`(text: String, sentence: String) {
        do throws(SpliceSectionError) {
            let section = try SpliceInfoSection(text: text)
            Issue.record("\(section)")
        } catch {
            #expect(error.description == sentence)
        }
    }

    @Test func `a text past the limit is refused`() throws {
        let base64 = try Self.timeSignal.base64()
        let space = String(repeating: " ", count: SpliceSectionLimits.textBytesMax - base64.utf8.count)
        #expect(try SpliceInfoSection(text: base64 + space) == Self.timeSignal)
        #expect(throws: SpliceSectionError.self) { try SpliceInfoSection(text: base64 + space + " ") }
    }

    @Test func `a descriptor is read up to its limit and not beyond`() throws {
        let longest = SpliceSectionLimits.descriptorLengthMax - 4
        let other = OtherDescriptor(tag: 9, identifier: 1, bytes: Array(repeating: 7, count: longest))
        var section = Self.timeSignal
        section.descriptors = [SpliceDescriptor(.other(other))]
        section.layout.alignmentStuffing = [0]
        var bytes = try section.encoded()
        #expect(bytes[22] == 254 && sectionError(bytes) == nil)
        // One byte more in the loop and in the descriptor: the stuffing.
        bytes[20] += 1
        bytes[22] += 1
        #expect(
            sectionError(withChecksum(bytes))?.description
                == "Byte 22, descriptor_length: 255 bytes do not fit: at most 254 may follow here."
        )
    }

    @Test func `XML may have xmlElementsMax elements, xmlDepthMax within each other, and no more`() throws {
        func error(_ extensions: String) -> SpliceSectionError? {
            let text = "<SpliceInfoSection><SpliceNull/>\(extensions)</SpliceInfoSection>"
            do throws(SpliceSectionError) {
                _ = try SpliceInfoSection(text: text)
                return nil
            } catch {
                return error
            }
        }
        let elements = SpliceSectionLimits.xmlElementsMax - 2
        #expect(error(String(repeating: "<Ext/>", count: elements)) == nil)
        #expect(error(String(repeating: "<Ext/>", count: elements + 1))?.reason == .tooLarge)
        func nested(_ count: Int) -> String {
            String(repeating: "<Ext>", count: count) + String(repeating: "</Ext>", count: count)
        }
        #expect(error(nested(SpliceSectionLimits.xmlDepthMax - 1)) == nil)
        #expect(error(nested(SpliceSectionLimits.xmlDepthMax))?.reason == .tooLarge)
    }

    @Test func `the page about SCTE-35 lists every limit with its value`() throws {
        let page = try Places.page("broadcasters/scte-35.md")
        let rows = [
            "sectionLengthMax": SpliceSectionLimits.sectionLengthMax,
            "sectionBytesMax": SpliceSectionLimits.sectionBytesMax,
            "descriptorLengthMax": SpliceSectionLimits.descriptorLengthMax,
            "textBytesMax": SpliceSectionLimits.textBytesMax,
            "xmlElementsMax": SpliceSectionLimits.xmlElementsMax,
            "xmlDepthMax": SpliceSectionLimits.xmlDepthMax,
        ]
        for (name, value) in rows {
            let row = "| `\(name)` | \(grouped(value)) |"
            #expect(page.contains(row), "\(row)")
        }
    }
}
