// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

/// One option: what can be set, and what must be refused.
struct OptionCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: @Sendable (Context) throws -> Void

    /// An option that is read back as it was set.
    static func reads<Value: Equatable & Sendable>(
        _ kind: SocketKind,
        _ name: String,
        _ option: SocketOption<Value>,
        default initial: Value,
        _ values: [Value],
        refuses refused: [Value] = []
    ) -> OptionCase {
        OptionCase(testDescription: name) { context in
            let socket = try Socket(kind, in: context)
            #expect(try socket.get(option) == initial)
            for value in values {
                try socket.set(option, to: value)
                #expect(try socket.get(option) == value)
            }
            for value in refused {
                let error = #expect(throws: ZeroMQError.self) { try socket.set(option, to: value) }
                #expect(error?.code == .invalidArgument)
                #expect(try socket.get(option) == values.last)
            }
        }
    }

    /// An option that libzmq does not read back, and that only one kind of socket has.
    static func writes(_ kind: SocketKind, _ name: String, _ option: SocketOption<Bool>) -> OptionCase {
        OptionCase(testDescription: name) { context in
            let socket = try Socket(kind, in: context)
            try socket.set(option, to: true)
            try socket.set(option, to: false)
            #expect(throws: ZeroMQError.self) { try socket.get(option) }
            let stranger = try Socket(.pull, in: context)
            let error = #expect(throws: ZeroMQError.self) { try stranger.set(option, to: true) }
            #expect(error?.code == .invalidArgument)
            #expect(error?.detail?.hasSuffix(" = true") == true)
        }
    }
}

@Suite(.suiteLimit)
struct OptionTests {
    static let longestTime = Duration.milliseconds(Int32.max)
    static let tooLong = longestTime + .milliseconds(1)

    static let numbers: [OptionCase] = [
        .reads(.xpub, "sendHighWaterMark", .sendHighWaterMark, default: 1000, [0, 1, 64, .max], refuses: [-1]),
        .reads(.router, "receiveHighWaterMark", .receiveHighWaterMark, default: 1000, [0, 16, .max], refuses: [-1]),
        .reads(.router, "backlog", .backlog, default: 100, [0, 4096], refuses: [-1]),
        .reads(.router, "messageBytesMax", .messageBytesMax, default: -1, [0, 4096, .max, -1], refuses: [-2]),
        .reads(.sub, "tcpKeepaliveCount", .tcpKeepaliveCount, default: nil, [1, 4, nil], refuses: [0, -1, -2]),
    ]

    static let flags: [OptionCase] = [
        .reads(.dealer, "immediate", .immediate, default: false, [true, false]),
        .reads(.dealer, "ipv6", .ipv6, default: false, [true, false]),
        .reads(.router, "curveServer", .curveServer, default: false, [true, false]),
        .reads(.sub, "tcpKeepalive", .tcpKeepalive, default: nil, [true, false, nil]),
        .writes(.xpub, "xpubNoDrop", .xpubNoDrop),
        .writes(.xpub, "xpubVerbose", .xpubVerbose),
        .writes(.xpub, "xpubVerboser", .xpubVerboser),
        .writes(.router, "routerMandatory", .routerMandatory),
        .writes(.req, "requestRelaxed", .requestRelaxed),
        .writes(.req, "requestCorrelate", .requestCorrelate),
        .writes(.dealer, "probeRouter", .probeRouter),
    ]

    static let times: [OptionCase] = [
        .reads(.sub, "linger", .linger, default: .zero, [.seconds(1), .zero], refuses: [.milliseconds(-1)]),
        .reads(
            .router,
            "handshakeInterval",
            .handshakeInterval,
            default: .seconds(30),
            [.zero, .seconds(3), longestTime],
            refuses: [.milliseconds(-1), tooLong]
        ),
        .reads(
            .router,
            "tcpRetransmissionTimeout",
            .tcpRetransmissionTimeout,
            default: .zero,
            [.seconds(25), .zero],
            refuses: [.milliseconds(-1)]
        ),
        .reads(.sub, "connectTimeout", .connectTimeout, default: .zero, [.seconds(5)], refuses: [.milliseconds(-1)]),
        .reads(
            .sub,
            "heartbeatInterval",
            .heartbeatInterval,
            default: .zero,
            [.seconds(20), .zero],
            refuses: [.milliseconds(-1)]
        ),
        .reads(
            .sub,
            "heartbeatTimeToLive",
            .heartbeatTimeToLive,
            default: .zero,
            [.milliseconds(100), .seconds(60), .seconds(65)],
            refuses: [.milliseconds(65_001), .milliseconds(-1)]
        ),
        .reads(
            .sub,
            "heartbeatTimeout",
            .heartbeatTimeout,
            default: nil,
            [.zero, .seconds(5)],
            refuses: [nil, .milliseconds(-1)]
        ),
        .reads(
            .sub,
            "reconnectInterval",
            .reconnectInterval,
            default: .milliseconds(100),
            [.milliseconds(250), .zero, nil],
            refuses: [.milliseconds(-1), tooLong]
        ),
        .reads(
            .sub,
            "reconnectIntervalMax",
            .reconnectIntervalMax,
            default: .zero,
            [.seconds(30), .zero],
            refuses: [.milliseconds(-1)]
        ),
        .reads(
            .sub,
            "tcpKeepaliveIdle",
            .tcpKeepaliveIdle,
            default: nil,
            [.seconds(60), nil],
            refuses: [.seconds(-1)]
        ),
        .reads(
            .sub,
            "tcpKeepaliveInterval",
            .tcpKeepaliveInterval,
            default: nil,
            [.seconds(15), nil],
            refuses: [.seconds(-1)]
        ),
    ]

    static let texts: [OptionCase] = [
        .reads(
            .router,
            "zapDomain",
            .zapDomain,
            default: "",
            ["cuecast", String(repeating: "z", count: 255)],
            refuses: [String(repeating: "z", count: 256), "zero\0byte"]
        ),
        .reads(
            .dealer,
            "routingID",
            .routingID,
            default: [],
            [[1], [UInt8](repeating: 7, count: 255)],
            refuses: [[], [UInt8](repeating: 7, count: 256), [0, 1]]
        ),
    ]

    @Test(arguments: numbers + flags + times + texts)
    func `an option holds what it is set to and refuses what it cannot hold`(option: OptionCase) throws {
        try option.check(try Context())
    }

    @Test func `a time is rounded up to what libzmq counts in`() throws {
        let socket = try Socket(.sub, in: try Context())
        try socket.set(.handshakeInterval, to: .microseconds(1))
        #expect(try socket.get(.handshakeInterval) == .milliseconds(1))
        try socket.set(.tcpKeepaliveIdle, to: .milliseconds(59_001))
        #expect(try socket.get(.tcpKeepaliveIdle) == .seconds(60))
    }

    @Test func `a refused value is named with its option`() throws {
        let socket = try Socket(.sub, in: try Context())
        let error = #expect(throws: ZeroMQError.self) { try socket.set(.heartbeatTimeToLive, to: .seconds(66)) }
        #expect(error?.detail == "ZMQ_HEARTBEAT_TTL = 66.0 seconds")
        #expect(error?.operation == "zmq_setsockopt")
    }

    @Test func `the kind of a socket cannot be set`() throws {
        let socket = try Socket(.router, in: try Context())
        #expect(try socket.get(.mechanism) == .null)
        #expect(try socket.get(.lastEndpoint) == "")
        #expect(throws: ZeroMQError.self) { try socket.set(.mechanism, to: .curve) }
        #expect(throws: ZeroMQError.self) { try socket.set(.lastEndpoint, to: "tcp://127.0.0.1:1") }
    }

    @Test func `keys are read back as they were set`() throws {
        let socket = try Socket(.dealer, in: try Context())
        let (mine, theirs) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
        try socket.secureAsClient(mine, serverKey: theirs.publicKey)
        #expect(try socket.get(.curvePublicKey) == mine.publicKey)
        #expect(try socket.get(.curveSecretKey) == mine.secretKey)
        #expect(try socket.get(.curveServerKey) == theirs.publicKey)
        #expect(try socket.get(.curveServer) == false)
        #expect(try socket.get(.mechanism) == .curve)
    }

    @Test(arguments: SocketKind.allCases)
    func `every kind of socket can be made`(kind: SocketKind) throws {
        #expect(try Socket(kind, in: try Context()).kind == kind)
    }
}
