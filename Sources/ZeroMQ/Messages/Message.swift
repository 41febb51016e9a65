// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

/// One frame, owned.
///
/// A few bytes live inside the frame itself and more of them behind a reference count, so that neither moving nor
/// ``copy()`` copies a large body. No pointer into a frame is ever handed out: read it inside ``withBytes(_:)``.
@safe
package struct Message: ~Copyable, Sendable {
    // libzmq keeps no pointer to a `zmq_msg_t` between calls, so a frame may move in memory. Content that two frames
    // share is never written and its reference count is atomic, so a frame may change threads.
    private var raw: zmq_msg_t

    /// An empty frame.
    package init() {
        var raw = zmq_msg_t()
        SystemCall.mustSucceed("zmq_msg_init") { unsafe zmq_msg_init(&raw) }
        self.raw = raw
    }

    /// A frame with room for `byteCount` bytes, which `fill` must all write.
    ///
    /// Running out of memory ends the process, as everywhere in Swift.
    @unsafe
    private init(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        var raw = zmq_msg_t()
        SystemCall.mustSucceed("zmq_msg_init_size") { unsafe zmq_msg_init_size(&raw, byteCount) }
        if byteCount > 0 {
            unsafe fill(UnsafeMutableRawBufferPointer(start: zmq_msg_data(&raw), count: byteCount))
        }
        self.raw = raw
    }

    /// A frame with a copy of `bytes`.
    package init(_ bytes: RawSpan) {
        unsafe self.init(byteCount: bytes.byteCount) { content in
            unsafe bytes.withUnsafeBytes { unsafe content.copyMemory(from: $0) }
        }
    }

    /// A frame with a copy of `bytes`.
    package init(_ bytes: [UInt8]) {
        unsafe self.init(byteCount: bytes.count) { unsafe $0.copyBytes(from: bytes) }
    }

    /// A frame with `head` followed by `tail`, in one allocation.
    ///
    /// For a small part made now in front of a large one that was encoded once for many.
    package init(head: RawSpan, tail: RawSpan) {
        unsafe self.init(byteCount: head.byteCount + tail.byteCount) { content in
            unsafe head.withUnsafeBytes { unsafe content.copyMemory(from: $0) }
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: content[head.byteCount...])
            unsafe tail.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
        }
    }

    deinit {
        var raw = self.raw
        SystemCall.mustSucceed("zmq_msg_close") { unsafe zmq_msg_close(&raw) }
    }

    /// The number of bytes.
    package var count: Int {
        unsafe withUnsafePointer(to: self.raw) { unsafe zmq_msg_size($0) }
    }

    /// Whether more frames of the same multipart message follow this received one.
    package var hasMore: Bool {
        unsafe withUnsafePointer(to: self.raw) { unsafe zmq_msg_more($0) } == 1
    }

    /// Lends the bytes to `body`.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe withUnsafePointer(to: self.raw) { (raw) throws(Failure) -> Result in
            try unsafe raw.withFrameBytes(body)
        }
    }

    /// A copy of the bytes.
    package borrowing func bytes() -> [UInt8] {
        self.withBytes { unsafe $0.withUnsafeBytes { unsafe Array($0) } }
    }

    /// A fact about the peer that sent this frame, such as `Peer-Address`, `User-Id` or `Socket-Type`.
    ///
    /// libzmq 4.3.4 loses it on the first frame after a poll: ask the last frame of a message.
    package borrowing func property(_ name: String) -> String? {
        unsafe withUnsafePointer(to: self.raw) { unsafe $0.frameProperty(name) }
    }

    /// A second owner of the same content, which is shared and not copied where it is large.
    ///
    /// Mutating, because libzmq marks the original as shared too.
    package mutating func copy() -> Message {
        var copy = Message()
        SystemCall.mustSucceed("zmq_msg_copy") { unsafe zmq_msg_copy(&copy.raw, &self.raw) }
        return copy
    }

    /// Runs `body`, which may replace the content, on the frame in place.
    @unsafe
    mutating func withRaw<Failure: Error>(
        _ body: (UnsafeMutablePointer<zmq_msg_t>) throws(Failure) -> CInt?
    ) throws(Failure) -> CInt? {
        try unsafe body(&self.raw)
    }
}

extension UnsafePointer<zmq_msg_t> {
    /// Lends the bytes of the frame, which must stay in place meanwhile: a small frame's bytes are inside it.
    @inline(__always)
    func withFrameBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // `zmq_msg_data` takes a mutable pointer because it hands one out; it changes nothing.
        let content = unsafe zmq_msg_data(UnsafeMutablePointer(mutating: self))
        let bytes = unsafe UnsafeRawBufferPointer(start: content, count: zmq_msg_size(self))
        return try unsafe body(RawSpan(_unsafeBytes: bytes))
    }

    /// The metadata `name` of the frame's sender.
    func frameProperty(_ name: String) -> String? {
        guard let value = unsafe zmq_msg_gets(self, name) else { return nil }
        return unsafe String(cString: value)
    }
}
