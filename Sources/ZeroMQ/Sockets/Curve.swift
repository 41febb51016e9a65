// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

/// A CURVE public key: 32 bytes, written by people as 40 characters of Z85.
package struct CurvePublicKey: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes in a key.
    package static let byteCount = 32

    package let bytes: [UInt8]

    /// `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// `nil` unless the text is 40 characters of Z85.
    package init?(z85 text: String) {
        guard let bytes = Z85.decode(text) else { return nil }
        self.bytes = bytes
    }

    /// 40 characters of Z85.
    package var z85: String { Z85.encode(self.bytes) }

    package var description: String { self.z85 }
}

/// A CURVE secret key: 32 bytes.
///
/// It never shows itself in a log: ask for ``z85`` by name.
package struct CurveSecretKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The number of bytes in a key.
    package static let byteCount = 32

    package let bytes: [UInt8]

    /// `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// `nil` unless the text is 40 characters of Z85.
    package init?(z85 text: String) {
        guard let bytes = Z85.decode(text) else { return nil }
        self.bytes = bytes
    }

    /// 40 characters of Z85.
    package var z85: String { Z85.encode(self.bytes) }

    package var description: String { "CurveSecretKey(…)" }

    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A CURVE key and the public key that belongs to it.
package struct CurveKeyPair: Hashable, Sendable {
    package let publicKey: CurvePublicKey
    package let secretKey: CurveSecretKey

    /// The pair of a secret key, whose public key is computed from it.
    ///
    /// - Throws: `notSupported` when libzmq was built without CURVE.
    package init(secretKey: CurveSecretKey) throws(ZeroMQError) {
        var text = Z85.emptyText
        let secret = secretKey.z85
        try unsafe text.withUnsafeMutableBufferPointer { (text) throws(ZeroMQError) in
            let start = text.baseAddress
            try SystemCall.perform("zmq_curve_public") { unsafe zmq_curve_public(start, secret) }
        }
        self.publicKey = try Z85.publicKey(text, "zmq_curve_public")
        self.secretKey = secretKey
    }

    private init(publicKey: CurvePublicKey, secretKey: CurveSecretKey) {
        self.publicKey = publicKey
        self.secretKey = secretKey
    }

    /// A new pair of random keys.
    ///
    /// - Throws: `notSupported` when libzmq was built without CURVE.
    package static func generate() throws(ZeroMQError) -> CurveKeyPair {
        var publicText = Z85.emptyText
        var secretText = Z85.emptyText
        try unsafe publicText.withUnsafeMutableBufferPointer { (publicText) throws(ZeroMQError) in
            try unsafe secretText.withUnsafeMutableBufferPointer { (secretText) throws(ZeroMQError) in
                let (publicStart, secretStart) = (publicText.baseAddress, secretText.baseAddress)
                try SystemCall.perform("zmq_curve_keypair") { unsafe zmq_curve_keypair(publicStart, secretStart) }
            }
        }
        guard let secretKey = CurveSecretKey(z85: Z85.string(secretText)) else {
            throw ZeroMQError(operation: "zmq_curve_keypair", code: .protocolError)
        }
        return CurveKeyPair(publicKey: try Z85.publicKey(publicText, "zmq_curve_keypair"), secretKey: secretKey)
    }
}

extension Socket {
    /// Makes this socket the server of CURVE handshakes.
    ///
    /// Call it before binding.
    package borrowing func secureAsServer(_ keys: CurveKeyPair) throws(ZeroMQError) {
        try self.set(.curveServer, to: true)
        try self.set(.curveSecretKey, to: keys.secretKey)
    }

    /// Makes this socket connect with CURVE, and only to the server that has `serverKey`.
    ///
    /// Call it before connecting.
    package borrowing func secureAsClient(_ keys: CurveKeyPair, serverKey: CurvePublicKey) throws(ZeroMQError) {
        try self.set(.curveServerKey, to: serverKey)
        try self.set(.curvePublicKey, to: keys.publicKey)
        try self.set(.curveSecretKey, to: keys.secretKey)
    }
}

/// Binary keys as text (ZeroMQ RFC 32).
private enum Z85 {
    /// The characters of a key, without the zero byte that C puts behind them.
    static let characterCount = 40

    /// Room for a key as C writes it.
    static var emptyText: [CChar] { [CChar](repeating: 0, count: Self.characterCount + 1) }

    static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix(Self.characterCount).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func publicKey(_ text: [CChar], _ operation: String) throws(ZeroMQError) -> CurvePublicKey {
        guard let key = CurvePublicKey(z85: self.string(text)) else {
            throw ZeroMQError(operation: operation, code: .protocolError)
        }
        return key
    }

    static func encode(_ bytes: [UInt8]) -> String {
        var text = Self.emptyText
        let encoded = unsafe zmq_z85_encode(&text, bytes, bytes.count)
        precondition(unsafe encoded != nil, "a key has 32 bytes")
        return self.string(text)
    }

    static func decode(_ text: String) -> [UInt8]? {
        // `zmq_z85_decode` writes four bytes for every five characters, however many those are.
        guard text.utf8.count == Self.characterCount, !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 32)
        return unsafe zmq_z85_decode(&bytes, text) == nil ? nil : bytes
    }
}
