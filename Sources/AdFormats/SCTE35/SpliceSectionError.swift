// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The reason why a splice information section is refused, with its place.
///
/// The description names the byte and the field: "Byte 13, splice_command_type: …".
public struct SpliceSectionError: Error, Hashable, Sendable {
    /// The kind of a refusal.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The bytes are no splice information section of a known version.
        case notASection
        /// The section, or a structure in it, ends inside a field.
        case truncated
        /// A length does not fit what it counts.
        case wrongLength
        /// `CRC_32` is not the checksum of the bytes.
        case wrongChecksum(stated: UInt32, computed: UInt32)
        /// The section is encrypted.
        case encrypted
        /// The section has a command that is not read.
        case unsupportedCommand(UInt8)
        /// A field has a value that the specification forbids, or that its bits cannot hold.
        case invalidValue
        /// The input is larger than a limit of ``SpliceSectionLimits``.
        case tooLarge
        /// The text is no base64, no hexadecimal digits, and no XML form of a section.
        case unreadableText
    }

    /// The kind of the refusal.
    public let reason: Reason
    /// The name of the field, as the specification or the XML schema has it.
    public let field: String
    /// The byte where the field begins, counted from 0 at `table_id`; `nil` for text.
    public let byte: Int?
    /// The line of an XML text, counted from 1; `nil` for other input.
    public let line: Int?
    /// The fault, without the place.
    public let detail: String

    init(_ reason: Reason, _ field: String, byte: Int? = nil, line: Int? = nil, _ detail: String) {
        self.reason = reason
        self.field = field
        self.byte = byte
        self.line = line
        self.detail = detail
    }
}

extension SpliceSectionError {
    /// There are none of the components that are spliced by themselves.
    static func noComponents(byte: Int) -> SpliceSectionError {
        let detail = "0 components are spliced by themselves, and it must be 1 or more"
        return SpliceSectionError(.invalidValue, "component_count", byte: byte, detail)
    }

    /// A private command without a length.
    static var privateCommandWithoutLength: SpliceSectionError {
        let detail = "a private_command() has no length of its own, and splice_command_length is 0xfff"
        return SpliceSectionError(.wrongLength, "splice_command_length", byte: 11, detail)
    }

    /// A section that is longer than sections may be.
    static func sectionTooLong(_ length: Int) -> SpliceSectionError {
        let detail = "\(length) is more than \(SpliceSectionLimits.sectionLengthMax)"
        return SpliceSectionError(.tooLarge, "section_length", byte: 1, detail)
    }
}

extension SpliceSectionError: LocalizedError, CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        let place = self.byte.map { "Byte \($0), " } ?? self.line.map { "Line \($0), " } ?? ""
        return "\(place)\(self.field): \(self.detail)."
    }

    /// The same.
    public var errorDescription: String? { self.description }
}
