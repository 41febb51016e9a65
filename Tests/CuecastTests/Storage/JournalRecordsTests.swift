// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Diagnostics) @testable import Cuecast

/// The journal's file is read whatever happened to it: what is damaged is left out and counted, the rest stays.
@Suite(.suiteLimit)
struct JournalRecordsTests {
    private let entries = [
        JournalEntry.Kind.session(.init(id: SessionID(high: 1, low: 2), stream: stream(), ticket: [1, 2, 3])),
        .batch(notice(1), batch([content("a"), content("b")]), skipped: nil),
        .batch(notice(2, break: "b2"), batch([content("c")], skipped: 1), skipped: .microseconds(15_000_001)),
        .handedOut(breakID("b1"), adID("a")),
        .progress(
            breakID("b1"),
            adID("a"),
            .init(started: true, quartiles: 2, muted: true, heard: .milliseconds(5_250), clicked: true)
        ),
        .breakClosed(breakID("b0"), .cancelled),
        .outcome(
            ListenerRequest(
                id: 7,
                session: SessionID(high: 1, low: 2),
                ticket: [9],
                kind: .acknowledge(
                    .init(
                        key: BreakKey(stream: stream(), id: breakID("b1")),
                        delivery: [4],
                        outcomes: [
                            Outcome(advertisementID: adID("b"), kind: .played, occurred: gateway(3), clicked: true)
                        ]
                    )
                )
            )
        ),
        .settled([7], givenUp: nil), .settled([8, 9], givenUp: .init(.breakTooOld, "for a reason")),
        .forgotten(SessionID(high: 1, low: 2), breakID("b1"), adID("a")), .alive, .tracking([1, 2, 3]), .sessionOver,
    ]
    .enumerated()
    .map { JournalEntry(written: gateway(Double($0.offset)), kind: $0.element) }

    private func bytes(_ entries: some Sequence<JournalEntry>) -> [UInt8] {
        var bytes = JournalRecords.header
        for entry in entries { JournalRecords.append(entry, to: &bytes) }
        return bytes
    }

    @Test func `written entries are read back`() {
        #expect(JournalRecords.read(self.bytes(self.entries)) == .init(entries: self.entries, damaged: 0))
    }

    @Test func `each reason for giving up is read back, and a later version's is not known`() throws {
        for reason in JournalEntry.GivenUp.Reason.allCases {
            let entry = JournalEntry(written: gateway(1), kind: .settled([7], givenUp: .init(reason, "No.")))
            #expect(try JournalEntry(decoding: entry.encoded()) == entry)
        }
        var bytes = JournalEntry(written: gateway(1), kind: .settled([7], givenUp: .init(.notRecorded, "No.")))
            .encoded()
        // The last field: number 3, a number.
        #expect(Array(bytes.suffix(2)) == [0x18, 5])
        bytes[bytes.count - 1] = 99
        let later = try JournalEntry(decoding: bytes)
        #expect(later.kind == .settled([7], givenUp: .init(.unknown, "No.")))
        #expect(GivenUpReason(.unknown) == .unknown)
    }

    @Test func `a file that ends anywhere loses its last record at most`() throws {
        let whole = self.bytes(self.entries)
        for length in 0..<whole.count {
            let contents = try #require(JournalRecords.read(Array(whole.prefix(length))))
            let complete = (0...self.entries.count).last { self.bytes(self.entries.prefix($0)).count <= length } ?? 0
            #expect(contents.entries == Array(self.entries.prefix(complete)))
            let isWhole = length == 0 || self.bytes(self.entries.prefix(complete)).count == length
            #expect(contents.damaged == (isWhole ? 0 : 1))
        }
    }

    @Test func `a byte that is wrong loses its own record only, wherever it is`() throws {
        let whole = self.bytes(self.entries)
        for index in JournalRecords.header.count..<whole.count {
            var damaged = whole
            damaged[index] ^= 0x40
            let contents = try #require(JournalRecords.read(damaged))
            #expect(contents.damaged == 1)
            let hit = (0..<self.entries.count).first { self.bytes(self.entries.prefix($0 + 1)).count > index } ?? 0
            var rest = self.entries
            rest.remove(at: hit)
            #expect(contents.entries == rest, "byte \(index)")
        }
    }

    @Test func `a foreign file or one of a later version is not read`() {
        #expect(JournalRecords.read(Array("SQLite format 3\0".utf8)) == nil)
        #expect(JournalRecords.read(Array("cuecast journal 2\n".utf8)) == nil)
        #expect(JournalRecords.read([]) == .init())
    }

    @Test(arguments: 1...50) func `random bytes never trap`(seed: UInt64) {
        var random = JitterSource(seed: seed)
        var bytes = self.bytes(self.entries)
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...2, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.removeSubrange(index..<min(bytes.count, index + 8))
            default: bytes.insert(contentsOf: [0xC5, 0x63, 0x75, 0x65, 0xFF, 0xFF, 0xFF, 0xFF], at: index)
            }
        }
        guard let contents = JournalRecords.read(bytes) else { return }
        var state = JournalState()
        for entry in contents.entries { state.apply(entry) }
        #expect(state.sessions.count <= JournalState.sessionsMax)
    }
}
