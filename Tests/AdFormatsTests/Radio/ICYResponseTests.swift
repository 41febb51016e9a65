// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import Testing

/// Answers of radio servers.
@Suite(.suiteLimit)
struct ICYResponseTests {
    private static let block = [UInt8]([1]) + Array("StreamTitle='a';".utf8)

    private static func read(
        _ text: String,
        _ body: [UInt8] = [],
        limits: ICYResponseLimits = ICYResponseLimits()
    ) throws -> [ICYResponseReader.Part] {
        var reader = ICYResponseReader(limits: limits)
        return try reader.read(Array(text.utf8) + body)
    }

    private static func fault(_ text: String, limits: ICYResponseLimits = ICYResponseLimits()) -> ICYResponseError? {
        #expect(throws: ICYResponseError.self) { try Self.read(text, limits: limits) }
    }

    @Test(
        arguments: [
            "ICY 200 OK\r\nicy-notice1:<BR>a<BR>\r\nicy-metaint:4\r\n\r\n",
            "HTTP/1.0 200 OK\r\nServer: Icecast 2.4.4\r\nicy-metaint: 4\r\n\r\n",
            "HTTP/1.1 200 OK\nIcy-MetaInt:\t4 \n\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nicy-metaint: 4\r\n\r\n",
        ]
    )
    func `answers of Icecast and SHOUTcast have their metadata taken out`(head: String) throws {
        let parts = try Self.read(head, [9, 9, 9, 9] + Self.block + [9, 9, 9, 9, 0, 9, 9])
        #expect(parts.count == 2)
        guard case .head(let head)? = parts.first, case .metadata(let metadata, place: 1)? = parts.last else {
            Issue.record("\(parts)")
            return
        }
        #expect(head.status == 200 && head.value(of: "icy-metaint") == "4" && head.redirect == nil)
        #expect(metadata.title == "a")
    }

    @Test func `a body in chunks has its metadata wherever the chunks are cut`() throws {
        let body = [9, 9, 9, 9] + Self.block
        for cut in 1..<body.count {
            var answer = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nicy-metaint: 4\r\n\r\n".utf8)
            for piece in [body[..<cut], body[cut...]] {
                answer += Array("\(String(piece.count, radix: 16)); a=b\r\n".utf8) + piece + Array("\r\n".utf8)
            }
            var reader = ICYResponseReader()
            let parts = try reader.read(answer + Array("0\r\nTrailer: a\r\n\r\n".utf8))
            #expect(parts.count == 3 && parts.last == .end && reader.mayEndHere)
            #expect(parts.contains(.metadata(ICYMetadata(Array(Self.block.dropFirst())), place: 1)))
        }
    }

    @Test func `redirects, lengths and bodies without metadata end as they say`() throws {
        let redirect = try Self.read("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 2\r\n\r\nab")
        guard case .head(let head)? = redirect.first else {
            Issue.record("\(redirect)")
            return
        }
        #expect(head.redirect == "/other" && redirect.last == .end)
        #expect(try Self.read("HTTP/1.1 204 No Content\r\n\r\n").last == .end)
        var open = ICYResponseReader()
        _ = try open.read(Array("ICY 200 OK\r\nicy-metaint: 0\r\n\r\naudio".utf8))
        #expect(open.mayEndHere)
    }

    @Test(
        arguments: [
            ("HTTP/2 200 OK\r\n", 1, "instead of"), ("<html>\r\n", 1, "instead of"), ("ICY two OK\r\n", 1, "status"),
            ("ICY 200 OK\r\n folded\r\n", 2, "no field before it"),
            ("ICY 200 OK\r\na: b\r\nno colon\r\n", 3, "a colon"),
            ("ICY 200 OK\r\na: \0\r\n", 2, "a byte 0"),
            ("ICY 200 OK\r\nicy-metaint: 16777217\r\n\r\n", 3, "16777216 is the most"),
            ("ICY 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 3, "transfer-encoding"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", 3, "transfer-encoding"),
            ("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", 3, "content-length"),
        ] as [(String, Int, String)]
    )
    func `a fault in the head names its line`(text: String, line: Int, clause: String) {
        let fault = Self.fault(text)
        #expect(fault?.line == line && fault?.description.contains(clause) == true, "\(String(describing: fault))")
    }

    @Test func `a fault in a chunk names its byte`() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for chunk in ["x\r\n", "\r\n", "-1\r\n", "1\r\nab\r\n", "ffffffffffffffffff\r\n"] {
            let fault = Self.fault(head + chunk)
            #expect(fault?.line == nil && (fault?.byteOffset ?? 0) > head.utf8.count, "\(chunk)")
        }
    }

    @Test func `limits hold at the limit, and one past it is refused`() throws {
        let head = "ICY 200 OK\r\na: b\r\n\r\n"
        var limits = ICYResponseLimits()
        limits.headBytesMax = head.utf8.count
        limits.headLinesMax = 3
        #expect(try Self.read(head, limits: limits).count == 1)
        limits.headBytesMax -= 1
        #expect(Self.fault(head, limits: limits)?.description.contains("headBytesMax") == true)
        limits.headBytesMax += 1
        limits.headLinesMax -= 1
        #expect(Self.fault(head, limits: limits)?.description.contains("headLinesMax") == true)
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        var other = ICYResponseLimits()
        other.chunkLineBytesMax = 5
        #expect(try Self.read(chunked + "1;x\r\na\r\n", limits: other).count == 1)
        #expect(Self.fault(chunked + "1;xy\r\n", limits: other)?.description.contains("chunkLineBytesMax") == true)
    }
}
