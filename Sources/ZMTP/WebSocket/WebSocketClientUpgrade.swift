// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A client's side of the upgrade to WebSocket (RFC 6455 section 4.1), without its I/O.
///
/// ```swift
/// var upgrade = WebSocketClientUpgrade(host: "ads.example.com", path: "/", mechanism: .null, keyBytes: sixteenRandomBytes)
/// send(upgrade.request)
/// switch upgrade.read(received.span) {
/// case .needsMore: …  // all bytes were taken
/// case .open(let byteCount): …  // received[byteCount...] are frames
/// case .refused(let reason): …  // close
/// }
/// ```
package struct WebSocketClientUpgrade: Sendable {
    package enum Step: Hashable, Sendable {
        /// All bytes were taken; the answer has not come in full.
        case needsMore
        /// The peer speaks WebSocket. So many of the bytes were the end of its answer.
        case open(byteCount: Int)
        /// The peer does not, for a reason in a few words. Said again on every further call.
        case refused(String)
    }

    /// The longest head of an answer, in bytes.
    package static let webSocketAnswerBytesMax = 8_192
    /// How many characters of a peer's line a reason shows.
    private static let shownCharactersMax = 80

    /// The request, to be sent first.
    package let request: [UInt8]
    private let mechanism: ZWSMechanism
    /// The value that shows that the peer knows the protocol.
    private let accept: String
    private var head: [UInt8] = []
    private var refusal: String?

    /// - Parameters:
    ///   - host: the value of `Host`: a name or an address, with the port where it is not the usual one.
    ///   - path: path and query of the request, as they are sent.
    ///   - mechanism: the subprotocol that is asked for.
    ///   - keyBytes: 16 random bytes.
    package init(host: String, path: String, mechanism: ZWSMechanism, keyBytes: [UInt8]) {
        let key = WebSocketKey.base64(keyBytes)
        self.mechanism = mechanism
        self.accept = WebSocketKey.accept(key)
        self.request = Array(
            """
            GET \(path) HTTP/1.1\r
            Host: \(host)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: \(key)\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Protocol: \(mechanism.rawValue)\r
            \r

            """
            .utf8
        )
    }

    /// Reads the answer, which may be cut anywhere.
    ///
    /// Never traps, whatever the bytes are. It keeps at most `webSocketAnswerBytesMax` of them.
    package mutating func read(_ bytes: Span<UInt8>) -> Step {
        if let refusal { return .refused(refusal) }
        for index in bytes.indices {
            guard self.head.count < Self.webSocketAnswerBytesMax else {
                return self.refuse("its answer has more than \(Self.webSocketAnswerBytesMax) bytes")
            }
            self.head.append(bytes[index])
            guard self.head.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
            if let fault = self.fault() { return self.refuse(fault) }
            self.head = []
            return .open(byteCount: index + 1)
        }
        return .needsMore
    }

    private mutating func refuse(_ reason: String) -> Step {
        self.head = []
        self.refusal = reason
        return .refused(reason)
    }

    /// The rules for an answer (RFC 6455 section 4.1, the list behind "Once the client's opening handshake has been sent").
    private func fault() -> String? {
        let lines = String(decoding: self.head.dropLast(4), as: UTF8.self)
            .split(separator: "\r\n", omittingEmptySubsequences: false)
        let status = lines.first ?? ""
        guard status.hasPrefix("HTTP/1.1 101 ") || status == "HTTP/1.1 101" else {
            return "it answered \"\(Self.shown(status))\" to the request for a WebSocket"
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                return "its answer has the line \"\(Self.shown(line))\""
            }
            let name = line[..<colon].lowercased()
            let value = line[line.index(after: colon)...].trimmed
            // Several fields of one name are one list (RFC 9110 section 5.3).
            fields[name] = fields[name].map { "\($0), \(value)" } ?? String(value)
        }
        guard Self.list(fields["upgrade"]).contains("websocket"), Self.list(fields["connection"]).contains("upgrade")
        else { return "its answer does not upgrade to WebSocket" }
        guard fields["sec-websocket-accept"] == self.accept else {
            return "its answer does not fit the request for a WebSocket: Sec-WebSocket-Accept is another"
        }
        guard fields["sec-websocket-extensions"].map(\.isEmpty) ?? true else {
            return "it uses extensions of WebSocket that were not asked for"
        }
        guard fields["sec-websocket-protocol"] == self.mechanism.rawValue else {
            return "it does not speak \(self.mechanism.rawValue)"
        }
        return nil
    }

    /// The items of a list, without regard to capital letters.
    private static func list(_ value: String?) -> [String] {
        (value ?? "").split(separator: ",").map { $0.trimmed.lowercased() }
    }

    /// As much of a peer's text as a reason shows, without control characters.
    private static func shown(_ text: Substring) -> String {
        String(
            text.unicodeScalars.prefix(Self.shownCharactersMax)
                .map { $0.properties.generalCategory == .control ? "?" : Character($0) }
        )
    }
}

extension Substring {
    /// Without spaces and tabs at its ends (RFC 9110 section 5.5).
    fileprivate var trimmed: Substring {
        var text = self
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text.drop { $0 == " " || $0 == "\t" }
    }
}
