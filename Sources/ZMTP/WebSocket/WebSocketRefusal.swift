// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why a request is not upgraded; the client gets a short answer over HTTP.
package enum WebSocketRefusal: Error, Hashable, Sendable {
    /// The first byte is no HTTP.
    case notHTTP
    /// A line of the head is malformed; the first line is 1.
    case malformedLine(Int)
    /// The head is longer than ``WebSocketUpgradeReader/headBytesMax``.
    case headTooLong
    /// The head has more lines than ``WebSocketUpgradeReader/linesMax``.
    case tooManyLines
    case method
    case httpVersion
    /// The request has a body.
    case body
    /// The request asks for something else than WebSocket.
    case noUpgrade
    /// The request asks for another version of WebSocket than 13.
    case version
    /// A field is missing, invalid, or there twice.
    case field(String)
    /// The list has none of the subprotocols of ``ZWSMechanism``.
    case subprotocol
    /// The path is not the configured one.
    case path
    /// Pages of the origin may not listen here.
    case origin

    /// The code and reason phrase of the answer.
    package var status: String {
        switch self {
        case .notHTTP, .malformedLine, .body, .field, .subprotocol: "400 Bad Request"
        case .origin: "403 Forbidden"
        case .path: "404 Not Found"
        case .method: "405 Method Not Allowed"
        case .noUpgrade, .version: "426 Upgrade Required"
        case .headTooLong, .tooManyLines: "431 Request Header Fields Too Large"
        case .httpVersion: "505 HTTP Version Not Supported"
        }
    }

    /// The answer: a status and a sentence.
    package var answer: [UInt8] {
        let text = "This port serves listeners by ZeroMQ over WebSocket (ZWS2.0). The request is refused: \(self).\n"
        var head = """
            HTTP/1.1 \(self.status)\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Length: \(text.utf8.count)\r
            Connection: close\r

            """
        switch self {
        case .method: head += "Allow: GET\r\n"
        case .noUpgrade, .version: head += "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        default: break
        }
        return Array((head + "\r\n" + text).utf8)
    }
}

extension WebSocketRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notHTTP: "its first byte is not HTTP"
        case .malformedLine(let line): "line \(line) is malformed"
        case .headTooLong: "its head has more than \(WebSocketUpgradeReader.headBytesMax) bytes"
        case .tooManyLines: "its head has more than \(WebSocketUpgradeReader.linesMax) lines"
        case .method: "its method is not GET"
        case .httpVersion: "its version of HTTP is not 1.1"
        case .body: "it has a body"
        case .noUpgrade: "it asks for no upgrade to WebSocket"
        case .version: "its Sec-WebSocket-Version is not 13"
        case .field(let name): "the field \(name) is missing, invalid or repeated"
        case .subprotocol: "Sec-WebSocket-Protocol has neither ZWS2.0 nor ZWS2.0/NULL"
        case .path: "there is nothing at its path"
        case .origin: "pages of its origin may not listen here"
        }
    }
}
