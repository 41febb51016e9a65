// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import ZMTP

/// One ZMTP connection from a listener's side, without its I/O: bytes come in and go out, and what they mean comes out.
///
/// ```swift
/// var link = WireLink(.requests)
/// send(link.takeOutput())
/// link.received(bytes)
/// while let event = link.next() { handle(event) }
/// send(link.takeOutput())
/// ```
///
/// By WebSocket the same frames go through a `WebSocketCarrier`.
///
/// It holds at most one frame that has not come in full, and what `next()` has not been asked for.
struct WireLink: Sendable {
    enum Channel: Hashable, Sendable {
        /// A DEALER: requests, their replies, and notices.
        case requests
        /// A SUB: notices.
        case notices
    }

    enum Event: Hashable, Sendable {
        /// The handshake is done.
        case opened
        case notice([UInt8])
        case reply([UInt8])
        /// A message that is neither.
        case dropped
        /// The peer closed the WebSocket, with this code if it gave one. Nothing follows.
        case closed(code: UInt16?)
        /// The peer cannot be talked to, for a reason in a few words. Nothing follows.
        case failed(reason: String)
    }

    /// The most frames of one message; a peer that sends more is disconnected, because such a message may never end.
    static let framesPerMessageMax = 64
    /// The most bytes of subscriptions that wait for the handshake.
    static let subscriptionBytesWaitingMax = 65_536

    let channel: Channel
    /// Whether a PING is answered; not while the peer does not take what is sent to it.
    var answersPings = true
    private(set) var isOpen = false
    private var session: Session
    /// `nil`: ZMTP's bytes go as they are.
    private var webSocket: WebSocketCarrier?
    private var buffer: [UInt8] = []
    /// How much of `buffer` has been read.
    private var offset = 0
    private var output: [UInt8]
    /// Subscriptions from before the handshake was done, in order.
    private var subscriptions: [(topic: [UInt8], cancel: Bool)] = []
    private var subscriptionBytes = 0
    /// How many frames of the message have come.
    private var frames = 0
    /// Its first frame, where that can be a notice or a delimiter.
    private var first: [UInt8]?
    /// Its second frame, where that can be a reply.
    private var second: [UInt8]?
    private var isOver = false

    /// A link whose connection is made.
    ///
    /// - Parameters:
    ///   - channel: its purpose.
    ///   - webSocket: the host and the path, where the connection is to become a WebSocket; `nil`: ZMTP begins at once.
    init(_ channel: Channel, over webSocket: WebSocketAddress? = nil) {
        let (type, frameBytesMax): (SocketType, Int) =
            switch channel {
            case .requests: (.dealer, WireLimits.replyFrameBytesMax)
            case .notices: (.sub, WireLimits.noticeFrameBytesMax)
            }
        self.channel = channel
        self.webSocket = webSocket.map { WebSocketCarrier(to: $0, frameBytesMax: frameBytesMax) }
        self.session = Session(
            type,
            minor: 1,
            frameBytesMax: frameBytesMax,
            start: webSocket == nil ? .greeting : .routingID
        )
        self.output = []
        if webSocket == nil {
            self.output = self.session.greeting
        } else {
            // The routing id: none.
            Outgoing.appendFrame([], more: false, to: &self.output)
        }
    }

    /// Whether the peer answers a PING: it speaks ZMTP 3.1, or WebSocket.
    var canPing: Bool { self.isOpen && (self.webSocket != nil || self.session.peerMinor >= 1) }

    /// How many bytes have come and are not understood yet.
    var bytesWaiting: Int { self.buffer.count - self.offset }

    /// The bytes to send now; they are forgotten here.
    mutating func takeOutput() -> [UInt8] {
        if self.webSocket != nil { return self.webSocket?.takeOutput(&self.output) ?? [] }
        defer { self.output = [] }
        return self.output
    }

    mutating func received(_ bytes: Span<UInt8>) {
        guard !self.isOver else { return }
        guard self.webSocket == nil else {
            self.webSocket?.answersPings = self.answersPings
            self.webSocket?.received(bytes, into: &self.buffer)
            return
        }
        self.buffer.reserveCapacity(self.buffer.count + bytes.count)
        for index in bytes.indices { self.buffer.append(bytes[index]) }
    }

    /// The next event; `nil`: none before more bytes come.
    mutating func next() -> Event? {
        guard !self.isOver else { return nil }
        while true {
            switch Self.read(&self.session, self.buffer, &self.offset) {
            case .needsMore:
                self.buffer.removeFirst(self.offset)
                self.offset = 0
                return self.webSocketEnd()
            case .greeted: self.output += self.session.ready()
            case .ready:
                self.open()
                return .opened
            case .frame(let body, let more): if let event = self.frame(body, more: more) { return event }
            case .ping(let context):
                if self.answersPings { Outgoing.appendPong(context: Array(self.buffer[context]), to: &self.output) }
            case .pong, .subscribe, .cancel: break
            case .failed(let error): return self.fail(error.description)
            }
        }
    }

    private static func read(_ session: inout Session, _ bytes: [UInt8], _ offset: inout Int) -> Session.Event {
        session.next(in: bytes.span, at: &offset)
    }

    /// Sends a request; before the handshake is done it is dropped.
    mutating func send(_ request: [UInt8]) {
        guard self.isOpen else { return }
        Outgoing.appendRequest(request, to: &self.output)
    }

    /// Subscribes, or ends a subscription; what comes before the handshake is done is sent right after it, in order.
    ///
    /// - Returns: `false` where too much waits.
    mutating func subscribe(_ topic: [UInt8], cancel: Bool) -> Bool {
        guard self.isOpen else {
            guard self.subscriptionBytes + topic.count + 1 <= Self.subscriptionBytesWaitingMax else { return false }
            self.subscriptionBytes += topic.count + 1
            self.subscriptions.append((topic, cancel))
            return true
        }
        self.appendSubscription(topic, cancel: cancel)
        return true
    }

    /// Asks the peer for a sign of life; `timeToLive` is how long it may take silence for.
    mutating func ping(timeToLiveTenths: UInt16) {
        guard self.webSocket == nil else {
            self.webSocket?.ping()
            return
        }
        Outgoing.appendPing(ttlTenths: timeToLiveTenths, to: &self.output)
    }

    /// Says that this side closes, where the transport has a way to; nothing may be sent after that.
    mutating func close() { self.webSocket?.close() }

    /// The meaning of the end of the WebSocket, once all frames before it have been read.
    private mutating func webSocketEnd() -> Event? {
        switch self.webSocket?.end {
        case nil: return nil
        case .closed(let code):
            self.isOver = true
            return .closed(code: code)
        case .failed(let reason): return self.fail(reason)
        }
    }

    private mutating func open() {
        self.isOpen = true
        for (topic, cancel) in self.subscriptions { self.appendSubscription(topic, cancel: cancel) }
        self.subscriptions = []
        self.subscriptionBytes = 0
    }

    private mutating func appendSubscription(_ topic: [UInt8], cancel: Bool) {
        let asCommand = self.session.subscribesByCommand
        Outgoing.appendSubscription(topic, cancel: cancel, asCommand: asCommand, to: &self.output)
    }

    /// Adds a frame to the message; what the message is, where that was its last.
    ///
    /// One frame is a notice; an empty frame and another one, where requests go, are a reply.
    private mutating func frame(_ body: Range<Int>, more: Bool) -> Event? {
        self.frames += 1
        if self.frames == 1, body.count <= WireLimits.noticeFrameBytesMax {
            self.first = Array(self.buffer[body])
        } else if self.frames == 2, self.channel == .requests, self.first?.isEmpty == true, !more {
            self.second = Array(self.buffer[body])
        }
        guard !more else {
            guard self.frames < Self.framesPerMessageMax else {
                return self.fail("a message has more than \(Self.framesPerMessageMax) frames")
            }
            return nil
        }
        defer { (self.frames, self.first, self.second) = (0, nil, nil) }
        if self.frames == 1, let first { return .notice(first) }
        if self.frames == 2, let second { return .reply(second) }
        return .dropped
    }

    private mutating func fail(_ reason: String) -> Event {
        self.isOver = true
        self.buffer = []
        self.offset = 0
        return .failed(reason: reason)
    }
}
