// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Foundation
import Testing

/// Sections from outside this project: the worked examples of SCTE 35 section 14, and cases of scte35-go.
@Suite(.suiteLimit, .enabled(if: Places.hasSections, "the sample sections are not here"))
struct SpliceSectionSamplesTests {
    @Test func `every field of every sample is what another reader finds`() throws {
        let cases = try SectionVectors.load()
        #expect(cases.count == 22)
        for sample in cases {
            guard let expected = sample.expected else { continue }
            let section = try SpliceInfoSection(text: sample.base64)
            let differences = expected.differences(from: section)
            #expect(differences.isEmpty, "\(sample.name): \(differences)")
            // Also of those that the other reader writes in another way.
            #expect(try section.base64() == sample.base64, "\(sample.name)")
            let hex = try #require(sample.hex)
            #expect(try section.hex() == hex, "\(sample.name)")
            #expect(try SpliceInfoSection(text: hex) == section)
            #expect(try SpliceInfoSection(text: "0x" + hex.uppercased()) == section)
            try self.checkXML(of: section, sample.name)
        }
    }

    /// The XML form gives back everything but the layout.
    private func checkXML(of section: SpliceInfoSection, _ name: String) throws {
        var canonical = section
        canonical.layout = SpliceSectionLayout()
        #expect(try SpliceInfoSection(text: try section.xml()) == canonical, "\(name)")
    }

    @Test func `each sample that is refused is refused with its place`() throws {
        let refused = try SectionVectors.load().filter { $0.expected == nil }
        let sentences = refused.map { sample in
            do throws(SpliceSectionError) {
                return "\(try SpliceInfoSection(text: sample.base64))"
            } catch {
                return "\(sample.name): \(error)"
            }
        }
        #expect(
            sentences == [
                "Empty String: text: it is empty.",
                "Invalid Base64 Encoding: text: character 6 is neither base64 nor XML.",
                "SpliceInsert Time Specified With Invalid Component Count: Byte 0, table_id: 0x16 is another table; "
                    + "a splice information section has 0xfc.",
                "Invalid CRC_32: Byte 55, CRC_32: 0xa7983b74 is not the checksum of the bytes before it, "
                    + "0xa7983b73.",
            ]
        )
    }

    @Test func `the worked examples mean what the specification says of them`() throws {
        func signals(_ name: String) throws -> [String] {
            let sample = try #require(try SectionVectors.load().first { $0.name.hasPrefix(name) })
            return try SpliceInfoSection(text: sample.base64).signals.map(\.description)
        }
        #expect(
            try signals("Sample 14.1") == [
                "“Provider Placement Opportunity Start” of event 1207959694: begins at 21388.766756 s of the stream's clock, "
                    + "lasts 307.000000 s"
            ]
        )
        #expect(
            try signals("Sample 14.2") == [
                "break of event 1207959695: begins at 21514.559089 s of the stream's clock, lasts 60.293567 s, "
                    + "ends by itself"
            ]
        )
        #expect(
            try signals("Sample 14.3") == [
                "“Provider Placement Opportunity End” of event 1207959694: ends at 21695.740089 s of the stream's clock"
            ]
        )
    }
}
