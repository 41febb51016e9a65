// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport
import Testing

/// Metadata of radio streams, and what rules make of it.
@Suite(.suiteLimit)
struct RadioTests {
    /// A block with the byte of its length.
    private static func block(_ text: [UInt8]) -> [UInt8] {
        let units = (text.count + 15) / 16
        return [UInt8(units)] + text + [UInt8](repeating: 0, count: units * 16 - text.count)
    }

    private static func metadata(_ text: String) -> ICYMetadata { ICYMetadata(Array(text.utf8)) }

    @Test(
        arguments: [
            ("StreamTitle='A - B';StreamUrl='http://a/';", ["StreamTitle": "A - B", "StreamUrl": "http://a/"]),
            ("StreamTitle='';", ["StreamTitle": ""]),
            ("StreamTitle='It's a 'song'';", ["StreamTitle": "It's a 'song'"]),
            ("StreamTitle='Rock 'n'; Roll';StreamUrl='';", ["StreamTitle": "Rock 'n'; Roll", "StreamUrl": ""]),
            ("StreamTitle='a=\"b\";c';", ["StreamTitle": "a=\"b\";c"]),
            ("StreamTitle='no end", ["StreamTitle": "no end"]),
            ("StreamTitle='no semicolon'", ["StreamTitle": "no semicolon"]), ("", [:]), ("something else", [:]),
            ("='x';", [:]),
            (
                "StreamTitle='';adw_ad='true';durationMilliseconds='30026';adId='13';",
                ["StreamTitle": "", "adw_ad": "true", "durationMilliseconds": "30026", "adId": "13"]
            ),
        ] as [(String, [String: String])]
    )
    func `fields are read with what is in their quotation marks`(text: String, fields: [String: String]) {
        let read = Self.metadata(text).fields
        #expect(
            Dictionary(read.map { ($0.name, $0.value) }) { first, _ in first } == fields && read.count == fields.count
        )
    }

    @Test func `text that is not UTF-8 is Windows-1252`() {
        let bytes = Array("StreamTitle='Caf".utf8) + [0xE9, 0x80] + Array("';".utf8)
        #expect(ICYMetadata(bytes).title == "Café€")
        #expect(Self.metadata("StreamTitle='Café';").value(of: "streamtitle") == "Café")
    }

    @Test func `metadata is taken out of the audio, however the bytes are cut`() throws {
        var random = SeededGenerator(for: #function)
        for _ in 0..<100 {
            let interval = random.number(1...50)
            var bytes: [UInt8] = []
            var titles: [String] = []
            let blocks = random.number(1...6)
            for index in 0..<blocks {
                bytes += random.bytes(interval...interval)
                guard random.bool() else {
                    bytes.append(0)
                    continue
                }
                titles.append("Title \(index)")
                bytes += Self.block(Array("StreamTitle='Title \(index)';".utf8))
            }
            var reader = try #require(ICYReader(metadataInterval: interval))
            var read: [String?] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(random.number(1...60))
                rest = rest.dropFirst(piece.count)
                read += reader.read(Array(piece)).map(\.title)
            }
            #expect(read == titles && reader.audioBytes == blocks * interval, "CUECAST_SEED=\(SeededGenerator.seed)")
        }
    }

    @Test func `the interval and a block have limits`() throws {
        #expect(ICYReader(metadataInterval: 16_777_216) != nil && ICYReader(metadataInterval: 16_777_217) == nil)
        #expect(ICYReader(metadataInterval: 0) == nil && ICYReader(metadataInterval: -1) == nil)
        // A byte cannot say more than 255 times 16.
        var reader = try #require(ICYReader(metadataInterval: 1))
        let read = reader.read([7, 255] + [UInt8](repeating: 0x41, count: 4_080) + [7, 0])
        #expect(read.map(\.text.utf8.count) == [4_080] && reader.audioBytes == 2)
        let name = String(repeating: "n", count: 64)
        #expect(Self.metadata("\(name)='x';").value(of: name) == "x")
        #expect(Self.metadata("n\(name)='x';").fields.isEmpty)
    }

    @Test(
        arguments: [
            ("StreamTitle='START_AD_BREAK - START_AD_BREAK';", "start-ad-break", nil, nil),
            ("StreamTitle='start_ad_break 90';", "start-ad-break", 90_000, nil),
            ("StreamTitle='START_AD_BREAK_12.5';", "start-ad-break", 12_500, nil),
            (
                "StreamTitle='';StreamUrl='';adw_ad='true';durationMilliseconds='30026';adId='13342';insertionType='midroll';",
                "adw-ad", 30_026, "13342"
            ),
            ("adId='7';durationMilliseconds='5';StreamTitle='x';adw_ad='TRUE';", "adw-ad", 5, "7"),
            (
                "StreamTitle='';StreamUrl='http://a/?type=ad&cue_time_duration=15000&ad_id=9#b';", "cue-point", 15_000,
                "9"
            ),
            ("StreamTitle='x';StreamUrl='&id=1&cue_type=ad';", "cue-point", nil, nil),
            ("StreamTitle='';adw_ad='true';durationMilliseconds='99999999999999999999';", "adw-ad", nil, nil),
            ("StreamTitle='';adw_ad='true';durationMilliseconds='0';", "adw-ad", nil, nil),
        ] as [(String, String, Int?, String?)]
    )
    func `the ready rules read what is in use`(text: String, rule: String, duration: Int?, id: String?) throws {
        var watch = RadioWatch()
        let read = watch.read(Self.metadata(text), atMilliseconds: 5)
        let event = try #require(read)
        #expect(event.kind == .out && event.rule == rule && event.timeMilliseconds == 5)
        #expect(event.durationMilliseconds == duration && event.id == id)
    }

    @Test(arguments: [
        "StreamTitle='A song about ads';", "StreamTitle='START AD BREAK';", "StreamTitle='x';adw_ad='false';",
        "StreamTitle='x';StreamUrl='http://a/?type=address';", "StreamTitle='adw_ad=true';", "",
    ])
    func `other metadata is no ad`(text: String) {
        var watch = RadioWatch()
        let event = watch.read(Self.metadata(text), atMilliseconds: 0)
        #expect(event == nil && !watch.isInBreak)
    }

    @Test func `ads end with the first title that no rule fits, and repeats tell nothing`() {
        var watch = RadioWatch()
        let texts = [
            "StreamTitle='A song';", "StreamTitle='START_AD_BREAK';", "StreamTitle='START_AD_BREAK';",
            "StreamTitle='';adw_ad='true';adId='2';", "StreamUrl='http://a/';", "StreamTitle='A song';",
            "StreamTitle='B song';",
            "StreamTitle='START_AD_BREAK';", "StreamTitle='';",
        ]
        let events = texts.enumerated().compactMap { watch.read(Self.metadata($0.element), atMilliseconds: $0.offset) }
        #expect(events.map(\.kind) == [.out, .nextAd, .in, .out, .in])
        #expect(
            events.map(\.timeMilliseconds) == [1, 3, 5, 7, 8] && events[2].rule == nil && events[2].title == "A song"
        )
    }

    @Test func `a rule of one's own has its groups`() throws {
        #expect(RadioRule.ready.map(\.name) == ["start-ad-break", "adw-ad", "cue-point"])
        #expect(RadioRule.ready.map(\.details.count) == [0, 2, 2])
        let pattern = try TextPattern(#"^Werbung (?<id>\S+) \((?<duration>\d+) s\)$"#)
        var watch = RadioWatch(rules: [RadioRule(name: "own", subject: .title, pattern: pattern)])
        let event = watch.read(Self.metadata("StreamTitle='Werbung K-7 (45 s)';"), atMilliseconds: 0)
        #expect(event?.id == "K-7" && event?.durationMilliseconds == 45_000)
        let longest = String(repeating: "x", count: 128)
        let last = watch.read(Self.metadata("StreamTitle='Werbung \(longest) (86400 s)';"), atMilliseconds: 0)
        #expect(last?.id == longest && last?.durationMilliseconds == 86_400_000)
        let long = String(repeating: "x", count: 129)
        let next = watch.read(Self.metadata("StreamTitle='Werbung \(long) (86401 s)';"), atMilliseconds: 0)
        #expect(next?.kind == .nextAd && next?.id == nil && next?.durationMilliseconds == nil)
    }
}
