// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Logging

/// How lines of the log are written.
package enum LogFormat: String, CaseIterable, Sendable {
    /// For people.
    case text
    /// One JSON object (RFC 8259) a line, for programs.
    case json
}

/// One line of the log, before it is bytes.
///
/// Whatever it holds, it becomes exactly one line of at most `LogLimits.lineBytesMax` bytes, and without characters that
/// a terminal or a reader of lines would obey: those are written as `\u0000`. What is too long is cut, and says so.
package struct LogLine: Sendable {
    package var time: Timestamp
    package var level: Logger.Level
    /// Which part of the program speaks.
    package var label: String
    package var message: String
    package var metadata: Logger.Metadata

    /// The mark at the end of a text that was cut.
    package static let cutMark = "… (cut)"
    /// The field that says how many fields did not fit.
    package static let leftOutName = "fieldsLeftOut"
    /// The fields that every line has, and the one that says what it has not.
    package static let ownNames = ["time", "level", "label", "message", leftOutName]

    package init(
        time: Timestamp,
        level: Logger.Level,
        label: String,
        message: String,
        metadata: Logger.Metadata = [:]
    ) {
        self.time = time
        self.level = level
        self.label = label
        self.message = message
        self.metadata = metadata
    }

    /// The bytes, with the end of the line.
    ///
    /// - Parameters:
    ///   - format: how.
    ///   - isForJournal: whether the system's journal reads it: then the line begins with its priority
    ///     (`man 3 sd-daemon`), and a line for people does not repeat the time, which the journal keeps.
    /// - Returns: one line.
    package func bytes(_ format: LogFormat, isForJournal: Bool = false) -> [UInt8] {
        var line = LineWriter()
        if isForJournal { line.put("<\(self.level.journalPriority)>") }
        switch format {
        case .json: self.writeJSON(to: &line)
        case .text: self.writeText(to: &line, showsTime: !isForJournal)
        }
        line.put("\n")
        return line.bytes
    }

    private func writeJSON(to line: inout LineWriter) {
        line.put("{\"time\":\"\(self.time)\",\"level\":\"\(self.level.rawValue)\",\"label\":")
        line.putQuoted(self.label, bytesMax: LogLimits.nameBytesMax)
        line.put(",\"message\":")
        line.putQuoted(self.message, bytesMax: LogLimits.messageBytesMax)
        let leftOut = self.writeFields(to: &line, endBytes: 2) { name, value, field in
            field.put(",")
            field.putQuoted(name, bytesMax: LogLimits.nameBytesMax)
            field.put(":")
            field.putValue(value)
        }
        if leftOut > 0 { line.put(",\"\(Self.leftOutName)\":\(leftOut)") }
        line.put("}")
    }

    private func writeText(to line: inout LineWriter, showsTime: Bool) {
        if showsTime { line.put("\(self.time) ") }
        line.put("\(self.level.rawValue) ")
        line.putEscaped(self.label, bytesMax: LogLimits.nameBytesMax)
        line.put(": ")
        line.putEscaped(self.message, bytesMax: LogLimits.messageBytesMax)
        let leftOut = self.writeFields(to: &line, endBytes: 1) { name, value, field in
            field.put(" ")
            field.putEscaped(name, bytesMax: LogLimits.nameBytesMax)
            field.put("=")
            if let word = value.word { field.put(word) } else { field.putValue(value) }
        }
        if leftOut > 0 { line.put(" \(Self.leftOutName)=\(leftOut)") }
    }

    /// Writes the fields that fit, in the order of their names.
    ///
    /// - Returns: how many did not.
    private func writeFields(
        to line: inout LineWriter,
        endBytes: Int,
        _ write: (String, Logger.MetadataValue, inout LineWriter) -> Void
    ) -> Int {
        // Room for what says how many did not fit.
        let room = LogLimits.lineBytesMax - endBytes - Self.leftOutName.utf8.count - 26
        var names = Set(Self.ownNames)
        var leftOut = 0
        for (key, value) in self.metadata.sorted(by: { $0.key < $1.key }) {
            var name = LineWriter.cut(key, bytesMax: LogLimits.nameBytesMax)
            // Makes the name unique. The number of tries is limited, because names may collide on purpose.
            for _ in 0..<8 where names.contains(name) { name += "_" }
            guard names.insert(name).inserted else {
                leftOut += 1
                continue
            }
            var field = LineWriter()
            write(name, value, &field)
            if line.bytes.count + field.bytes.count <= room {
                line.bytes += field.bytes
            } else {
                leftOut += 1
            }
        }
        return leftOut
    }
}

extension Logger.Level {
    /// The priority of the system's log (`man 3 syslog`).
    package var journalPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

extension Logger.MetadataValue {
    /// A value that needs no quotes in a line for people.
    fileprivate var word: String? {
        let text: String
        switch self {
        case .string(let string): text = string
        case .stringConvertible(let value): text = value.description
        case .array, .dictionary: return nil
        }
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isWordByte }) else { return nil }
        return text
    }
}

extension UInt8 {
    /// Visible ASCII but for quotes, `=`, `\` and brackets.
    fileprivate var isWordByte: Bool {
        (0x21...0x7E).contains(self) && !"\"'=\\{}[]".utf8.contains(self)
    }
}

/// Puts together the bytes of one line.
private struct LineWriter {
    var bytes: [UInt8] = []

    mutating func put(_ text: String) {
        self.bytes += text.utf8
    }

    mutating func putQuoted(_ text: String, bytesMax: Int) {
        self.put("\"")
        self.putEscaped(text, bytesMax: bytesMax, isQuoted: true)
        self.put("\"")
    }

    /// Writes as much of a text as fits; where not all does, it ends with the mark.
    mutating func putEscaped(_ text: String, bytesMax: Int, isQuoted: Bool = false) {
        let begin = self.bytes.count
        for scalar in text.unicodeScalars {
            let before = self.bytes.count
            self.putEscaped(scalar, isQuoted: isQuoted)
            if self.bytes.count - begin > bytesMax {
                self.bytes.removeSubrange(before...)
                return self.put(LogLine.cutMark)
            }
        }
    }

    private mutating func putEscaped(_ scalar: Unicode.Scalar, isQuoted: Bool) {
        switch scalar {
        case "\"" where isQuoted: self.put("\\\"")
        case "\\" where isQuoted: self.put("\\\\")
        case "\n": self.put("\\n")
        case "\r": self.put("\\r")
        case "\t": self.put("\\t")
        case _ where scalar.isObeyed:
            self.put("\\u")
            for shift in [12, 8, 4, 0] as [UInt32] { self.bytes.append(Self.digits[Int(scalar.value >> shift & 0xF)]) }
        default: self.bytes += scalar.utf8
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Writes a value as JSON.
    mutating func putValue(_ value: Logger.MetadataValue) {
        var room = LogLimits.valueBytesMax
        self.putValue(value, room: &room, depth: 0)
    }

    private mutating func putValue(_ value: Logger.MetadataValue, room: inout Int, depth: Int) {
        let begin = self.bytes.count
        switch value {
        case .string(let text): self.putQuoted(text, bytesMax: max(0, room))
        case .stringConvertible(let value): self.putQuoted(value.description, bytesMax: max(0, room))
        case .array where depth == LogLimits.depthMax, .dictionary where depth == LogLimits.depthMax:
            self.putQuoted(LogLine.cutMark, bytesMax: 64)
        case .array(let values):
            self.put("[")
            room -= 2
            var count = 0
            for each in values where count < LogLimits.elementsMax && room > 0 {
                if count > 0 { self.put(",") }
                self.putValue(each, room: &room, depth: depth + 1)
                count += 1
            }
            if count < values.count { self.put(count > 0 ? ",\"\(LogLine.cutMark)\"" : "\"\(LogLine.cutMark)\"") }
            return self.put("]")
        case .dictionary(let values):
            self.put("{")
            room -= 2
            var names: Set<String> = []
            for (key, each) in values.sorted(by: { $0.key < $1.key }) {
                guard names.count < LogLimits.elementsMax, room > 0 else { break }
                let name = Self.cut(key, bytesMax: LogLimits.nameBytesMax)
                guard names.insert(name).inserted else { continue }
                if names.count > 1 { self.put(",") }
                let begin = self.bytes.count
                self.putQuoted(name, bytesMax: LogLimits.nameBytesMax)
                self.put(":")
                room -= self.bytes.count - begin
                self.putValue(each, room: &room, depth: depth + 1)
            }
            if names.count < values.count {
                let mark = names.contains(LogLine.leftOutName) ? LogLine.leftOutName + "_" : LogLine.leftOutName
                self.put("\(names.isEmpty ? "" : ",")\"\(mark)\":\(values.count - names.count)")
            }
            return self.put("}")
        }
        room -= self.bytes.count - begin
    }

    /// A name that is not longer than it may be when it is written.
    static func cut(_ name: String, bytesMax: Int) -> String {
        var text = ""
        var writer = LineWriter()
        for scalar in name.unicodeScalars {
            writer.putEscaped(scalar, isQuoted: true)
            // The mark, and what makes it another name than one that is there already.
            guard writer.bytes.count <= bytesMax - 24 else { return text + LogLine.cutMark }
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}

extension Unicode.Scalar {
    /// Whether a terminal or a reader of lines obeys the character instead of showing it: control characters, ends of
    /// lines and paragraphs (Unicode 15, section 23.1 and table 5-1), and characters that turn the direction of what follows
    /// (Unicode Technical Report 36, section 2.11).
    fileprivate var isObeyed: Bool {
        switch self.value {
        case ..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
