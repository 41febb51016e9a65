// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport
import Testing

/// What tells players of other gateways: the addresses of a join's answer, and the head that asks to move.
@Suite(.suiteLimit)
struct MoveTests {
    /// The fields of `Joined` before it named other gateways.
    private enum OlderJoinedField: Int, MessageField {
        case kind = 1
        case head = 2
        case notices = 3
        case instance = 4
        case headIntervalMs = 5
        case leaseMs = 6
        case ticket = 7
        case pushed = 8

        var type: MessageFieldType {
            switch self {
            case .kind: .enumeration
            case .head, .notices: .message
            case .instance: .fixed64
            case .headIntervalMs, .leaseMs: .uint32
            case .ticket: .bytes
            case .pushed: .bool
            }
        }
    }

    /// Those of `Notice` that a head had before one could ask to move.
    private enum OlderNoticeField: Int, MessageField {
        case position = 1
        case kind = 2
        case sentUs = 9

        var type: MessageFieldType {
            switch self {
            case .position: .message
            case .kind: .enumeration
            case .sentUs: .int64
            }
        }
    }

    private static let texts = [
        "tcp://gw-2.ads.example.org:7401", "tls://192.0.2.7:7401", "tcp://[2001:db8::1]:7401", "ws://gw-2.example",
        "wss://gw-2.example:8443/listen?x=1", "http://gw-2.example", "https://gw-2.example/",
        "wss://[2001:db8::1]/listen", "https://[2001:db8::1]:65535", "ws://192.0.2.7?x=1:2",
    ]

    private func address(_ text: String) throws -> PlayerAddress { try #require(PlayerAddress(text), "\(text)") }

    private func joined(_ alternatives: [PlayerAddress]) -> ListenerReply.Joined {
        ListenerReply.Joined(
            kind: .current,
            head: Position(epoch: 7, sequence: 9),
            notices: [],
            instance: 5,
            headInterval: .seconds(5),
            lease: .seconds(300),
            ticket: [1, 2, 3],
            pushed: true,
            alternatives: alternatives
        )
    }

    @Test func `addresses that clients know are read as they are written`() throws {
        for text in Self.texts { #expect(try self.address(text).description == text) }
        #expect(
            try Self.texts.map { try self.address($0).scheme } == [
                .tcp, .tls, .tcp, .ws, .wss, .http, .https, .wss, .https, .ws,
            ]
        )
    }

    @Test(arguments: [
        "", "gw:7401", "tcp://", "tcp://gw", "tcp://:7401", "tcp://gw:0", "tcp://gw:65536", "tcp://gw:7401/path",
        "tls://gw",
        "TCP://gw:7401", "ftp://gw", "ws://", "ws:///path", "http://:80", "https://user@gw", "ws://gw/a b",
        "ws://gw/#part",
        "wss://gw:99999/", "https://gw:0", "wss://gw:/", "ws://gw:http/", "ws://[x/", "ws://[x]/", "ws://a:b:c/",
        "ws://::1/",
        "ws://[::1]x/", "ws://[::1]:/", "wss://gw]/", "http://]:80", "http://1.2.3/", "wss://a..b/", "ws://gw%/",
        "http://gw!",
        "ws://\(String(repeating: "a", count: 64))/", "ws://?x=1",
        "ws://gw/\u{7F}", "ws://gw/ä", "ws://gw,ws://other", "ws://gw/\"",
    ]) func `a text that is no address is passed over`(text: String) {
        #expect(PlayerAddress(text) == nil)
        #expect(
            PlayerAddress.readable([text, "tcp://gw:1", text, "tcp://gw:1"], atMost: 4).map(\.description) == [
                "tcp://gw:1"
            ]
        )
    }

    @Test func `an address has its longest length, and is none with one byte more`() throws {
        let most = "ws://gw/" + String(repeating: "a", count: WireLimits.addressBytesMax - 8)
        #expect(PlayerAddress(most) != nil && PlayerAddress(most + "a") == nil)
    }

    @Test func `a join names as many others as may be, and further ones are passed over`() throws {
        let named = try (0..<WireLimits.alternativesMax).map { try self.address("tcp://gw-\($0):7401") }
        let reply = ListenerReply(
            requestID: 1,
            gatewayTime: Timestamp(microseconds: 1),
            body: .joined(self.joined(named))
        )
        #expect(try ListenerReply(decoding: reply.encoded()) == reply)
        var more = reply
        more.body = .joined(self.joined(named + [try self.address("tcp://one-more:7401")]))
        #expect(try ListenerReply(decoding: more.encoded()) == reply, "a listener is not refused for it")
    }

    @Test func `a beat has as many addresses as may be advertised, and further ones are passed over`() throws {
        var beat = GatewayBeat(gateway: 1, writer: 2, number: 3, clock: Timestamp(microseconds: 4))
        beat.advertised = try (0..<WireLimits.advertisedAddressesMax).map { try self.address("tls://gw-\($0):7401") }
        #expect(try GatewayBeat(decoding: beat.encoded()) == beat)
        var more = beat
        more.advertised.append(try self.address("tls://one-more:7401"))
        #expect(try GatewayBeat(decoding: more.encoded()) == beat)
    }

    @Test func `a request to move holds the addresses that fit, and its time is cut`() throws {
        // 93 bytes and three more.
        let long = try (0..<10).map { try self.address("ws://gw/\($0)" + String(repeating: "a", count: 84)) }
        let most = Move(within: .milliseconds(WireLimits.moveMillisecondsMax), addresses: Array(long.prefix(8)))
        #expect(most.addresses.count * 96 == WireLimits.moveAddressesBytesMax)
        #expect(Move(within: .milliseconds(WireLimits.moveMillisecondsMax + 1), addresses: long) == most)
        #expect(Move(within: .seconds(-1), addresses: []).within == .zero)

        let stream = try StreamID(Raw.text(WireLimits.streamIDBytesMax))
        let head = Notice.head(
            Position(epoch: .max, sequence: .max),
            sent: Timestamp(microseconds: .min),
            move: most
        )
        let frame = NoticeFrame.notice(head, stream: stream)
        #expect(frame.encoded().count <= WireLimits.noticeFrameBytesMax)
        #expect(try NoticeFrame(decoding: frame.encoded()) == frame)
    }

    @Test func `only a head asks to move`() throws {
        var notice = Notice.head(
            Position(epoch: 1, sequence: 1),
            sent: Timestamp(microseconds: 1),
            move: Move(within: .seconds(5), addresses: [try self.address("tcp://gw:7401")])
        )
        notice.kind = .available
        notice.breakID = try BreakID("b")
        let frame = NoticeFrame.notice(notice, stream: try StreamID("radio1")).encoded()
        guard case .notice(let read, _) = try NoticeFrame(decoding: frame) else {
            Issue.record("no notice")
            return
        }
        #expect(read.move == nil)
    }

    @Test func `clients of earlier versions find what they know, and older gateways ask for nothing`() throws {
        let named = try Self.texts.map { try self.address($0) }
        let reply = ListenerReply(
            requestID: 1,
            gatewayTime: Timestamp(microseconds: 1),
            body: .joined(self.joined(named))
        )
        let frame = reply.encoded()
        var fields = FieldReader<ReplyField>(0..<frame.count)
        var found: [OlderJoinedField: UInt64] = [:]
        var ticket: [UInt8] = []
        while let field = fields.next(in: frame.span) {
            guard case .bytes(.joined, let range) = field else { continue }
            var inner = FieldReader<OlderJoinedField>(range)
            while let field = inner.next(in: frame.span) {
                switch field {
                case .varint(.kind, let value): found[.kind] = value
                case .fixed64(.instance, let value): found[.instance] = value
                case .varint(.headIntervalMs, let value): found[.headIntervalMs] = value
                case .varint(.leaseMs, let value): found[.leaseMs] = value
                case .varint(.pushed, let value): found[.pushed] = value
                case .bytes(.ticket, let range): ticket = range.map { frame[$0] }
                case .unreadable: Issue.record("it cannot be read")
                default: continue
                }
            }
        }
        #expect(found == [.kind: 1, .instance: 5, .headIntervalMs: 5_000, .leaseMs: 300_000, .pushed: 1])
        #expect(ticket == [1, 2, 3])

        // The head that asks to move is a head.
        let sent = Timestamp(microseconds: 1_234)
        let head = Notice.head(
            Position(epoch: 7, sequence: 9),
            sent: sent,
            move: Move(within: .seconds(5), addresses: named)
        )
        let notice = NoticeFrame.notice(head, stream: try StreamID("radio1")).encoded()
        var body = FieldReader<OlderNoticeField>(7..<notice.count)
        var kind: UInt64?
        var time: UInt64?
        while let field = body.next(in: notice.span) {
            switch field {
            case .varint(.kind, let value): kind = value
            case .varint(.sentUs, let value): time = value
            case .unreadable: Issue.record("it cannot be read")
            default: continue
            }
        }
        #expect(kind == UInt64(Notice.Kind.head.rawValue) && time == 1_234)

        // Answers and beats of older gateways name no others.
        let older = ListenerReply(requestID: 1, gatewayTime: sent, body: .joined(self.joined([])))
        #expect(try ListenerReply(decoding: older.encoded()) == older)
        let beat = GatewayBeat(gateway: 1, writer: 2, number: 3, clock: sent)
        #expect(try GatewayBeat(decoding: beat.encoded()).advertised.isEmpty)
        #expect(Notice.head(Position(epoch: 7, sequence: 9), sent: sent).move == nil)
    }
}
