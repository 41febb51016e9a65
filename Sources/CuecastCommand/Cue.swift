// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import CommandSupport
import LiveTerminal

struct Cue: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send the signals of an SCTE-35 cue, or look into one.",
        discussion: """
            Without a subcommand the signals are sent (cuecast cue send).

            Example: cuecast cue explain /DARAAAAAAAAAP/wAAAAAHpPv/8=
            """,
        subcommands: [SendCue.self, ExplainCue.self],
        defaultSubcommand: SendCue.self
    )
}

struct ExplainCue: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show every field of an SCTE-35 cue, and what the cue means for breaks.",
        discussion: """
            The cue is base64, hexadecimal digits, XML, or the bytes of a splice information section. A cue that is refused is \
            shown up to the field that is wrong. No gateway is asked, and nothing is sent.

            Exit codes: 0 the cue can be read, 65 it is refused, or there is no such file.

            Example: cuecast cue explain /DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=
            """
    )

    @Argument(help: "The cue: base64, hexadecimal digits, a file with one of the forms, or - for standard input.")
    var cue: String

    @Flag(help: "Read one cue from each line, as text.") var lines = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let input = try CueInput.bytes(of: self.cue)
        guard self.lines else {
            let explained = ExplainedCue(input)
            if self.output.isJSON {
                try CommandOutput.say(json: explained.document, isPretty: true)
            } else {
                explained.print()
            }
            guard let sentence = explained.refusal else { return }
            let isUnknown = CueInput.isText(self.cue) && explained.isUnreadableText
            throw CueInput.refused(isUnknown ? "there is no file with this name, and as a cue, \(sentence)" : sentence)
        }
        var refused = 0
        for line in input.split(separator: UInt8(ascii: "\n")) where !CommandOutput.isOver {
            let explained = ExplainedCue(Array(line))
            if self.output.isJSON { try CommandOutput.say(json: explained.document) } else { explained.print() }
            if explained.refusal != nil { refused += 1 }
        }
        if refused > 0 { throw CueInput.refused("cues that are refused: \(refused)") }
    }
}

/// A cue with everything that there is to say about it.
private struct ExplainedCue {
    /// The bytes of the section; `nil`: the input is no text of one.
    private let bytes: [UInt8]?
    private let explanation: SpliceSectionExplanation?
    /// Why the cue is refused; `nil`: it is not.
    let refusal: String?

    init(_ input: [UInt8]) {
        do throws(SpliceSectionError) {
            let bytes = try CueInput.section(of: input)
            let explanation = SpliceSectionExplanation(bytes: bytes)
            self.bytes = bytes
            self.explanation = explanation
            self.refusal = explanation.error?.description
        } catch {
            self.bytes = nil
            self.explanation = nil
            self.refusal = error.description
        }
    }

    /// Whether the input is no text of a section at all.
    var isUnreadableText: Bool { self.bytes == nil }

    /// The section that can be used; `nil`: it is refused.
    private var section: SpliceInfoSection? { self.refusal == nil ? self.explanation?.section : nil }

    // MARK: For people

    func print() {
        guard let explanation = self.explanation else { return }
        var table = TextTable(["byte", "bits", "field", "value", "meaning"])
        var structure = ""
        for field in explanation.fields {
            if field.structure != structure {
                structure = field.structure
                table.add(["", "", structure, "", ""])
            }
            table.add([
                "\(field.bits.lowerBound / 8)", "\(field.bits.count)", "  " + field.name, Self.text(field),
                field.meaning,
            ])
        }
        CommandOutput.say(table.text)
        guard let section = self.section else { return }
        CommandOutput.say("")
        for signal in section.signals { CommandOutput.say("It means: \(signal)") }
        if section.signals.isEmpty { CommandOutput.say("It means nothing for breaks.") }
    }

    /// The most bytes of a field that fit into a table.
    private static let shownBytesMax = 32

    /// A value with its digits: numbers of several bytes also hexadecimal.
    private static func text(_ field: SpliceField) -> String {
        switch field.value {
        case .bytes(let bytes) where bytes.count > Self.shownBytesMax:
            "\(Self.hex(bytes.prefix(Self.shownBytesMax)))… (\(bytes.count) bytes)"
        case .bytes(let bytes): Self.hex(bytes[...])
        case .number(let value) where field.bits.count >= 8:
            "\(value) (0x\(Self.hex(value, (field.bits.count + 3) / 4)))"
        case .number(let value): "\(value)"
        }
    }

    private static func hex(_ bytes: ArraySlice<UInt8>) -> String { bytes.map { Self.hex(UInt64($0), 2) }.joined() }

    private static func hex(_ value: UInt64, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    // MARK: For programs

    /// The output for programs.
    struct Document: Encodable {
        struct Field: Encodable {
            let structure: String
            let name: String
            let firstBit: Int
            let bits: Int
            /// A number; absent: the field is bytes.
            let value: UInt64?
            /// Bytes as hexadecimal digits; absent: the field is a number.
            let bytes: String?
            let meaning: String
        }

        struct Signal: Encodable {
            let kind: String
            let eventId: UInt32
            /// With pts_adjustment, in ticks of the 90 kHz clock; absent: at once.
            let ptsTicks: UInt64?
            let durationTicks: UInt64?
            let autoReturn: Bool
            let level: String?
            let segmentationTypeId: UInt8?
            let sentence: String
        }

        let readable: Bool
        /// The reason; absent: the cue is readable.
        let error: String?
        let base64: String?
        let hex: String?
        let xml: String?
        let fields: [Field]
        let signals: [Signal]
    }

    var document: Document {
        Document(
            readable: self.refusal == nil,
            error: self.refusal,
            base64: try? self.section?.base64(),
            hex: self.bytes.map { Self.hex($0[...]) },
            xml: try? self.section?.xml(),
            fields: self.explanation?.fields.map(Self.document) ?? [],
            signals: self.section?.signals.map(Self.document) ?? []
        )
    }

    private static func document(_ field: SpliceField) -> Document.Field {
        var (number, bytes): (UInt64?, String?)
        switch field.value {
        case .number(let value): number = value
        case .bytes(let value): bytes = Self.hex(value[...])
        }
        return Document.Field(
            structure: field.structure,
            name: field.name,
            firstBit: field.bits.lowerBound,
            bits: field.bits.count,
            value: number,
            bytes: bytes,
            meaning: field.meaning
        )
    }

    private static func document(_ signal: CueSignal) -> Document.Signal {
        var ticks: UInt64?
        if case .at(let time) = signal.start { ticks = time }
        return Document.Signal(
            kind: signal.kind.rawValue,
            eventId: signal.eventID,
            ptsTicks: ticks,
            durationTicks: signal.durationTicks,
            autoReturn: signal.autoReturn,
            level: signal.level.map { "\($0)" },
            segmentationTypeId: signal.segmentationType?.rawValue,
            sentence: signal.description
        )
    }
}
