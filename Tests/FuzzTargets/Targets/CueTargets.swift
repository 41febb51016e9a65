// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport

extension FuzzTarget {
    /// A cue of SCTE-35: the bytes of a section, and the input as a text of one.
    static let spliceSection = FuzzTarget(
        name: "splice-section",
        sample: { generator in
            let section = generator.oddSection()
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: return Array(((try? section.base64()) ?? "").utf8)
            case 1: return Array(((try? section.xml()) ?? "").utf8)
            default: return (try? section.encoded()) ?? []
            }
        },
        change: { input, generator in
            var bytes = input
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
            case 1: bytes += generator.bytes(0...8)
            default:
                guard !bytes.isEmpty else { break }
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                let turned = bytes[place] ^ 1 << UInt8.random(in: 0...7, using: &generator)
                bytes[place] = generator.bool() ? turned : generator.number(0...255)
            }
            return bytes
        },
        fault: { input in
            firstBroken { () throws(Broken) in
                try checkSection(input)
                // Past the checksum, and with the length that there is.
                if input.count >= 20, input.count <= SpliceSectionLimits.sectionBytesMax {
                    let length = input.count - 3
                    let start = [0xFC, 0x30 | UInt8(length >> 8), UInt8(length & 0xFF), 0, input[4] & 0x7F]
                    try checkSection(withChecksum(start + input.dropFirst(5)))
                }
                try checkText(String(decoding: input, as: UTF8.self))
            }
        }
    )
}

/// Insists on what holds of the bytes of a section, or of any other bytes.
private func checkSection(_ bytes: [UInt8]) throws(Broken) {
    switch readSection(bytes) {
    case .success(let section):
        try insist((try? section.encoded()) == bytes, "it is not written as it was read")
        try checkXML(of: section)
    case .failure(let error):
        try insist(error.byte.map { (0...bytes.count).contains($0) } ?? false, "\(error) is at no byte")
    }
    var end = 0
    for field in SpliceSectionExplanation(bytes: bytes).fields {
        try insist(field.bits.lowerBound == end && !field.bits.isEmpty, "\(field.name) is not where the last one ends")
        end = field.bits.upperBound
    }
    try insist(end <= bytes.count * 8, "there are more fields than bits")
}

/// Insists that the XML form gives back what it can hold.
private func checkXML(of section: SpliceInfoSection) throws(Broken) {
    var section = section
    section.layout = SpliceSectionLayout()
    section.encryptionAlgorithm = 0
    for index in section.descriptors.indices {
        section.descriptors[index].extraBytes = []
        switch section.descriptors[index].content {
        // Their characters are ASCII where a sender follows the specification.
        case .dtmf, .audio: return
        default: break
        }
    }
    guard let xml = try? section.xml() else { return }
    let again = try? SpliceInfoSection(text: xml)
    try insist(again == section, "as XML it is \(again.map { "\($0)" } ?? "refused"), and it was \(section): \(xml)")
}

/// Insists that a text and the bytes that it means are the same section.
private func checkText(_ text: String) throws(Broken) {
    guard let section = try? SpliceInfoSection(text: text) else { return }
    let bytes = try? section.encoded()
    try insist(bytes.map(readSection) == .success(section), "the text and its bytes are different sections")
}
