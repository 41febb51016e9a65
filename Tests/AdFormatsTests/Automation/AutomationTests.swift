// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Messages of automation systems, and what mappings make of them.
@Suite(.suiteLimit)
struct AutomationTests {
    private static func form(_ text: String) throws -> AutomationFields { try AutomationFields(form: text.utf8) }

    private static func fault(_ read: () throws -> Void) -> AutomationFault? {
        do {
            try read()
            return nil
        } catch {
            return error as? AutomationFault
        }
    }

    // MARK: - Fields

    @Test func `a form is read with its escapes, and the first value of a name counts`() throws {
        let fields = try Self.form("Type=ad+break&title=Gr%C3%BCn%26&&type=music&empty=&flag&x=a=b")
        #expect(fields["TYPE"] == "ad break" && fields["title"] == "Grün&" && fields["empty"] == "")
        #expect(fields["flag"] == "" && fields["x"] == "a=b" && fields["other"] == nil && fields.count == 5)
        #expect(try Self.form("title=Gr%FCn")["title"] == "Grün")
        #expect(try Self.form("").count == 0)
    }

    @Test(arguments: [("a=%", 3), ("a=b&cd=x%4", 9), ("%zz=1", 1), ("a=1%0g", 4)])
    func `an escape that is none names its byte`(text: String, byte: Int) {
        let fault = Self.fault { _ = try Self.form(text) }
        #expect(fault?.description == "Byte \(byte): a % needs two hexadecimal digits behind it.")
    }

    @Test func `an XML document has fields for elements and attributes`() throws {
        let document = """
            <?xml version="1.0"?><now id="7"><Type><![CDATA[ SPOT ]]></Type><song title="A &amp; B"><duration>30</duration></song>\
            <song><duration>60</duration></song></now>
            """
        let fields = try AutomationFields(xml: Array(document.utf8))
        #expect(fields["@id"] == "7" && fields["type"] == "SPOT" && fields["song@title"] == "A & B")
        #expect(fields["song/duration"] == "30" && fields.count == 4)
        for (wrong, sentence) in [
            ("<a>", "line 1"), ("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "line 1"), ("", "no element"),
        ] {
            let fault = Self.fault { _ = try AutomationFields(xml: Array(wrong.utf8)) }
            #expect(fault?.description.contains(sentence) == true, "\(wrong): \(fault?.description ?? "")")
        }
    }

    @Test func `a field with a longer name than mappings may have is passed over, with all that is in it`() throws {
        let longest = String(repeating: "x", count: AutomationLimits.nameBytesMax)
        let inside = String(repeating: "<a/>", count: 100)
        let document = "<n><\(longest)>1</\(longest)><\(longest)y b=\"2\">\(inside)</\(longest)y></n>"
        let fields = try AutomationFields(xml: Array(document.utf8))
        #expect(fields[longest] == "1" && fields.count == 1)
        #expect(try Self.form("\(longest)=1&\(longest)y=2").count == 1)
    }

    @Test func `a line is read by a pattern, or as a form`() throws {
        let pattern = try TextPattern(#"^(?<type>\w+)\|(?<duration>[^|]*)"#)
        let fields = try AutomationFields(line: Array("spot|30|more\r\n".utf8), pattern: pattern)
        #expect(fields["type"] == "spot" && fields["duration"] == "30")
        #expect(try AutomationFields(line: Array("type=spot \n".utf8), pattern: nil)["type"] == "spot")
        #expect(Self.fault { _ = try AutomationFields(line: Array("|".utf8), pattern: pattern) } != nil)
    }

    @Test func `each limit holds, and one more is too large`() throws {
        func form(_ count: Int) throws { _ = try Self.form((0..<count).map { "a\($0)=1" }.joined(separator: "&")) }
        try form(AutomationLimits.fieldsMax)
        #expect(Self.fault { try form(AutomationLimits.fieldsMax + 1) }?.isTooLarge == true)

        func long(_ count: Int) throws { _ = try Self.form("a=" + String(repeating: "b", count: count - 2)) }
        try long(AutomationLimits.messageBytesMax)
        #expect(Self.fault { try long(AutomationLimits.messageBytesMax + 1) }?.isTooLarge == true)

        func line(_ count: Int) throws {
            _ = try AutomationFields(line: [UInt8](repeating: 0x61, count: count) + [0x0A], pattern: nil)
        }
        try line(AutomationLimits.lineBytesMax)
        #expect(Self.fault { try line(AutomationLimits.lineBytesMax + 1) }?.isTooLarge == true)

        func deep(_ count: Int) throws {
            let text = String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count)
            _ = try AutomationFields(xml: Array(text.utf8))
        }
        try deep(AutomationLimits.depthMax)
        #expect(Self.fault { try deep(AutomationLimits.depthMax + 1) }?.isTooLarge == true)
    }

    // MARK: - Elements

    @Test(
        arguments: [
            ("radiodj", "songtype=4&songid=12&songseconds=30&title=x", true, "12", 30_000),
            ("radiodj", "songtype=0&songid=13&songseconds=204", false, "13", nil),
            ("radiodj", "tracktype=Commercial&trackid=1&duration=01:05", true, "1", 65_000),
            ("mairlist", "type=Advertising&duration=29,5&id=%7BA%7D", true, "{A}", 29_500),
            ("mairlist", "type=Music&duration=what", false, nil, nil),
            ("liquidsoap", "title=x&duration=200.1", false, nil, nil),
            ("liquidsoap", "type=ad&duration=20.&filename=/a.mp3", true, "/a.mp3", 20_000),
            ("now-playing-xml", "Type=SPOT&Duration=1:00:00.5", true, nil, 3_600_500),
            ("now-playing-xml", "type=commercial&duration=0", true, nil, nil),
        ] as [(String, String, Bool, String?, Int?)]
    )
    func `ready mappings know ads, ids and durations`(
        name: String,
        message: String,
        isAd: Bool,
        id: String?,
        duration: Int?
    ) throws {
        let mapping = try #require(AutomationMapping.ready.first { $0.name == name })
        let element = try mapping.element(try Self.form(message))
        #expect(element == AutomationElement(isAd: isAd, id: id, durationMilliseconds: duration))
    }

    /// As https://gist.github.com/anthonyeden/6701d237dd28bb4a31e2a62105869bd3 has it, filled in.
    @Test func `the template of MetaRadio for RadioDJ is read`() throws {
        let document = """
            <RadioDJ><title><![CDATA[Spring]]></title><artist><![CDATA[Shop]]></artist><duration>30</duration>\
            <startTime>2026-05-01 12:00:00</startTime><assetType>4</assetType><playoutId><![CDATA[77]]></playoutId></RadioDJ>
            """
        let element = try AutomationMapping.radiodj.element(try AutomationFields(xml: Array(document.utf8)))
        #expect(element == AutomationElement(isAd: true, id: "77", durationMilliseconds: 30_000))
    }

    @Test func `a message without a type, or with a time that is none, is a fault with its field`() throws {
        let missing = Self.fault { _ = try AutomationMapping.mairlist.element(try Self.form("kind=ad")) }
        #expect(missing?.description.contains(#"reads it from “type” or “assetType”"#) == true, "\(missing as Any)")
        for text in ["soon", "-1", "1:2:3:4", ":", "1:x", "1e3", "99999:00:00"] {
            let fault = Self.fault {
                _ = try AutomationMapping.mairlist.element(try Self.form("type=ad&duration=\(text)"))
            }
            #expect(fault?.description.hasPrefix("The field duration is") == true, "\(text)")
        }
        func long(_ seconds: String) throws {
            _ = try AutomationMapping.mairlist.element(try Self.form("type=ad&duration=\(seconds)"))
        }
        try long("21600")
        #expect(Self.fault { try long("21600.001") }?.isTooLarge == true)
    }

    @Test func `a start has its zone`() throws {
        var mapping = AutomationMapping(name: "a", type: ["t"], ads: .pattern(try TextPattern("(?i)^spot")))
        mapping.start = ["at"]
        mapping.durationUnit = .milliseconds
        mapping.duration = ["ms"]
        for (text, milliseconds) in [
            ("2026-05-01T12:00:00Z", 1_777_636_800_000), ("2026-05-01T14:00:00.25%2B02:00", 1_777_636_800_250),
            ("1777636800.5", 1_777_636_800_500),
        ] {
            let element = try mapping.element(try Self.form("t=Spot 7&ms=1500&at=\(text)"))
            #expect(element.isAd && element.startMilliseconds == milliseconds && element.durationMilliseconds == 1_500)
        }
        for text in ["2026-05-01T12:00:00", "noon", "1777636800000", "2026-05-01"] {
            let fault = Self.fault { _ = try mapping.element(try Self.form("t=x&at=\(text)")) }
            #expect(fault?.description.hasPrefix("The field at is") == true, "\(text)")
        }
    }

    // MARK: - Signals

    private static func signal(_ element: AutomationElement, _ running: AutomationSignal.Running?) -> AutomationSignal {
        AutomationSignal(element, running: running, atMilliseconds: 100_000)
    }

    @Test func `an ad begins a break, and anything else ends it`() {
        var ad = AutomationElement(isAd: true, durationMilliseconds: 30_000)
        #expect(Self.signal(ad, nil) == AutomationSignal(kind: .out, durationMilliseconds: 32_000))
        ad.startMilliseconds = 99_000
        #expect(Self.signal(ad, nil).startMilliseconds == 99_000)
        let song = AutomationElement(isAd: false)
        for running in [nil, AutomationSignal.Running(startMilliseconds: 70_000, endMilliseconds: nil)] {
            #expect(Self.signal(song, running) == AutomationSignal(kind: .in))
        }
    }

    @Test func `the next ad makes the break longer only where it has to, so that a repeat changes nothing`() {
        let ad = AutomationElement(isAd: true, durationMilliseconds: 20_000)
        func next(_ end: Int?) -> Int? {
            Self.signal(ad, AutomationSignal.Running(startMilliseconds: 70_000, endMilliseconds: end))
                .durationMilliseconds
        }
        #expect(next(102_000) == 52_000 && next(119_999) == 52_000)
        #expect(next(120_000) == nil && next(122_000) == nil && next(nil) == nil)
        let silent = AutomationElement(isAd: true)
        let running = AutomationSignal.Running(startMilliseconds: 70_000, endMilliseconds: 100_000)
        #expect(Self.signal(silent, running) == AutomationSignal(kind: .out))
        let endless = AutomationElement(isAd: true, durationMilliseconds: AutomationLimits.durationMillisecondsMax)
        #expect(Self.signal(endless, running).durationMilliseconds == AutomationLimits.durationMillisecondsMax)
    }
}
