// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import Logging
import Synchronization
import TestSupport
import Testing

/// Lines of the log: whatever they hold, they are one line, bounded, and can be read back.
@Suite(.suiteLimit)
struct LogLineTests {
    private let time = Timestamp(microseconds: 1_795_305_600_000_001)

    private func line(_ message: String, _ metadata: Logger.Metadata = [:], level: Logger.Level = .info) -> LogLine {
        LogLine(time: self.time, level: level, label: "cuecast", message: message, metadata: metadata)
    }

    private func text(_ line: LogLine, _ format: LogFormat, isForJournal: Bool = false) -> String {
        String(decoding: line.bytes(format, isForJournal: isForJournal), as: UTF8.self)
    }

    /// The one JSON object of a line.
    private func object(_ line: LogLine) throws -> [String: Any] {
        let bytes = line.bytes(.json)
        #expect(bytes.last == UInt8(ascii: "\n"))
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    @Test func `a line for people has time, level, label, message and fields`() {
        let line = self.line("a break was changed", ["stream": "radio1", "sentence": "It's \"so\".", "count": "\(7)"])
        let rest = #"info cuecast: a break was changed count=7 sentence="It's \"so\"." stream=radio1"# + "\n"
        #expect(self.text(line, .text) == "2026-11-22T00:00:00.000001Z " + rest)
        #expect(self.text(line, .text, isForJournal: true) == "<6>" + rest)
    }

    @Test func `a line for programs is one object with every field`() {
        let line = self.line(
            "it\tis \"so\"",
            ["a": "x", "list": ["1", ["b": "2"]], "table": ["k": "v", "l": ["m"]], "none": [], "empty": ""]
        )
        let json =
            #"{"time":"2026-11-22T00:00:00.000001Z","level":"info","label":"cuecast","message":"it\tis \"so\"","#
            + #""a":"x","empty":"","list":["1",{"b":"2"}],"none":[],"table":{"k":"v","l":["m"]}}"# + "\n"
        #expect(self.text(line, .json) == json)
        #expect(self.text(line, .json, isForJournal: true) == "<6>" + json)
    }

    @Test func `the journal gets the priorities of syslog`() {
        let priorities = Logger.Level.allCases.map {
            self.text(self.line("x", level: $0), .text, isForJournal: true).prefix(3)
        }
        #expect(priorities == ["<7>", "<7>", "<6>", "<5>", "<4>", "<3>", "<2>"])
    }

    @Test(arguments: LogFormat.allCases)
    func `characters that a terminal or a reader of lines obeys are written as numbers`(format: LogFormat) {
        let nasty = "a\nb\r\u{0}\u{1B}[31m\u{7F}\u{85}\u{9B}\u{2028}\u{2029}\u{202E}\u{2066}z"
        let text = self.text(self.line(nasty, ["k\n": "\(nasty)"]), format)
        #expect(
            text.unicodeScalars
                .filter { CharacterSet.controlCharacters.contains($0) || CharacterSet.newlines.contains($0) }.count == 1
        )
        #expect(text.contains(#"a\nb\r\u0000\u001b[31m\u007f\u0085\u009b\u2028\u2029\u202e\u2066z"#))
    }

    @Test func `bytes that are no UTF-8 are read back as the sign for them`() throws {
        let text = String(decoding: [0x61, 0xFF, 0xC0, 0x62] as [UInt8], as: UTF8.self)
        #expect(try self.object(self.line(text))["message"] as? String == "a\u{FFFD}\u{FFFD}b")
    }

    @Test func `a message at its limit is whole, and one byte more is cut and says so`() throws {
        let fits = String(repeating: "m", count: LogLimits.messageBytesMax)
        #expect(try self.object(self.line(fits))["message"] as? String == fits)
        #expect(try self.object(self.line(fits + "m"))["message"] as? String == fits + LogLine.cutMark)
        // A character is never cut in two.
        let wide = String(repeating: "m", count: LogLimits.messageBytesMax - 1)
        #expect(try self.object(self.line(wide + "é"))["message"] as? String == wide + LogLine.cutMark)
        // Counted as it is written.
        let quotes = String(repeating: "\"", count: LogLimits.messageBytesMax / 2)
        #expect(try self.object(self.line(quotes))["message"] as? String == quotes)
        #expect(try self.object(self.line(quotes + "\""))["message"] as? String == quotes + LogLine.cutMark)
    }

    @Test func `a value at its limit is whole, and one byte more is cut and says so`() throws {
        let fits = String(repeating: "v", count: LogLimits.valueBytesMax)
        #expect(try self.object(self.line("x", ["k": "\(fits)"]))["k"] as? String == fits)
        #expect(try self.object(self.line("x", ["k": "\(fits)v"]))["k"] as? String == fits + LogLine.cutMark)
    }

    @Test func `fields that do not fit are left out, and the line says how many`() throws {
        let value = Logger.MetadataValue.string(String(repeating: "v", count: LogLimits.valueBytesMax))
        let metadata = Dictionary(uniqueKeysWithValues: (10..<30).map { ("k\($0)", value) })
        let line = self.line("x", metadata)
        let object = try self.object(line)
        let kept = object.keys.filter { $0.hasPrefix("k") }.count
        #expect(kept == LogLimits.lineBytesMax / (LogLimits.valueBytesMax + 8))
        #expect(object[LogLine.leftOutName] as? Int == 20 - kept)
        #expect(line.bytes(.json).count <= LogLimits.lineBytesMax)
        #expect(self.text(line, .text).hasSuffix(" \(LogLine.leftOutName)=\(20 - kept)\n"))
    }

    @Test func `lists and tables are bounded in elements and in depth`() throws {
        let many = (0...LogLimits.elementsMax).map { Logger.MetadataValue.string("\($0)") }
        let list = try #require(
            try self.object(self.line("x", ["k": .array(Array(many.dropLast()))]))["k"] as? [String]
        )
        #expect(list.count == LogLimits.elementsMax && list.last == "\(LogLimits.elementsMax - 1)")
        let cut = try #require(try self.object(self.line("x", ["k": .array(many)]))["k"] as? [String])
        #expect(cut.count == LogLimits.elementsMax + 1 && cut.last == LogLine.cutMark)
        let table = Dictionary(
            uniqueKeysWithValues: (0...LogLimits.elementsMax).map { ("\($0)", Logger.MetadataValue.string("v")) }
        )
        let keys = try #require(try self.object(self.line("x", ["k": .dictionary(table)]))["k"] as? [String: Any])
        #expect(keys[LogLine.leftOutName] as? Int == 1)

        func nested(_ depth: Int) -> Logger.MetadataValue { depth == 0 ? "end" : [nested(depth - 1)] }
        #expect(
            self.text(self.line("x", ["k": nested(LogLimits.depthMax)]), .text).hasSuffix(#"k=[[[["end"]]]]"# + "\n")
        )
        #expect(
            self.text(self.line("x", ["k": nested(LogLimits.depthMax + 1)]), .text)
                .hasSuffix(#"k=[[[["\#(LogLine.cutMark)"]]]]"# + "\n")
        )
    }

    @Test func `a field that is called as one that every line has gets another name`() throws {
        let line = self.line("message", ["message": "mine", "message_": "also", "time": "t", "fieldsLeftOut": "f"])
        let object = try self.object(line)
        #expect(object["message"] as? String == "message")
        #expect(object["time"] as? String == "2026-11-22T00:00:00.000001Z")
        #expect(
            Set(object.keys) == [
                "time", "level", "label", "message", "message_", "message__", "time_", "fieldsLeftOut_",
            ]
        )
    }
}

/// Lines that are drawn at random.
@Suite(.suiteLimit)
struct LogLinePropertyTests {
    @Test(arguments: [Fuzz.seed])
    func `random lines are one JSON object each, bounded, with all that fits`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            let line = Fuzz.line(&generator)
            for isForJournal in [false, true] {
                var bytes = line.bytes(.json, isForJournal: isForJournal)
                #expect(bytes.count <= LogLimits.lineBytesMax, "seed \(seed)")
                #expect(bytes.filter { $0 < 0x20 } == [UInt8(ascii: "\n")], "seed \(seed)")
                if isForJournal { bytes.removeFirst(3) }
                let object = try #require(
                    try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any],
                    "seed \(seed)"
                )
                let message = try #require(object["message"] as? String)
                if message != line.message {
                    #expect(message.hasSuffix(LogLine.cutMark), "seed \(seed)")
                    #expect(
                        line.message.unicodeScalars.starts(
                            with: message.unicodeScalars.dropLast(LogLine.cutMark.unicodeScalars.count)
                        )
                    )
                }
                let leftOut = object[LogLine.leftOutName] as? Int ?? 0
                #expect(object.count + leftOut == line.metadata.count + 4 + (leftOut > 0 ? 1 : 0), "seed \(seed)")
            }
            let text = line.bytes(.text)
            #expect(text.count <= LogLimits.lineBytesMax, "seed \(seed)")
            #expect(text.filter { $0 < 0x20 } == [UInt8(ascii: "\n")], "seed \(seed)")
        }
    }

    /// Lines with all possible content.
    private enum Fuzz {
        static let seed =
            ProcessInfo.processInfo.environment["CUECAST_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max)
        private static let alphabet: [Unicode.Scalar] =
            [
                "a", "b", "\"", "\\", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "\u{2028}", "\u{FFFD}", "\u{1F399}",
                "\u{202E}", "e", "\u{301}",
            ]

        static func text(_ generator: inout SeededGenerator, _ lengths: ClosedRange<Int>) -> String {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: lengths, using: &generator) {
                text.append(Self.alphabet.randomElement(using: &generator) ?? "x")
            }
            return String(text)
        }

        /// Few mostly, and sometimes more than are written.
        private static func count(_ generator: inout SeededGenerator) -> Int {
            Int.random(in: 0..<20, using: &generator) == 0 ? 70 : Int.random(in: 0...5, using: &generator)
        }

        static func value(_ generator: inout SeededGenerator, depth: Int = 0) -> Logger.MetadataValue {
            switch Int.random(in: 0..<(depth > 6 ? 2 : 8), using: &generator) {
            case 2:
                return .array(
                    (0..<Self.count(&generator))
                        .map { _ in Self.value(&generator, depth: depth + 3) }
                )
            case 3:
                var table: Logger.Metadata = [:]
                for _ in 0..<Self.count(&generator) {
                    table[Self.text(&generator, 0...4)] = Self.value(&generator, depth: depth + 3)
                }
                return .dictionary(table)
            case 1: return .stringConvertible(Int.random(in: .min ... .max, using: &generator))
            case 4: return .string(Self.text(&generator, Bool.random(using: &generator) ? 0...200 : 0...3_000))
            case 5: return .array([Self.value(&generator, depth: depth + 1)])
            default: return .string(Self.text(&generator, 0...20))
            }
        }

        static func line(_ generator: inout SeededGenerator) -> LogLine {
            var metadata: Logger.Metadata = [:]
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                let name = Bool.random(using: &generator) ? LogLine.ownNames.randomElement(using: &generator) : nil
                metadata[name ?? Self.text(&generator, 0...80)] = Self.value(&generator)
            }
            return LogLine(
                time: Timestamp(microseconds: Int64.random(in: 0...4_000_000_000_000_000, using: &generator)),
                level: Logger.Level.allCases.randomElement(using: &generator) ?? .info,
                label: Self.text(&generator, 0...200),
                message: Self.text(&generator, Bool.random(using: &generator) ? 0...40 : 0...12_000),
                metadata: metadata
            )
        }
    }
}

/// Where lines go.
@Suite(.suiteLimit)
struct LogOutputTests {
    @Test func `level and format are taken over while it runs, and a logger can say less, never more`() {
        let lines = Mutex("")
        var configuration = GatewayConfiguration()
        configuration.logLevel = "notice"
        let output = LogOutput(
            configuration,
            isForJournal: true,
            now: { Timestamp(microseconds: 0) },
            lines: LineQueue { bytes in lines.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
        )
        var logger = Logger(label: "test") { GatewayLogHandler(label: $0, output: output) }
        logger.info("left out")
        logger.notice("one", metadata: ["k": "v"])
        configuration.logLevel = "debug"
        configuration.logFormat = .json
        output.reload(configuration)
        logger[metadataKey: "own"] = "o"
        logger.debug("two")
        logger.trace("left out")
        logger.logLevel = .warning
        logger.notice("left out")
        logger.logLevel = .trace
        logger.trace("left out")
        output.complain("the end")
        output.finish()
        #expect(
            lines.withLock { $0 } == """
                <5>notice test: one k=v
                <7>{"time":"1970-01-01T00:00:00.000000Z","level":"debug","label":"test","message":"two","own":"o"}
                <3>cuecast: the end

                """
        )
    }

    @Test func `the journal's stream is known by the numbers of its file, and nothing else is one`() throws {
        var status = stat()
        #expect(unsafe fstat(STDERR_FILENO, &status) == 0)
        let right = "\(status.st_dev):\(status.st_ino)"
        #expect(JournalStream.isStandardError(["JOURNAL_STREAM": right]))
        let other = Pipe()
        #expect(
            JournalStream(["JOURNAL_STREAM": right])?.isDescriptor(other.fileHandleForWriting.fileDescriptor) == false
        )
        for wrong in [
            "\(status.st_dev):\(status.st_ino + 1)", "\(status.st_dev + 1):\(status.st_ino)", "", ":", "1", "1:2:3",
            "a:b", "-1:2",
        ] {
            #expect(!JournalStream.isStandardError(["JOURNAL_STREAM": wrong]), "\(wrong)")
        }
        #expect(!JournalStream.isStandardError([:]))
    }
}
