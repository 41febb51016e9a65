// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// One field of a section, with its place and its meaning.
public struct SpliceField: Hashable, Sendable {
    /// The value of a field.
    public enum Value: Hashable, Sendable {
        /// A number of at most 64 bits.
        case number(UInt64)
        /// Whole bytes.
        case bytes([UInt8])
    }

    /// The structure that the field is in, as the specification calls it; descriptors have their number behind the name.
    public let structure: String
    /// The name of the field in the specification.
    public let name: String
    /// The bits of the field, counted from the first bit of the section.
    public let bits: Range<Int>
    /// The value.
    public let value: Value
    /// The meaning where other fields decide it; `nil`: the name and the value do.
    var note: String?

    init(_ structure: String, _ name: String, _ bits: Range<Int>, _ value: Value) {
        self.structure = structure
        self.name = name
        self.bits = bits
        self.value = value
    }
}

/// Every field of a section, for people: also of one that is refused, up to the fault.
public struct SpliceSectionExplanation: Hashable, Sendable {
    /// The fields in the order of their bits.
    public let fields: [SpliceField]
    /// The section; `nil`: it is refused, unless only its checksum is wrong.
    public let section: SpliceInfoSection?
    /// The reason why the section is refused; `nil`: it is not.
    public let error: SpliceSectionError?

    /// Takes bytes apart.
    ///
    /// - Parameter bytes: the bytes of a section.
    public init(bytes: [UInt8]) {
        var decoder = SpliceSectionDecoder(bytes, isChecksumRequired: false, isRecording: true)
        do throws(SpliceSectionError) {
            self.section = try decoder.decode()
            self.error = decoder.checksumError
        } catch {
            self.section = nil
            self.error = error
        }
        self.fields = decoder.reader.fields ?? []
    }
}

/// Times of the 90 kHz clock for people.
enum TickText {
    /// Ticks as seconds, rounded to a microsecond.
    static func seconds(_ ticks: UInt64) -> String {
        let micros = ticks % 90_000 * 100 / 9 + (ticks % 90_000 * 100 % 9 >= 5 ? 1 : 0)
        let fraction = "\(micros)"
        return "\(ticks / 90_000).\(String(repeating: "0", count: 6 - fraction.count))\(fraction) s"
    }
}
