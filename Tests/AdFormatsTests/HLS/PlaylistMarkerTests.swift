// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Every form of the tags that mark breaks.
@Suite(.suiteLimit)
struct PlaylistMarkerTests {
    @Test(
        arguments: [
            ("#EXT-X-CUE-OUT", nil), ("#EXT-X-CUE-OUT:", nil), ("#EXT-X-CUE-OUT:30", 30_000),
            ("#EXT-X-CUE-OUT: 30 ", 30_000),
            ("#EXT-X-CUE-OUT:30.5", 30_500), ("#EXT-X-CUE-OUT:\"30.0\"", 30_000),
            ("#EXT-X-CUE-OUT:DURATION=30", 30_000),
            ("#EXT-X-CUE-OUT:Duration=30.25", 30_250), ("#EXT-X-CUE-OUT:DURATION=\"30\"", 30_000),
            ("#EXT-X-CUE-OUT:0", nil),
            ("#EXT-X-CUE-OUT:DURATION=60,BREAKID=0x1", 60_000), ("#EXT-X-CUE-OUT:30,ID=1", 30_000),
            ("#EXT-X-CUE-OUT:30.0333", 30_033), ("#EXT-X-CUE-OUT:.5", 500),
        ] as [(String, Int?)]
    )
    func `CUE-OUT has its duration in every form`(tag: String, duration: Int?) throws {
        let marker = try #require(try Playlists.marker(tag))
        #expect(marker.tag == .cueOut && marker.role == .out && marker.durationMilliseconds == duration)
        #expect(marker.line == 3 && marker.sequence == 0)
    }

    @Test(arguments: ["#EXT-X-CUE-OUT:soon", "#EXT-X-CUE-OUT:DURATION=soon", "#EXT-X-CUE-OUT:DURATION=\"30"])
    func `a CUE-OUT that cannot be read is a break of unknown duration, and told`(tag: String) throws {
        let playlist = try Playlists.read("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(tag)\n#EXTINF:6,\na.ts\n")
        #expect(playlist.markers.map(\.role) == [.out] && playlist.markers[0].durationMilliseconds == nil)
        #expect(playlist.faults.map(\.line) == [3])
    }

    @Test(
        arguments: [
            ("#EXT-X-CUE-OUT-CONT", nil, nil), ("#EXT-X-CUE-OUT-CONT:8.3/30", 8_300, 30_000),
            ("#EXT-X-CUE-OUT-CONT:8.3", 8_300, nil),
            ("#EXT-X-CUE-OUT-CONT:8.3/", 8_300, nil), ("#EXT-X-CUE-OUT-CONT:/30", nil, 30_000),
            ("#EXT-X-CUE-OUT-CONT:ElapsedTime=8.3,Duration=30,SCTE35=/DAA", 8_300, 30_000),
            ("#EXT-X-CUE-OUT-CONT:ELAPSEDTIME=\"8.3\",DURATION=\"30\"", 8_300, 30_000),
            ("#EXT-X-CUE-OUT-CONT:CAID=0x0A,ElapsedTime=0", 0, nil), ("#EXT-X-CUE-OUT-CONT:\"8.3/30\"", 8_300, 30_000),
        ] as [(String, Int?, Int?)]
    )
    func `CUE-OUT-CONT says how far a break is in every form`(tag: String, elapsed: Int?, duration: Int?) throws {
        let marker = try #require(try Playlists.marker(tag))
        #expect(marker.tag == .cueOutContinued && marker.role == .continued)
        #expect(marker.elapsedMilliseconds == elapsed && marker.durationMilliseconds == duration)
    }

    @Test(arguments: ["#EXT-X-CUE-IN", "#EXT-X-CUE-IN:", "#EXT-X-CUE-IN:4,SpliceType=VOD_DAI"])
    func `CUE-IN needs nothing more`(tag: String) throws {
        #expect(try Playlists.marker(tag)?.role == .in)
    }

    @Test(arguments: [
        "#EXT-OATCLS-SCTE35:/DAgAA==", "#EXT-OATCLS-SCTE35:\"/DAgAA\"", "#EXT-X-SPLICEPOINT-SCTE35:/DAgAA==",
        "#EXT-X-SPLICEPOINT-SCTE35:0xFC302000", "#EXT-X-SCTE35:CUE=\"/DAgAA==\"", "#EXT-OATCLS-SCTE35:_DAgAA==",
        "#EXT-X-SCTE35:TYPE=0x34,CUE=/DAgAA==,SEGNE=\"0:0\"", "#EXT-X-CUE:SCTE35=0xfc302000",
    ])
    func `bytes are read in Base64 and in hexadecimal`(tag: String) throws {
        let marker = try #require(try Playlists.marker(tag))
        #expect(marker.role == .message && marker.scte35 == [0xFC, 0x30, 0x20, 0x00])
    }

    @Test(arguments: [
        "#EXT-OATCLS-SCTE35:", "#EXT-OATCLS-SCTE35:?", "#EXT-OATCLS-SCTE35:/DAgA", "#EXT-OATCLS-SCTE35:/DAg=",
        "#EXT-X-SPLICEPOINT-SCTE35:0xFC3", "#EXT-X-SPLICEPOINT-SCTE35:0xFG", "#EXT-X-SCTE35:TYPE=0x34",
        "#EXT-X-CUE:ID=\"1\"",
        "#EXT-X-DATERANGE:START-DATE=\"2026-01-01T00:00:00Z\"", "#EXT-X-DATERANGE:ID=\"",
    ])
    func `a mark that says nothing is passed over and told`(tag: String) throws {
        let playlist = try Playlists.read("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(tag)\n#EXTINF:6,\na.ts\n")
        #expect(playlist.markers.isEmpty && playlist.dateRanges.isEmpty && playlist.faults.map(\.line) == [3])
        #expect(playlist.faults[0].description.contains("on line 3"))
    }

    @Test(
        arguments: [
            ("#EXT-X-SCTE35:CUE=\"/DAgAA==\",CUE-OUT=YES,DURATION=30,ID=\"7\"", .out, 30_000, nil),
            ("#EXT-X-SCTE35:CUE=\"/DAgAA==\",CUE-OUT=CONT,ELAPSED=12,DURATION=30", .continued, 30_000, 12_000),
            ("#EXT-X-SCTE35:CUE=\"/DAgAA==\",CUE-IN=YES", .in, nil, nil),
            ("#EXT-X-CUE:TYPE=\"SpliceOut\",ID=\"7\",TIME=1354.5,DURATION=60", .out, 60_000, nil),
            ("#EXT-X-CUE:TYPE=\"SpliceOut\",ID=\"7\",TIME=1354.5,DURATION=60,ELAPSED=8", .continued, 60_000, 8_000),
            ("#EXT-X-CUE:type=\"SpliceIn\",ID=\"7\"", .in, nil, nil),
        ] as [(String, PlaylistMarker.Role, Int?, Int?)]
    )
    func `EXT-X-SCTE35 and EXT-X-CUE say what they are`(
        tag: String,
        role: PlaylistMarker.Role,
        duration: Int?,
        elapsed: Int?
    ) throws {
        let marker = try #require(try Playlists.marker(tag))
        #expect(marker.role == role && marker.durationMilliseconds == duration && marker.elapsedMilliseconds == elapsed)
    }

    @Test func `EXT-X-ASSET is passed over`() throws {
        let playlist = try Playlists.read("#EXTM3U\n#EXT-X-ASSET:CAID=0x0000000020FB6501\n#EXTINF:6,\na\n")
        #expect(playlist.markers.isEmpty && playlist.faults.isEmpty)
    }

    @Test func `a date range has its times, sections and interstitial`() throws {
        let playlist = try Playlists.read(
            """
            #EXTM3U
            #EXT-X-DATERANGE:ID="splice-6FFFFFF0",START-DATE="2014-03-05T11:15:00Z",PLANNED-DURATION=59.993,SCTE35-OUT=0xFC002F
            #EXT-X-DATERANGE:ID="splice-6FFFFFF0",DURATION=59.993,SCTE35-IN=0xFC002A
            #EXT-X-DATERANGE:ID="ad1",CLASS="com.apple.hls.interstitial",START-DATE="2020-01-02T21:55:44.000Z",DURATION=15.0,\
            X-ASSET-URI="http://example.com/ad1.m3u8",X-RESUME-OFFSET=0,X-PLAYOUT-LIMIT=10,X-RESTRICT="SKIP,JUMP",CUE="ONCE, PRE"
            #EXT-X-DATERANGE:ID="cmd",start-date="2020-01-02T21:55:44Z",END-DATE="2020-01-02T21:55:54.5Z",SCTE35-CMD=0xFC
            #EXT-X-DATERANGE:ID="bad",START-DATE="never",DURATION=x,SCTE35-OUT=0xZZ
            #EXTINF:6,
            a.ts
            """
        )
        let ranges = playlist.dateRanges
        #expect(ranges.map(\.id) == ["splice-6FFFFFF0", "splice-6FFFFFF0", "ad1", "cmd", "bad"])
        #expect(ranges.map(\.line) == [2, 3, 4, 5, 6])
        #expect(ranges[0].scte35.out == [0xFC, 0x00, 0x2F] && ranges[0].durationMilliseconds == 59_993)
        #expect(ranges[1].scte35.in == [0xFC, 0x00, 0x2A] && ranges[1].times.startMicroseconds == nil)
        #expect(ranges[2].interstitial?.assetURI == "http://example.com/ad1.m3u8")
        #expect(ranges[2].interstitial?.cues == ["ONCE", "PRE"] && ranges[2].durationMilliseconds == 15_000)
        #expect(ranges[3].scte35.command == [0xFC] && ranges[3].durationMilliseconds == 10_500)
        #expect(ranges[4].scte35.hasOut && ranges[4].scte35.out == nil && ranges[4].times.startMicroseconds == nil)
        #expect(playlist.faults.map(\.line) == [6, 6, 6])
    }
}
