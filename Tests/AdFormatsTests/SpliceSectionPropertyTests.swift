// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport
import Testing

/// What holds for every section, and for every sequence of bytes.
@Suite(.suiteLimit)
struct SpliceSectionPropertyTests {
    @Test func `what is written is read as the same, and the other way round`() async throws {
        var random = SeededGenerator(for: "sections")
        for _ in 0..<1_500 {
            await Task.yield()
            let section = random.oddSection()
            let bytes = try section.encoded()
            let again = try SpliceInfoSection(bytes: bytes)
            try #require(again == section, "CUECAST_SEED=\(SeededGenerator.seed)")
            try #require(try again.encoded() == bytes, "CUECAST_SEED=\(SeededGenerator.seed)")
            #expect(SpliceSectionExplanation(bytes: bytes).section == section)
        }
    }

    @Test func `reserved bits that are 0 change no field, and are written as they were`() throws {
        var random = SeededGenerator(for: "reserved bits")
        for _ in 0..<300 {
            let section = random.oddSection()
            let bytes = try section.encoded()
            let reserved = SpliceSectionExplanation(bytes: bytes).fields.filter { $0.name == "reserved" }
            guard let bit = reserved.flatMap({ Array($0.bits) }).randomElement(using: &random) else { continue }
            var spoiled = bytes
            spoiled[bit / 8] ^= 0x80 >> UInt8(bit % 8)
            spoiled = withChecksum(spoiled)
            var read = try SpliceInfoSection(bytes: spoiled)
            #expect(read.layout.clearedReservedBits == [bit])
            #expect(try read.encoded() == spoiled)
            read.layout.clearedReservedBits = []
            #expect(read == section, "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }

    @Test func `base64, hexadecimal digits and XML give back the section`() async throws {
        var random = SeededGenerator(for: "text of sections")
        for _ in 0..<300 {
            await Task.yield()
            let section = random.section()
            let base64 = try section.base64()
            #expect(try SpliceInfoSection(text: base64) == section)
            #expect(try SpliceInfoSection(text: base64.filter { $0 != "=" }) == section)
            let urlSafe = base64.replacing("+", with: "-").replacing("/", with: "_")
            #expect(try SpliceInfoSection(text: "\n \(urlSafe)\n") == section)
            #expect(try SpliceInfoSection(text: try section.hex()) == section)
            let xml = try section.xml()
            try #require(try SpliceInfoSection(text: xml) == section, "CUECAST_SEED=\(SeededGenerator.seed) \(xml)")
            #expect(try SpliceSectionText.bytes(of: xml) == section.encoded())
        }
    }

    /// Reads bytes and checks what must hold of the result.
    private func check(_ bytes: [UInt8], _ comment: Comment) {
        switch readSection(bytes) {
        case .success(let section):
            #expect((try? section.encoded()) == bytes, comment)
            for signal in section.signals { #expect(!signal.description.isEmpty, comment) }
        case .failure(let error):
            #expect(!error.field.isEmpty && !error.detail.isEmpty, comment)
            #expect(error.byte.map { (0...bytes.count).contains($0) } ?? false, "\(comment) \(error)")
        }
        let explanation = SpliceSectionExplanation(bytes: bytes)
        var end = 0
        var isGapless = true
        for field in explanation.fields {
            isGapless = isGapless && field.bits.lowerBound == end && !field.bits.isEmpty
            end = field.bits.upperBound
        }
        #expect(isGapless, comment)
        #expect(end <= bytes.count * 8, comment)
        if explanation.section != nil { #expect(end == bytes.count * 8, comment) }
    }

    @Test func `a section that is cut anywhere is refused`() async throws {
        var random = SeededGenerator(for: "cut sections")
        for _ in 0..<30 {
            await Task.yield()
            let bytes = try random.oddSection().encoded()
            for count in 0..<bytes.count {
                let cut = Array(bytes.prefix(count))
                #expect(sectionError(cut)?.byte != nil)
                self.check(cut, "CUECAST_SEED=\(SeededGenerator.seed)")
            }
            #expect(sectionError(bytes + [0])?.reason == .wrongLength)
        }
    }

    @Test func `the checksum notices a bit that is turned, and without it the section holds together`() async throws {
        var random = SeededGenerator(for: "turned bits")
        for _ in 0..<8 {
            await Task.yield()
            let bytes = try random.oddSection().encoded()
            for bit in 0..<bytes.count * 8 {
                var spoiled = bytes
                spoiled[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                #expect(sectionError(spoiled) != nil)
                self.check(withChecksum(spoiled), "CUECAST_SEED=\(SeededGenerator.seed) bit \(bit)")
            }
        }
    }

    @Test func `random bytes never trap`() async {
        var random = SeededGenerator(for: "bytes of sections")
        for _ in 0..<1_000 {
            await Task.yield()
            var bytes = random.bytes(0...80)
            self.check(bytes, "CUECAST_SEED=\(SeededGenerator.seed)")
            guard bytes.count >= 17 else { continue }
            bytes.replaceSubrange(0..<5, with: [0xFC, 0x30, UInt8(bytes.count - 3), 0, bytes[4] & 0x7F])
            self.check(withChecksum(bytes), "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }

    @Test func `spoiled XML never traps`() async throws {
        var random = SeededGenerator(for: "spoiled XML of sections")
        var documents: [[UInt8]] = []
        for _ in 0..<20 { documents.append(Array(try random.section().xml().utf8)) }
        var read = 0
        for document in documents {
            for _ in 0..<30 {
                await Task.yield()
                let spoiled = Mutation.spoiled(document, with: documents, using: &random)
                do throws(SpliceSectionError) {
                    let section = try SpliceInfoSection(text: String(decoding: spoiled, as: UTF8.self))
                    read += 1
                    #expect(readSection(try section.encoded()) == .success(section))
                } catch {
                    #expect(!error.description.isEmpty)
                }
            }
        }
        #expect(read > 0, "CUECAST_SEED=\(SeededGenerator.seed)")
    }
}
