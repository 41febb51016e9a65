// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

/// Room for the frames of one multipart message, used again for every message.
///
/// ```swift
/// var frames = FrameBuffer(framesMax: FrameBuffer.requestFramesMax)
/// while try socket.receive(into: &frames) == .message {
///     guard let place = frames.requestReturn else { continue }
///     frames.withBytes(at: frames.count - 1) { body in … }
/// }
/// ```
@safe
package struct FrameBuffer: ~Copyable {
    /// One slot more than ``framesMax``: surplus frames are received into it and dropped.
    private let slots: UnsafeMutablePointer<zmq_msg_t>

    /// The most frames of one message that are kept.
    package let framesMax: Int

    /// The number of frames of the message received last.
    package private(set) var count = 0

    package init(framesMax: Int = 8) {
        precondition(framesMax >= 1, "a FrameBuffer holds at least one frame")
        unsafe self.slots = .allocate(capacity: framesMax + 1)
        self.framesMax = framesMax
        for index in 0...framesMax {
            unsafe (self.slots + index).initialize(to: zmq_msg_t())
            SystemCall.mustSucceed("zmq_msg_init") { unsafe zmq_msg_init(self.slots + index) }
        }
    }

    deinit {
        for index in 0...self.framesMax {
            SystemCall.mustSucceed("zmq_msg_close") { unsafe zmq_msg_close(self.slots + index) }
        }
        unsafe self.slots.deallocate()
    }

    /// Lends the bytes of one frame to `body`.
    @inline(__always)
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        at index: Int,
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe self.slot(index).withFrameBytes(body)
    }

    /// The number of bytes of one frame.
    package borrowing func byteCount(at index: Int) -> Int {
        unsafe zmq_msg_size(self.slot(index))
    }

    /// A copy of the bytes of one frame.
    package borrowing func bytes(at index: Int) -> [UInt8] {
        self.withBytes(at: index) { unsafe $0.withUnsafeBytes { unsafe Array($0) } }
    }

    /// Replaces the content of `bytes` by that of one frame, without allocating where there is room.
    package borrowing func copyBytes(at index: Int, into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        self.withBytes(at: index) { frame in unsafe frame.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
    }

    /// A fact about the peer that sent the message, such as `Peer-Address` or `User-Id`.
    ///
    /// It is read from the last frame, because libzmq 4.3.4 loses it on the first frame after a poll.
    package borrowing func property(_ name: String) -> String? {
        guard self.count > 0 else { return nil }
        return unsafe self.slot(self.count - 1).frameProperty(name)
    }

    /// The descriptor of the connection that the message came by; `nil`: libzmq does not tell.
    ///
    /// The connection may have ended meanwhile, and the number may belong to another one.
    package var sourceDescriptor: Int32? {
        guard self.count > 0 else { return nil }
        // libzmq 4.3.4 loses it on the first frame after a poll.
        let descriptor = unsafe zmq_msg_get(self.slot(self.count - 1), ZMQ_SRCFD)
        return descriptor >= 0 ? descriptor : nil
    }

    /// Whether this is what a router receives from a requester: a routing id, an empty frame, a body.
    ///
    /// One of a requester that tells answers apart has a frame more: see ``requestReturn``.
    package var isRequest: Bool {
        self.count == 3 && self.byteCount(at: 1) == 0
    }

    /// The most frames of a request that a router receives.
    package static let requestFramesMax = 4

    /// Where the answer goes, where this is a request: a routing id, a frame of four bytes where the requester tells answers apart by
    /// it (`requestCorrelate`), an empty frame, a body.
    package var requestReturn: RequestReturn? {
        if self.isRequest { return RequestReturn(self.routingID) }
        guard self.count == Self.requestFramesMax, self.byteCount(at: 1) == RequestReturn.correlationBytes,
            self.byteCount(at: 2) == 0
        else { return nil }
        return self.withBytes(at: 1) { RequestReturn(self.routingID, correlation: $0) }
    }

    /// The first frame of a message that a router received: the sender's routing id.
    package var routingID: RoutingID {
        self.withBytes(at: 0) { RoutingID($0) }
    }

    private borrowing func slot(_ index: Int) -> UnsafePointer<zmq_msg_t> {
        precondition(index >= 0 && index < self.count, "frame \(index) of \(self.count)")
        return unsafe UnsafePointer(self.slots + index)
    }

    /// Receives one message by calling `receive` per frame; `receive` says whether there was one.
    mutating func fill(
        _ receive: (UnsafeMutablePointer<zmq_msg_t>) throws(ZeroMQError) -> Bool
    ) throws(ZeroMQError) -> MultipartOutcome {
        self.count = 0
        var received = 0
        while true {
            let slot = unsafe self.slots + min(received, self.framesMax)
            guard try unsafe receive(slot) else {
                // libzmq delivers the frames of a message all together or not at all.
                guard received == 0 else { throw .truncatedMessage }
                return .nothing
            }
            received += 1
            guard unsafe zmq_msg_more(slot) == 1 else { break }
        }
        self.count = min(received, self.framesMax)
        return received > self.framesMax ? .tooManyFrames(received) : .message
    }
}

/// The results of ``Socket/receive(into:)``.
package enum MultipartOutcome: Hashable, Sendable {
    /// No message was waiting.
    case nothing

    /// A message, whole.
    case message

    /// A message of this many frames, more than the buffer holds.
    ///
    /// The first ones are in the buffer, so that a router can tell the sender; the rest was received and dropped.
    case tooManyFrames(Int)
}

extension ZeroMQError {
    fileprivate static var truncatedMessage: ZeroMQError {
        ZeroMQError(operation: "zmq_msg_recv", code: .protocolError, detail: "the message ended before its last frame")
    }
}
