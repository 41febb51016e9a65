// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// Records of the log that can be read as protobuf and are wrong all the same are refused before anything is built on
/// them.
@Suite(.suiteLimit)
struct LogDamageTests {
    private let generator = SeededGenerator(for: "LogDamageTests")

    /// A stream with two breaks and three notices, which is whole.
    private func board(_ change: (inout BoardRecord) throws -> Void = { _ in }) throws -> BoardRecord {
        var generator = self.generator
        let stream = try StreamID("radio1")
        let ids = try ["a", "b"].map { BreakKey(stream: stream, id: try BreakID($0)) }
        let known = StreamRecord(
            stream: stream,
            sequence: 12,
            recentNotices: (10...12).map { generator.notice(.updated, position: Position(epoch: 1, sequence: $0)) }
        )
        var record = BoardRecord(offset: 5, streams: [known], breaks: ids.map { generator.breakRecord($0) })
        try change(&record)
        return record
    }

    /// The same with a change of the stream.
    private func stream(_ change: (inout StreamRecord) throws -> Void) throws -> BoardRecord {
        try self.board { try change(&$0.streams[0]) }
    }

    private func refuses(
        _ record: BoardRecord,
        field: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: WireError.self, sourceLocation: sourceLocation) {
            try BoardRecord(decoding: record.encoded())
        }
        guard case .invalid(field, _) = error else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
    }

    @Test func `a whole snapshot is taken`() throws {
        let record = try self.board()
        #expect(try BoardRecord(decoding: record.encoded()) == record)
        let quiet = try self.stream { $0.recentNotices = [] }
        #expect(try BoardRecord(decoding: quiet.encoded()) == quiet)
    }

    @Test func `a snapshot that names something twice is refused`() throws {
        self.refuses(try self.board { $0.breaks[1] = $0.breaks[0] }, field: "breaks")
        var twice = try self.board()
        twice.streams += twice.streams
        self.refuses(twice, field: "streams")
        let writer = WriterRecord(writer: 7, number: 1, at: Timestamp(microseconds: 1))
        let known = BoardRecord(writers: [writer], rules: FoldRules.newest)
        #expect(try BoardRecord(decoding: known.encoded()) == known)
        self.refuses(BoardRecord(writers: [writer, writer]), field: "writers")
    }

    @Test func `a snapshot whose recent notices have a gap is refused`() throws {
        self.refuses(try self.stream { $0.recentNotices.remove(at: 1) }, field: "recent_notices")
        self.refuses(try self.stream { $0.recentNotices.removeLast() }, field: "recent_notices")
        self.refuses(try self.stream { $0.recentNotices.reverse() }, field: "recent_notices")
        self.refuses(try self.stream { $0.sequence = 2 }, field: "recent_notices")
        self.refuses(try self.stream { $0.sequence = 13 }, field: "recent_notices")
    }

    @Test func `a sequence that no stream reaches is refused`() throws {
        self.refuses(try self.stream { $0.sequence = .max }, field: "sequence")
    }

    @Test func `an offset that no log reaches is refused`() throws {
        self.refuses(BoardRecord(offset: .max, streams: []), field: "offset")
        self.refuses(BoardRecord(offset: BreakGroup.offsetMax, streams: []), field: "offset")
        let last = BoardRecord(offset: BreakGroup.offsetMax - 1, streams: [])
        #expect(try BoardRecord(decoding: last.encoded()) == last)
        // The group after it can still be numbered.
        #expect(BreakGroup.breakNumber(offset: last.offset + 1, index: BreakGroup.groupEntriesMax - 1).rawValue > 0)
    }

    @Test func `an entry of a later version is refused, not passed over`() {
        let entry = ProtoWriter { $0.message(1) { $0.message(31) { _ in } } }.bytes
        #expect(throws: WireError.self) { try BreakGroup(decoding: entry) }
    }

    @Test func `a group has at most as many entries as a number leaves room for`() throws {
        var generator = self.generator
        let entry = generator.breakEntry()
        let full = BreakGroup(entries: Array(repeating: entry, count: BreakGroup.groupEntriesMax)).encoded()
        #expect(try BreakGroup(decoding: full).entries.count == BreakGroup.groupEntriesMax)
        let error = #expect(throws: WireError.self) {
            try BreakGroup(decoding: full + BreakGroup(entries: [entry]).encoded())
        }
        #expect(error == .tooLarge(limit: "groupEntriesMax", maximum: 1_024, found: 1_025))
    }

    @Test func `a delivery of something that is no session is refused`() {
        let group = ProtoWriter { $0.message(2) { $0.bytes(1, [1, 2, 3]) } }.bytes
        #expect(throws: WireError.self) { try AcknowledgementGroup(decoding: group) }
    }
}
