// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads WebSocket frames that carry ZeroMQ frames (RFC 45), and writes these as ZMTP has them, unmasked.
///
/// What reads ZMTP reads its output, so that one protocol is behind both transports:
///
/// ```swift
/// while true {
///     switch reader.next(in: received.span, at: &offset, into: &plain, at: &end) {
///     case .needsMore: …  // plain[..<end] is for a `Session`
///     case .ping(let payload): …  // send a pong
///     …
///     }
/// }
/// ```
///
/// A stream may be cut anywhere. All bytes are taken as they come: it keeps only the beginning of a frame's header, a control frame and
/// the fragments of a message, which are bounded.
package struct WebSocketFrameReader: Sendable {
    /// The next event in the bytes of the peer; what ZeroMQ frames there were before it is in the output.
    package enum Event: Hashable, Sendable {
        /// All bytes were taken.
        case needsMore
        /// A ping: send a pong with this payload.
        case ping([UInt8])
        case pong
        /// The peer closes, with this code if it gave one: send a close frame with the same code, then close.
        ///
        /// What comes after it is dropped.
        case close(UInt16?)
        /// The peer violates the protocol: send a close frame, then close. Said again on every further call.
        case failed(WebSocketFailure)
    }

    private enum State: Hashable, Sendable {
        case header
        case payload(WebSocketFrameHeader)
        case closed
        case failed(WebSocketFailure)
    }

    /// The most fragments of a message where nothing else is said.
    package static let fragmentsDefaultMax = 64

    /// Whether the peer is a client, which masks its frames.
    private let isMasked: Bool
    /// The longest ZeroMQ frame, in bytes.
    private let frameBytesMax: Int
    /// The most fragments of a message.
    private let fragmentsMax: Int
    private var state = State.header
    /// The beginning of a header that is not there in full.
    private var partialHeader: [UInt8] = []
    /// How many bytes of the payload at hand were taken.
    private var taken = 0
    /// The payload of a control frame.
    private var control: [UInt8] = []
    /// How many fragments of a message have come; 0: no message has begun.
    private var fragmentCount = 0
    /// Their payloads, one behind the other.
    private var fragments: [UInt8] = []

    /// - Parameters:
    ///   - isMasked: whether the peer is a client, which masks its frames.
    ///   - frameBytesMax: the longest ZeroMQ frame, in bytes.
    ///   - fragmentsMax: the most fragments of a message.
    package init(
        ofClient isMasked: Bool,
        frameBytesMax: Int,
        fragmentsMax: Int = fragmentsDefaultMax
    ) {
        self.isMasked = isMasked
        self.frameBytesMax = frameBytesMax
        self.fragmentsMax = fragmentsMax
    }

    /// The bytes that it keeps.
    package var bytesHeld: Int { self.partialHeader.count + self.control.count + self.fragments.count }

    /// Reads on at `offset` until something happens, and moves `offset` behind it.
    ///
    /// Never traps, whatever the bytes are.
    ///
    /// - Parameters:
    ///   - bytes: of the peer.
    ///   - offset: where they begin.
    ///   - output: gets the ZeroMQ frames, as ZMTP has them; grows where it has no room.
    ///   - end: where the output ends.
    /// - Returns: the event.
    package mutating func next(
        in bytes: Span<UInt8>,
        at offset: inout Int,
        into output: inout [UInt8],
        at end: inout Int
    ) -> Event {
        do throws(WebSocketFailure) {
            while true {
                switch self.state {
                case .header:
                    guard let header = try self.header(in: bytes, at: &offset) else { return .needsMore }
                    try self.begin(header)
                case .payload(let header):
                    try self.take(header, in: bytes, at: &offset, into: &output, at: &end)
                    guard UInt64(self.taken) == header.payloadBytes else { return .needsMore }
                    self.state = .header
                    if let event = try self.end(header, into: &output, at: &end) { return event }
                case .closed:
                    offset = bytes.count
                    return .needsMore
                case .failed(let failure): return .failed(failure)
                }
            }
        } catch {
            self.state = .failed(error)
            self.fragments = []
            return .failed(error)
        }
    }

    // MARK: - Headers

    private mutating func header(
        in bytes: Span<UInt8>,
        at offset: inout Int
    ) throws(WebSocketFailure) -> WebSocketFrameHeader? {
        if self.partialHeader.isEmpty {
            if let header = try WebSocketFrameHeader.read(bytes, at: offset, isMasked: self.isMasked) {
                offset += header.headerBytes
                return header
            }
        }
        while offset < bytes.count {
            self.partialHeader.append(bytes[offset])
            offset += 1
            guard
                let header = try WebSocketFrameHeader.read(self.partialHeader.span, at: 0, isMasked: self.isMasked)
            else { continue }
            self.partialHeader = []
            return header
        }
        return nil
    }

    /// A frame begins.
    private mutating func begin(_ header: WebSocketFrameHeader) throws(WebSocketFailure) {
        self.taken = 0
        self.state = .payload(header)
        guard !header.opcode.isControl else { return }
        let isContinuation = header.opcode == .continuation
        guard isContinuation == (self.fragmentCount > 0) else {
            throw isContinuation ? .nothingToContinue : .messageInMessage
        }
        // One byte has the flags.
        let bytes = header.payloadBytes.addingReportingOverflow(UInt64(self.fragments.count))
        let bytesMax = self.frameBytesMax + 1
        guard !bytes.overflow, bytes.partialValue <= UInt64(bytesMax) else {
            throw .tooLong(bytes: bytes.overflow ? .max : bytes.partialValue, bytesMax: bytesMax)
        }
        guard self.isFragment(header) else {
            guard header.payloadBytes > 0 else { throw .noFlags }
            return
        }
        self.fragmentCount += 1
        guard self.fragmentCount <= self.fragmentsMax else {
            throw .tooManyFragments(fragmentsMax: self.fragmentsMax)
        }
    }

    private func isFragment(_ header: WebSocketFrameHeader) -> Bool {
        header.opcode == .continuation || !header.isFinal
    }

    // MARK: - Payloads

    /// Takes what is there of a frame's payload.
    private mutating func take(
        _ header: WebSocketFrameHeader,
        in bytes: Span<UInt8>,
        at offset: inout Int,
        into output: inout [UInt8],
        at end: inout Int
    ) throws(WebSocketFailure) {
        // What is left is no more than the limits allow.
        var count = min(bytes.count - offset, Int(header.payloadBytes) - self.taken)
        guard count > 0 else { return }
        if header.opcode.isControl {
            for _ in 0..<count { self.control.append(self.takeByte(header, in: bytes, at: &offset)) }
        } else if self.isFragment(header) {
            for _ in 0..<count { self.fragments.append(self.takeByte(header, in: bytes, at: &offset)) }
        } else {
            if self.taken == 0 {
                let flags = self.takeByte(header, in: bytes, at: &offset)
                try Self.write(flags, bodyBytes: Int(header.payloadBytes) - 1, into: &output, at: &end)
                count -= 1
            }
            Self.makeRoom(for: count, in: &output, at: end)
            Self.unmask(
                bytes.extracting(offset..<(offset + count)),
                WebSocketMask(header.mask, after: self.taken),
                into: &output,
                at: end
            )
            self.taken += count
            offset += count
            end += count
        }
    }

    /// Writes bytes without their mask over those of the output, which has room for them.
    private static func unmask(_ bytes: Span<UInt8>, _ mask: WebSocketMask, into output: inout [UInt8], at end: Int) {
        precondition(output.count - end >= bytes.count)
        // Safety: the room was checked above, and no pointer outlives the call.
        unsafe bytes.withUnsafeBytes { source in
            unsafe output.withUnsafeMutableBytes { output in
                unsafe mask.apply(
                    to: source,
                    into: UnsafeMutableRawBufferPointer(rebasing: output[end..<(end + source.count)])
                )
            }
        }
    }

    @inline(__always)
    private mutating func takeByte(_ header: WebSocketFrameHeader, in bytes: Span<UInt8>, at offset: inout Int) -> UInt8
    {
        let byte = bytes[offset] ^ WebSocketMask(header.mask, after: 0)[self.taken]
        self.taken += 1
        offset += 1
        return byte
    }

    /// A frame has ended.
    private mutating func end(
        _ header: WebSocketFrameHeader,
        into output: inout [UInt8],
        at end: inout Int
    ) throws(WebSocketFailure) -> Event? {
        if header.opcode.isControl {
            defer { self.control = [] }
            switch header.opcode {
            case .ping: return .ping(self.control)
            case .close:
                let code = try self.closeCode()
                self.state = .closed
                return .close(code)
            default: return .pong
            }
        }
        guard self.fragmentCount > 0, header.isFinal else { return nil }
        defer {
            self.fragments = []
            self.fragmentCount = 0
        }
        guard let flags = self.fragments.first else { throw .noFlags }
        let count = self.fragments.count - 1
        try Self.write(flags, bodyBytes: count, into: &output, at: &end)
        Self.makeRoom(for: count, in: &output, at: end)
        output.replaceSubrange(end..<(end + count), with: self.fragments.dropFirst())
        end += count
        return nil
    }

    private func closeCode() throws(WebSocketFailure) -> UInt16? {
        guard !self.control.isEmpty else { return nil }
        guard self.control.count >= 2 else { throw .malformedClose }
        let code = UInt16(self.control[0]) << 8 | UInt16(self.control[1])
        switch code {
        case 1_000...1_003, 1_007...1_014, 3_000...4_999: break
        default: throw .malformedClose
        }
        guard String(validating: self.control.dropFirst(2), as: UTF8.self) != nil else { throw .malformedClose }
        return code
    }

    // MARK: - Output

    /// Writes the header of a ZeroMQ frame as ZMTP has it.
    private static func write(
        _ flags: UInt8,
        bodyBytes: Int,
        into output: inout [UInt8],
        at end: inout Int
    ) throws(WebSocketFailure) {
        guard let flags = ZWSFraming.Flags(rawValue: flags) else { throw .reservedFlags(flags) }
        self.makeRoom(for: FrameHeader.byteCount(bodyBytes: bodyBytes), in: &output, at: end)
        FrameHeader.write(bodyBytes: bodyBytes, more: flags == .more, isCommand: flags == .command) { byte in
            output[end] = byte
            end += 1
        }
    }

    private static func makeRoom(for count: Int, in output: inout [UInt8], at end: Int) {
        let missing = end + count - output.count
        if missing > 0 { output += [UInt8](repeating: 0, count: missing) }
    }
}
