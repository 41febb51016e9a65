// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing

@testable import AdFormats

@Suite(.suiteLimit)
struct MarkupReaderTests {
    private func read(_ text: String) throws -> MarkupElement {
        try MarkupReader.read(Array(text.utf8), limits: AdFormatLimits())
    }

    private func fault(_ bytes: [UInt8], limits: AdFormatLimits = AdFormatLimits()) -> AdFormatError? {
        do throws(AdFormatError) {
            _ = try MarkupReader.read(bytes, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test func `elements, attributes and text are read in document order`() throws {
        let root = try self.read("<a x='1' y=\"2\">\n <b>one</b><!-- no --><c/><b>two</b ></a>")
        #expect(root.attributes == [.init(name: "x", value: "1"), .init(name: "y", value: "2")])
        #expect(root.children.map(\.name) == ["b", "c", "b"])
        #expect(root.children.map(\.text) == ["one", "", "two"])
        #expect(root.children.map(\.line) == [2, 2, 2])
    }

    @Test func `text, references and CDATA sections are put together`() throws {
        let root = try self.read(
            "<a b='&lt;&#x41;\n&quot;'>x &amp; <![CDATA[<y> & ]]]]><![CDATA[>]]>&#228;&apos;&gt;</a>"
        )
        #expect(root.text == "x & <y> & ]]>ä'>")
        #expect(root.attributes[0].value == "<A \"")
    }

    @Test func `every line end becomes one line feed`() throws {
        let root = try self.read("<a>1\r\n2\r3\n4</a>")
        #expect(root.text == "1\n2\n3\n4")
    }

    @Test func `a declaration, instructions and comments are passed over`() throws {
        let root = try self.read("\n<?xml version='1.0'?><?style a?><!-- - > --><a><?b?></a><!----> <?c d?>\n")
        #expect(root.name == "a" && root.text.isEmpty)
    }

    @Test func `namespaces are resolved and undeclared prefixes are let through`() throws {
        let root = try self.read(
            "<a xmlns='u' xmlns:p='v'><p:b/><c xmlns=''/><q:d/><e xmlns:p='w'><p:f/></e><p:g/></a>"
        )
        #expect(root.children.map(\.namespace) == ["v", "", "q:", "u", "v"])
        #expect(root.children[3].children[0].namespace == "w")
        #expect(root.children.map(\.name) == ["b", "c", "d", "e", "g"])
    }

    @Test(arguments: [
        ("{ vast: null }", 1, 1, "outside"), ("", 1, 1, "no element"), ("<a>", 1, 4, "ends inside"),
        ("<a>\n<b></a></b>", 2, 4, "end tag"), ("<a/>\n<b/>", 2, 1, "second outermost"), ("<a/></a>", 1, 5, "without"),
        ("<a x=1/>", 1, 6, "quotation"), ("<a x='1'y='2'/>", 1, 9, "white space"),
        ("<a x='1' x='2'/>", 1, 10, "second"),
        ("<a x='<'/>", 1, 7, "“<”"), ("<a x='1/>", 1, 6, "does not end"), ("<a x/>", 1, 5, "without a value"),
        ("<a>http://b/?c=1&d=2</a>", 1, 17, "&amp;"), ("<a>&unknown;</a>", 1, 4, "nothing known"),
        ("<a>&#0;</a>", 1, 4, "nothing known"), ("<a>&#xD800;</a>", 1, 4, "nothing known"),
        ("<a>&#+65;</a>", 1, 4, "nothing known"), ("<a>&#x110000;</a>", 1, 4, "nothing known"),
        ("<a>ä]]></a>", 1, 5, "CDATA"), ("<a><![CDATA[</a>", 1, 13, "does not end"),
        ("<!-- a -- b --><c/>", 1, 1, "comment"),
        ("<!-- a", 1, 5, "does not end"), ("<a/><![CDATA[b]]>", 1, 5, "outside"), ("<a/>b", 1, 5, "outside"),
        ("<a><?xml version='1.0'?></a>", 1, 4, "beginning"), ("<a><?b", 1, 7, "instruction"), ("<1/>", 1, 2, "no name"),
        ("<a>\u{1}</a>", 1, 4, "does not allow"), ("<a>\u{FFFF}</a>", 1, 4, "does not allow"),
        ("<a><!b></a>", 1, 4, "nothing known"),
        ("<a", 1, 3, "does not end"), ("<a /", 1, 4, "does not end"), ("<", 1, 2, "no name"),
        ("<a></a", 1, 7, "does not end"),
    ])
    func `a malformed document is refused with its place`(text: String, line: Int, column: Int, words: String) throws {
        guard case .malformed(let fault, line, column) = self.fault(Array(text.utf8)) else {
            Issue.record("\(String(describing: self.fault(Array(text.utf8))))")
            return
        }
        #expect(fault.contains(words))
    }

    @Test(arguments: [
        "<!DOCTYPE a><a/>",
        "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
        "<!DOCTYPE a SYSTEM 'http://example.com/a.dtd'><a/>",
        "<!DOCTYPE a [<!ENTITY a0 'lol'><!ENTITY a1 '&a0;&a0;&a0;&a0;'><!ENTITY a2 '&a1;&a1;&a1;&a1;'>]><a>&a2;</a>",
    ])
    func `a document type declaration is refused, and its entities with it`(text: String) {
        #expect(
            self.fault(Array(text.utf8))
                == .malformed(fault: "a document type declaration, which is not allowed here", line: 1, column: 1)
        )
    }

    @Test func `every beginning of a document is refused and none traps`() {
        let text = Array("<?xml version='1.0'?><a x='&lt;'><!-- c --><b><![CDATA[d]]>&#65;</b><?e f?></a>".utf8)
        for length in 0..<text.count {
            #expect(self.fault(Array(text.prefix(length))) != nil)
        }
    }

    // MARK: Encodings

    @Test func `UTF-8 and UTF-16 are read with and without a byte order mark`() throws {
        let text = "<?xml version='1.0' encoding='UTF-16'?><a>Grüße 🎧</a>"
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        for bytes in [
            Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFE, 0xFF] + big, [0xFF, 0xFE] + little, big,
            little,
        ] {
            #expect(try MarkupReader.read(bytes, limits: AdFormatLimits()).text == "Grüße 🎧")
        }
    }

    @Test func `ISO-8859-1 is read where it is declared`() throws {
        let bytes =
            Array("<?xml version='1.0' encoding=\"iso-8859-1\"?><a>Gr".utf8) + [0xFC, 0xDF] + Array("e</a>".utf8)
        #expect(try MarkupReader.read(bytes, limits: AdFormatLimits()).text == "Grüße")
    }

    /// RFC 7303 section 3: byte order mark, charset, declaration, in this order.
    @Test(
        arguments: [
            ("", "iso-8859-1", [0xFC]), ("UTF-8", "Windows-1252", [0xFC]), ("iso-8859-1", "utf-8", [0xC3, 0xBC]),
            ("cp1252", nil, [0xFC]), ("windows-1252", nil, [0xFC]), ("iso-8859-1", "UTF-16", [0xC3, 0xBC]),
        ] as [(String, String?, [UInt8])]
    )
    func `the sender's encoding counts before the declaration`(
        declared: String,
        charset: String?,
        letter: [UInt8]
    ) throws {
        let declaration = declared.isEmpty ? "" : "<?xml version='1.0' encoding='\(declared)'?>"
        let bytes = Array("\(declaration)<a>".utf8) + letter + Array("</a>".utf8)
        #expect(try MarkupReader.read(bytes, charset: charset, limits: AdFormatLimits()).text == "ü")
    }

    @Test func `a byte order mark counts before what the sender says`() throws {
        let bytes = [0xEF, 0xBB, 0xBF] + Array("<a>ü</a>".utf8)
        #expect(try MarkupReader.read(bytes, charset: "iso-8859-1", limits: AdFormatLimits()).text == "ü")
        let other = Array("<a/>".utf8)
        #expect(throws: AdFormatError.unsupportedEncoding("koi8-r")) {
            _ = try MarkupReader.read(other, charset: "koi8-r", limits: AdFormatLimits())
        }
    }

    @Test func `other encodings are named`() {
        let declared = Array("<?xml version='1.0' encoding='koi8-r'?><a/>".utf8)
        #expect(self.fault(declared) == .unsupportedEncoding("koi8-r"))
        #expect(self.fault([0xFF, 0xFE, 0, 0, 0x3C, 0, 0, 0]) == .unsupportedEncoding("UTF-32"))
    }

    @Test func `bytes that are not UTF-8 are refused with their place`() {
        let bytes = Array("<a>\nä".utf8) + [0xC3, 0x28] + Array("</a>".utf8)
        #expect(self.fault(bytes) == .malformed(fault: "the bytes are not UTF-8", line: 2, column: 2))
    }

    @Test(arguments: [[0xFE, 0xFF, 0xD8, 0x00], [0xFE, 0xFF, 0x00], [0xFF, 0xFE, 0x3C]] as [[UInt8]])
    func `bytes that are not UTF-16 are refused`(bytes: [UInt8]) {
        #expect(self.fault(bytes) == .malformed(fault: "the bytes are not UTF-16", line: 1, column: 1))
    }

    // MARK: Limits

    @Test func `elements may nest as deep as the limit and no deeper`() {
        var limits = AdFormatLimits()
        limits.depthMax = 3
        #expect(self.fault(Array("<a><b><c/></b></a>".utf8), limits: limits) == nil)
        let deeper = Array("<a><b><c><d/></c></b></a>".utf8)
        #expect(self.fault(deeper, limits: limits) == .tooLarge(limit: "depthMax", maximum: 3))
    }

    @Test func `a hundred thousand open elements are refused, not followed`() {
        let deep = Array(String(repeating: "<a>", count: 100_000).utf8)
        #expect(self.fault(deep) == .tooLarge(limit: "depthMax", maximum: 64))
    }

    @Test func `there may be as many elements as the limit and no more`() {
        var limits = AdFormatLimits()
        limits.elementsMax = 3
        #expect(self.fault(Array("<a><b/><b/></a>".utf8), limits: limits) == nil)
        let more = Array("<a><b/><b/><b/></a>".utf8)
        #expect(self.fault(more, limits: limits) == .tooLarge(limit: "elementsMax", maximum: 3))
    }

    @Test func `an element may have as many attributes as the limit and no more`() {
        func element(attributes: Int) -> [UInt8] {
            Array(("<a" + (0..<attributes).map { " a\($0)='1'" }.joined() + "/>").utf8)
        }
        let limits = AdFormatLimits()
        #expect(self.fault(element(attributes: limits.attributesPerElementMax)) == nil)
        #expect(
            self.fault(element(attributes: limits.attributesPerElementMax + 1))
                == .tooLarge(limit: "attributesPerElementMax", maximum: limits.attributesPerElementMax)
        )
    }

    @Test func `an attribute of a megabyte is read`() throws {
        let value = String(repeating: "x", count: 1_000_000)
        #expect(try self.read("<a b='\(value)'/>").attributes[0].value.utf8.count == 1_000_000)
    }
}
