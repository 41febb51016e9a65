// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import COpenSSL

/// Why a peer cannot be talked to by TLS.
package enum TLSFailure: Error, Hashable, Sendable, CaseIterable {
    /// Its first bytes are no TLS.
    case plaintext
    /// It has neither TLS 1.2 nor 1.3.
    case version
    /// It has none of our ciphers, groups or signatures.
    case cipher
    /// It sent an alert, for instance because it does not trust the certificate.
    case alert
    /// Its part of the handshake is longer than ``TLSSession/handshakeBytesMax``.
    case tooLong
    /// It wants to shake hands once more.
    case renegotiation
    /// It changed its keys more than ``TLSSession/keyUpdatesMax`` times.
    case keyUpdates
    /// It does not keep to TLS in another way, or its bytes were changed on the way.
    case violation
}

extension TLSFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .plaintext: "the peer does not speak TLS"
        case .version: "the peer has neither TLS 1.2 nor 1.3"
        case .cipher: "the peer has no cipher, group or signature in common with the certificate"
        case .alert: "the peer refuses, for instance because it does not trust the certificate"
        case .tooLong: "the peer's handshake is too long"
        case .renegotiation: "the peer asks for another handshake"
        case .keyUpdates: "the peer changes its keys too often"
        case .violation: "the peer violates TLS, or its data was changed on the way"
        }
    }
}

/// One connection's side of TLS, as a server or as a client, without I/O: what came from the peer is in a ``TLSPipe``, and what goes to it too.
///
/// ```swift
/// pipe.received(count)           // bytes that were read into pipe.input
/// guard try session.shakeHands() else { … }
/// let count = try session.read(into: &plain, at: 0)
/// try session.write(answer.span)
/// send(pipe.takeOutput())        // after each of them
/// ```
///
/// It keeps what it has of a record that is not there in full, at most ``recordBytesMax``, and nothing of what was written. Belongs to one thread.
@safe
package final class TLSSession {
    /// The result of a read.
    package enum Reading: Hashable, Sendable {
        case bytes(Int)
        /// Nothing whole is left.
        case needsMore
        /// The peer said that it sends nothing more.
        case ended
    }

    /// The most bytes that a peer may send before its handshake is done.
    package static let handshakeBytesMax = 16_384
    /// The most times that a peer may change its keys.
    package static let keyUpdatesMax = 32
    /// The most that is kept of a record that is not there in full: 2^14 bytes and what goes with them (RFC 8446 section 5.2).
    package static let recordBytesMax = 16_384 + 256 + 5
    /// About what a handshake takes in memory until it is done.
    package static let handshakeMemoryBytes = 32_768

    private let handle: OpaquePointer
    /// The owner of the sessions' BIOs.
    private let pipe: TLSPipe
    /// The identity or the trust: kept for as long as the session lasts.
    private let owner: any AnyObject & Sendable
    private var handshakeBytes = 0
    package private(set) var isOpen = false
    private var hasFailed = false
    private var keyUpdates = 0
    private var wantsRenegotiation = false

    /// Makes a server's session for a connection; `nil` where there is no memory.
    ///
    /// - Parameters:
    ///   - identity: the server's.
    ///   - pipe: the buffers for input and output; of the same thread.
    package convenience init?(_ identity: TLSIdentity, through pipe: TLSPipe) {
        unsafe self.init(identity.handle, of: identity, through: pipe)
        unsafe SSL_set_accept_state(self.handle)
    }

    /// Makes a client's session for a connection; `nil` where there is no memory, or the name can be no server's.
    ///
    /// It begins: ``shakeHands()`` is called once before anything has come.
    ///
    /// - Parameters:
    ///   - trust: the authorities whose certificates are accepted.
    ///   - server: the name or the address that must stand in the server's certificate.
    ///   - pipe: the buffers for input and output; of the same thread.
    package convenience init?(_ trust: TLSTrust, server: String, through pipe: TLSPipe) {
        guard !server.isEmpty, !server.utf8.contains(0) else { return nil }
        unsafe self.init(trust.handle, of: trust, through: pipe)
        unsafe SSL_set_connect_state(self.handle)
        guard unsafe cuecast_ssl_expect_server(self.handle, server) == 1 else {
            ERR_clear_error()
            return nil
        }
    }

    private init?(_ context: OpaquePointer, of owner: any AnyObject & Sendable, through pipe: TLSPipe) {
        ERR_clear_error()
        guard let handle = unsafe SSL_new(context) else { return nil }
        guard let bio = unsafe pipe.makeBIO() else {
            unsafe SSL_free(handle)
            return nil
        }
        // One reference for both directions; it is the session's now.
        unsafe SSL_set_bio(handle, bio, bio)
        unsafe self.handle = handle
        self.owner = owner
        self.pipe = pipe
        // Safety: OpenSSL calls back only during a call of ours, while we live.
        _ = unsafe SSL_set_ex_data(handle, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { unsafe SSL_free(self.handle) }

    /// How many bytes of memory it has that depend on what the peer sent.
    package var bytesHeld: Int {
        if !self.isOpen { return Self.handshakeMemoryBytes }
        return unsafe SSL_has_pending(self.handle) == 1 ? Self.recordBytesMax : 0
    }

    /// Why a client does not take the server's certificate; `nil`: it takes it, or has not seen it.
    package var distrust: String? {
        let result = unsafe SSL_get_verify_result(self.handle)
        guard result != X509_V_OK else { return nil }
        return unsafe X509_verify_cert_error_string(result).map { unsafe String(cString: $0) }
    }

    /// Goes on with the handshake; to be called when bytes have come.
    ///
    /// What it has to say to the peer, an alert included, is in the pipe's output.
    /// - Returns: whether it is done.
    package func shakeHands() throws(TLSFailure) -> Bool {
        guard !self.isOpen else { return true }
        self.handshakeBytes += self.pipe.inputCount
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(self.handle)
        if result == 1 {
            self.isOpen = true
            return true
        }
        try self.check(result)
        guard self.handshakeBytes <= Self.handshakeBytesMax else {
            self.hasFailed = true
            throw .tooLong
        }
        return false
    }

    /// Decrypts what came, up to the next record's end.
    package func read(into buffer: inout [UInt8], at offset: Int) throws(TLSFailure) -> Reading {
        ERR_clear_error()
        // Safety: OpenSSL writes at most `count` bytes behind `offset`, which are the buffer's.
        let result = unsafe buffer.withUnsafeMutableBytes { bytes in
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
            return unsafe SSL_read(self.handle, room.baseAddress, CInt(clamping: room.count))
        }
        if self.wantsRenegotiation { throw self.fail(.renegotiation) }
        if self.keyUpdates > Self.keyUpdatesMax { throw self.fail(.keyUpdates) }
        if result > 0 { return .bytes(Int(result)) }
        if unsafe SSL_get_error(self.handle, result) == SSL_ERROR_ZERO_RETURN { return .ended }
        try self.check(result)
        return .needsMore
    }

    /// Decrypts all that came.
    ///
    /// The caller has room for that, because the bytes kept are bounded, and the bytes read are too.
    ///
    /// - Parameters:
    ///   - buffer: where it goes.
    ///   - offset: behind what is kept there.
    /// - Returns: the end of what is in the buffer, and whether the peer says that nothing more comes.
    /// - Throws: why the peer cannot be talked to.
    package func readAll(into buffer: inout [UInt8], at offset: Int) throws(TLSFailure) -> (end: Int, hasEnded: Bool) {
        var end = offset
        while true {
            switch try self.read(into: &buffer, at: end) {
            case .bytes(let count): end += count
            case .needsMore: return (end, false)
            case .ended: return (end, true)
            }
        }
    }

    /// Encrypts bytes, which are then in the pipe's output.
    package func write(_ bytes: Span<UInt8>) throws(TLSFailure) {
        guard !bytes.isEmpty else { return }
        ERR_clear_error()
        // Safety: OpenSSL reads the bytes during the call only; all of them, because a pipe takes all.
        let result = unsafe bytes.withUnsafeBytes {
            unsafe SSL_write(self.handle, $0.baseAddress, CInt(clamping: $0.count))
        }
        guard result == bytes.count else { throw self.fail(.violation) }
    }

    /// Says that nothing more is sent, where the peer can still be told.
    package func end() {
        guard self.isOpen, !self.hasFailed else { return }
        self.hasFailed = true
        ERR_clear_error()
        _ = unsafe SSL_shutdown(self.handle)
        ERR_clear_error()
    }

    private func fail(_ failure: TLSFailure) -> TLSFailure {
        self.hasFailed = true
        ERR_clear_error()
        return failure
    }

    /// - Throws: unless nothing is wrong but that more has to come.
    private func check(_ result: CInt) throws(TLSFailure) {
        if unsafe SSL_get_error(self.handle, result) == SSL_ERROR_WANT_READ { return }
        let reason = cuecast_error_reason(ERR_peek_last_error())
        throw self.fail(Self.failure(reason))
    }

    /// The failure for a reason of OpenSSL.
    private static func failure(_ reason: CInt) -> TLSFailure {
        switch reason {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER: .plaintext
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_UNKNOWN_PROTOCOL: .version
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS,
            SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_GROUPS:
            .cipher
        // Those of alerts begin here (SSL_AD_REASON_OFFSET).
        case SSL_AD_REASON_OFFSET...: .alert
        default: .violation
        }
    }

    /// Notes a change of a session; OpenSSL calls it.
    static let noteChange: @convention(c) (OpaquePointer?, CInt, CInt) -> Void = { handle, what, value in
        guard let handle = unsafe handle, let data = unsafe SSL_get_ex_data(handle, 0) else { return }
        // Safety: `init` put it there, and the session lives during the call of its own that led here.
        let session = unsafe Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
        guard session.isOpen else { return }
        // OpenSSL would say so and go on, as often as it is asked.
        if what & SSL_CB_WRITE_ALERT == SSL_CB_WRITE_ALERT, value & 0xFF == SSL_AD_NO_RENEGOTIATION {
            session.wantsRenegotiation = true
        }
    }

    /// Notes a message of a session; OpenSSL calls it.
    static let noteMessage:
        @convention(c) (
            CInt, CInt, CInt, UnsafeRawPointer?, Int, OpaquePointer?, UnsafeMutableRawPointer?
        ) -> Void = { isSent, _, kind, _, _, handle, _ in
            guard isSent == 0, kind == SSL3_RT_HANDSHAKE else { return }
            guard let handle = unsafe handle, let data = unsafe SSL_get_ex_data(handle, 0) else { return }
            // Safety: as above.
            let session = unsafe Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
            // After the handshake a client has nothing else to say of this kind.
            if session.isOpen { session.keyUpdates += 1 }
        }
}
