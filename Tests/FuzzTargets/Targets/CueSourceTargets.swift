// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import TestSupport

extension FuzzTarget {
    /// HLS playlists, and what a watch tells of them.
    static let playlist = FuzzTarget(
        name: "playlist",
        sample: { generator in
            var text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(Int.random(in: 0..<9, using: &generator))\n"
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                text += generator.list(0...2) { $0.pick(playlistLines) + "\n" }.joined()
                text += "#EXTINF:\(generator.pick(["6", "0.5", "6.006"])),\n\(generator.pick(["a", "b?c"])).ts\n"
            }
            return Array(text.utf8)
        },
        change: { input, generator in
            var lines = input.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
            let place = Int.random(in: 0..<lines.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: lines.insert(Array(generator.pick(playlistLines).utf8), at: place)
            case 1: lines.remove(at: place)
            case 2: lines.swapAt(place, Int.random(in: 0..<lines.count, using: &generator))
            default: lines[place] = changed(lines[place], pieces: playlistPieces, &generator)
            }
            return Array(lines.joined(separator: [0x0A]))
        },
        fault: { input in
            firstBroken { () throws(Broken) in
                var watch = PlaylistWatch()
                let lineCount = input.count { $0 == 0x0A } + 1
                do throws(PlaylistError) {
                    _ = try watch.read(input, atMilliseconds: 1_767_225_600_000)
                } catch {
                    try insist((1...lineCount).contains(error.line), "there is no line \(error.line)")
                    return
                }
                // A comment makes it another playlist that says the same.
                let again = try? watch.read(input + Array("\n#\n".utf8), atMilliseconds: 1_767_225_606_000)
                try insist(again != nil, "with a comment it cannot be read")
                try insist(again?.events == [], "read twice it tells \(again?.events ?? [])")
            }
        }
    )

    /// Transport streams, in pieces of any size.
    static let transportStream = FuzzTarget(
        name: "transport-stream",
        sample: { generator in
            tablePackets
                + generator.list(1...4) { generator -> [UInt8] in
                    switch Int.random(in: 0..<3, using: &generator) {
                    case 0: packet(0x101, [0x20, 0xB7, 0x10] + generator.bytes(6...6), fill: 0xFF)
                    case 1:
                        packet(0x102, begins: true, [0x10 | generator.number(0...15), 0, 0xFC, 0x30, 0x04, 1, 2, 3, 4])
                    default: packet(0x102, begins: generator.bool(), [0x10] + generator.bytes(0...184))
                    }
                }
                .flatMap { $0 }
        },
        change: { input, generator in
            var bytes = changed(
                input,
                pieces: [tablePackets, [0x47], [0x47, 0x41, 0x02, 0x10, 0x00, 0xFC]],
                &generator
            )
            // The heads of packets are where the meaning is.
            let place =
                Int.random(in: 0...bytes.count / 188, using: &generator) * 188
                + Int.random(in: 0..<12, using: &generator)
            if place < bytes.count, generator.bool() { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
            return bytes
        },
        fault: { input in
            firstBroken { () throws(Broken) in
                var reader = TransportStreamReader()
                let whole = reader.read(input)
                for size in [7, 188, 200] {
                    var other = TransportStreamReader()
                    var events: [TransportStreamEvent] = []
                    for start in stride(from: 0, to: input.count, by: size) {
                        events += other.read(input[start..<min(start + size, input.count)])
                    }
                    try insist(events == whole, "in pieces of \(size) bytes it is \(events), and as a whole \(whole)")
                }
                for case .cue(let section) in whole {
                    try insist((3...4_096).contains(section.bytes.count), "a section of \(section.bytes.count) bytes")
                }
            }
        }
    )

    /// Radio streams with metadata, and the ready rules.
    static let radio = FuzzTarget(
        name: "radio",
        sample: { generator in
            let interval = UInt8.random(in: 1...4, using: &generator)
            return [interval]
                + generator.list(1...4) { generator -> [UInt8] in
                    let text = Array(generator.list(0...3) { $0.pick(radioPieces) }.joined().utf8)
                    let units = (text.count + 15) / 16
                    let audio = generator.bytes(Int(interval)...Int(interval))
                    return audio + [UInt8(units)] + text + [UInt8](repeating: 0, count: units * 16 - text.count)
                }
                .flatMap { $0 }
        },
        change: { input, generator in changed(input, pieces: radioPieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                guard let first = input.first, var reader = ICYReader(metadataInterval: Int(first)) else { return }
                var pieces = reader
                let bytes = Array(input.dropFirst())
                let whole = reader.read(bytes)
                var read: [ICYMetadata] = []
                for start in stride(from: 0, to: bytes.count, by: 5) {
                    read += pieces.read(Array(bytes[start..<min(start + 5, bytes.count)]))
                }
                try insist(read == whole && pieces == reader, "in pieces it is \(read), and as a whole \(whole)")
                var watch = RadioWatch()
                for metadata in whole {
                    let wasInBreak = watch.isInBreak
                    let event = watch.read(metadata, atMilliseconds: 0)
                    try insist(event?.kind != .out || !wasInBreak, "a break begins in another one")
                    try insist(event?.kind == nil || event?.kind == .out || wasInBreak, "nothing ends")
                    try insist(watch.read(metadata, atMilliseconds: 0) == nil, "the same metadata is told twice")
                }
            }
        }
    )

    /// Answers of radio servers: their head, and the metadata in their body.
    static let radioAnswer = FuzzTarget(
        name: "radio-answer",
        sample: { generator in
            let status = generator.pick(["ICY 200 OK", "HTTP/1.0 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 302 Found"])
            let fields = generator.list(0...4) { $0.pick(answerFields) }
            let head = ([status] + fields + ["icy-metaint: 4", "", ""]).joined(separator: "\r\n")
            let block = Array("StreamTitle='a';".utf8)
            let body: [UInt8] = generator.list(0...3) { $0.bool() ? [1, 2, 3, 4, 0] : [1, 2, 3, 4, 1] + block }
                .flatMap { $0 }
            let isChunked = fields.contains("Transfer-Encoding: chunked")
            let chunk = Array("\(String(body.count, radix: 16));a=b\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8)
            return Array(head.utf8) + (isChunked && !body.isEmpty ? chunk : body)
        },
        change: { input, generator in changed(input, pieces: answerPieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                var reader = ICYResponseReader()
                let whole = outcome { () throws(ICYResponseError) in try reader.read(input) }
                for size in [1, 7] {
                    var other = ICYResponseReader()
                    var parts: [ICYResponseReader.Part] = []
                    var error: ICYResponseError?
                    for start in stride(from: 0, to: input.count, by: size) where error == nil {
                        let piece = Array(input[start..<min(start + size, input.count)])
                        let read = outcome { () throws(ICYResponseError) in try other.read(piece) }
                        parts += (try? read.get()) ?? []
                        if case .failure(let failure) = read { error = failure }
                    }
                    switch whole {
                    case .success(let read):
                        try insist(
                            error == nil && parts == read,
                            "in pieces of \(size) bytes it is \(parts), not \(read)"
                        )
                        try insist(other == reader, "in pieces of \(size) bytes the reader is another one")
                    case .failure(let failure):
                        try insist(
                            error == failure,
                            "in pieces of \(size) bytes the error is another one than \(failure)"
                        )
                        try insist(
                            (0...input.count).contains(failure.byteOffset),
                            "there is no byte \(failure.byteOffset)"
                        )
                    }
                }
            }
        }
    )

    /// Patterns of rules, and texts that they search: the pattern is the first line.
    static let textPattern = FuzzTarget(
        name: "text-pattern",
        sample: { generator in
            let pattern = generator.list(1...6) { $0.pick(patternPieces) }.joined()
            return Array(
                (pattern + "\n" + generator.list(0...9) { $0.pick(["a", "b", "A", "1", " ", "é"]) }.joined()).utf8
            )
        },
        change: { input, generator in changed(input, pieces: patternPieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                let parts = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
                let text = String(decoding: parts.count > 1 ? parts[1] : [], as: UTF8.self)
                guard let pattern = try? TextPattern(String(decoding: parts[0], as: UTF8.self)) else { return }
                guard let groups = pattern.firstMatch(in: text) else { return }
                let scalars = Array(text.unicodeScalars)
                for (name, value) in groups {
                    try insist(
                        scalars.contains(Array(value.unicodeScalars)),
                        "\(name) has \(value), which is not there"
                    )
                }
            }
        }
    )
}

private let answerFields = [
    "icy-name: a", "icy-metaint: 16777216", "icy-metaint: 0", "Transfer-Encoding: chunked", "Content-Length: 25",
    "Location: http://a/", "icy-notice1:<BR>", " more",
]
private let answerPieces: [[UInt8]] =
    answerFields.map { Array("\($0)\r\n".utf8) }
    + ["\r\n\r\n", "\n", "HTTP/1.1 100 Continue\r\n\r\n", "5\r\n", "0\r\n", "ICY 200 OK\r\n"].map { Array($0.utf8) }

/// What a function gives or throws.
private func outcome<Value, Failure: Error>(_ body: () throws(Failure) -> Value) -> Result<Value, Failure> {
    do throws(Failure) {
        return .success(try body())
    } catch {
        return .failure(error)
    }
}

private let playlistLines = [
    "#EXT-X-CUE-OUT", "#EXT-X-CUE-OUT:30", "#EXT-X-CUE-OUT:DURATION=6", "#EXT-X-CUE-OUT:\"30.0\"",
    "#EXT-X-CUE-OUT-CONT:8.3/30",
    "#EXT-X-CUE-OUT-CONT:ElapsedTime=6,Duration=30,SCTE35=/DAA", "#EXT-X-CUE-OUT-CONT", "#EXT-X-CUE-IN",
    "#EXT-OATCLS-SCTE35:/DAA", "#EXT-X-SPLICEPOINT-SCTE35:/DAB", "#EXT-X-SCTE35:CUE=\"/DAA\",CUE-OUT=YES,ID=\"1\"",
    "#EXT-X-CUE:TYPE=\"SpliceOut\",ID=\"1\",TIME=1,DURATION=6,ELAPSED=0", "#EXT-X-CUE:TYPE=\"SpliceIn\"",
    "#EXT-X-ASSET:CAID=0x1",
    "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\",PLANNED-DURATION=6,SCTE35-OUT=0xFC00",
    "#EXT-X-DATERANGE:ID=\"a\",DURATION=5,SCTE35-IN=0xFC01",
    "#EXT-X-DATERANGE:ID=\"c\",SCTE35-CMD=0xFC,START-DATE=\"2026-01-01T00:00:06Z\"",
    "#EXT-X-DATERANGE:ID=\"b\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:09Z\",END-ON-NEXT=YES",
    "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.5+01:00", "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z",
    "#EXT-X-DISCONTINUITY",
    "#EXT-X-SKIP:SKIPPED-SEGMENTS=2", "#EXT-X-ENDLIST", "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=12",
    "#EXT-X-STREAM-INF:BANDWIDTH=1",
]

private let playlistPieces = [
    "=", ",", "\"", ":", "0x", "/", ".", "99999999999", "YES", "CONT", "ELAPSED=", "ID=\"a\"", "\r", "#EXT",
]
.map { Array($0.utf8) }

private let radioPieces = [
    "StreamTitle='", "StreamUrl='", "';", "'", ";", "START_AD_BREAK 30", "adw_ad='true';",
    "durationMilliseconds='30000';", "adId='1';",
    "http://a/?type=ad&cue_time_duration=5&ad_id=1", "A song", "é",
]

private let patternPieces = [
    "a", "b", ".", "[ab]", "[^a]", "[a-z-]", "(", ")", "(?:", "(?<n>", "|", "*", "+", "?", "{1,2}", "{3}", "{0,}", "^",
    "$", #"\b"#, #"\d"#,
    #"\W"#, #"\\"#, "(?i)", "é", "\n",
]

/// A table of programs with one program, and its map with cues on PID 0x102.
private let tablePackets: [UInt8] =
    packet(0, begins: true, [0x10, 0, 0, 0xB0, 0x0D, 0, 1, 0xC1, 0, 0, 0, 1, 0xE1, 0x00, 0xE8, 0xF9, 0x5E, 0x7D])
    + packet(
        0x100,
        begins: true,
        [
            0x10, 0, 2, 0xB0, 0x12, 0, 1, 0xC1, 0, 0, 0xE1, 0x01, 0xF0, 0x00, 0x86, 0xE1, 0x02, 0xF0, 0x00, 0xEB, 0xFB,
            0x23, 0x2A,
        ]
    )

/// A packet: what follows its PID, filled.
private func packet(_ pid: Int, begins: Bool = false, _ rest: [UInt8], fill: UInt8 = 0xFF) -> [UInt8] {
    let head = [0x47, (begins ? 0x40 : 0) | UInt8(pid >> 8), UInt8(pid & 0xFF)] + rest
    return Array((head + [UInt8](repeating: fill, count: 188)).prefix(188))
}
