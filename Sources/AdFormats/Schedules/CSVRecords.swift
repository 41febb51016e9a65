// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Rows of comma-separated values (RFC 4180), with `,`, `;` or a tab between fields.
struct CSVRecords {
    struct Record {
        /// The line on which it begins, counted from 1.
        let line: Int
        let fields: [String]
    }

    private let bytes: [UInt8]
    private let delimiter: UInt8
    private var position: Int
    private var line = 1

    /// The rows of a document that have something in them.
    ///
    /// - Parameters:
    ///   - document: its bytes, in UTF-8, with or without a byte order mark.
    ///   - delimiter: the byte between fields; `nil`: the one of `,`, `;` and tab the first row has most of.
    /// - Returns: the rows, in order.
    /// - Throws: where quotation marks are not as they must be, the bytes are no UTF-8, or a limit is passed; it names the line.
    static func read(_ document: [UInt8], delimiter: UInt8?) throws(ScheduleFault) -> [Record] {
        guard document.count <= ScheduleLimits.scheduleBytesMax else {
            throw ScheduleFault(limit: "scheduleBytesMax", ScheduleLimits.scheduleBytesMax)
        }
        let start = document.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var reader = CSVRecords(
            bytes: document,
            delimiter: delimiter ?? Self.delimiter(of: document[start...]),
            position: start
        )
        var records: [Record] = []
        while reader.position < document.count {
            let line = reader.line
            let fields = try reader.record()
            guard fields.count > 1 || !(fields.first?.trimmed.isEmpty ?? true) else { continue }
            guard records.count <= ScheduleLimits.scheduleRowsMax else {
                throw ScheduleFault(limit: "scheduleRowsMax", ScheduleLimits.scheduleRowsMax, line: line)
            }
            records.append(Record(line: line, fields: fields))
        }
        return records
    }

    private static func delimiter(of document: ArraySlice<UInt8>) -> UInt8 {
        var counts: [UInt8: Int] = [:]
        var isQuoted = false
        for byte in document {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard !isQuoted else { continue }
            if byte == 0x0A { break }
            counts[byte, default: 0] += 1
        }
        let known = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09]
        return known.max { (counts[$0] ?? 0, $1) < (counts[$1] ?? 0, $0) } ?? UInt8(ascii: ",")
    }

    private mutating func record() throws(ScheduleFault) -> [String] {
        var fields: [String] = []
        while true {
            let field = try self.field()
            guard fields.count < ScheduleLimits.scheduleFieldsMax else {
                throw ScheduleFault(limit: "scheduleFieldsMax", ScheduleLimits.scheduleFieldsMax, line: self.line)
            }
            fields.append(field)
            guard self.position < self.bytes.count else { return fields }
            let end = self.bytes[self.position]
            self.position += 1
            if end == self.delimiter {
                // A delimiter at the very end has an empty field behind it.
                guard self.position == self.bytes.count else { continue }
                guard fields.count < ScheduleLimits.scheduleFieldsMax else {
                    throw ScheduleFault(limit: "scheduleFieldsMax", ScheduleLimits.scheduleFieldsMax, line: self.line)
                }
                return fields + [""]
            }
            if end == 0x0D {
                guard self.position < self.bytes.count, self.bytes[self.position] == 0x0A else {
                    throw ScheduleFault("a carriage return without a line feed", line: self.line)
                }
                self.position += 1
            }
            self.line += 1
            return fields
        }
    }

    /// One field; the position is behind it, at what ends it.
    private mutating func field() throws(ScheduleFault) -> String {
        let begin = self.line
        var content: [UInt8] = []
        if self.position < self.bytes.count, self.bytes[self.position] == UInt8(ascii: "\"") {
            self.position += 1
            while true {
                guard self.position < self.bytes.count else {
                    throw ScheduleFault("a field in quotation marks that does not end", line: begin)
                }
                let byte = self.bytes[self.position]
                self.position += 1
                if byte == UInt8(ascii: "\"") {
                    guard self.position < self.bytes.count, self.bytes[self.position] == byte else { break }
                    self.position += 1
                }
                if byte == 0x0A { self.line += 1 }
                content.append(byte)
            }
            guard self.position == self.bytes.count || self.endsField(self.bytes[self.position]) else {
                throw ScheduleFault("text behind a field in quotation marks", line: self.line)
            }
        } else {
            while self.position < self.bytes.count, !self.endsField(self.bytes[self.position]) {
                guard self.bytes[self.position] != UInt8(ascii: "\"") else {
                    throw ScheduleFault("a quotation mark in a field without quotation marks around it", line: begin)
                }
                content.append(self.bytes[self.position])
                self.position += 1
            }
        }
        guard content.count <= ScheduleLimits.scheduleFieldBytesMax else {
            throw ScheduleFault(limit: "scheduleFieldBytesMax", ScheduleLimits.scheduleFieldBytesMax, line: begin)
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw ScheduleFault("the bytes are not UTF-8; convert the file first", line: begin)
        }
        return text
    }

    private func endsField(_ byte: UInt8) -> Bool { byte == self.delimiter || byte == 0x0A || byte == 0x0D }
}
