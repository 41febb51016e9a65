// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import ZeroMQ

/// The keys by which a broadcaster and its gateway know each other, and with which all that they say is encrypted (CURVE).
///
/// ```swift
/// let keys = try BroadcastKeys(gatewayPublicKeyFile: "gateway.pub", secretKeyFile: "studio-a.key")
/// let client = BroadcastClient(configuration: configuration, transport: BroadcastZeroMQTransport(keys: keys))
/// ```
///
/// `cuecast keygen` makes such files. The secret key is shown by nothing here: neither by a description nor by a mirror.
public struct BroadcastKeys: Hashable, Sendable {
    let own: CurveKeyPair
    let gateway: CurvePublicKey

    /// The key by which the gateway knows this broadcaster: 40 characters of Z85, for its file of broadcasters.
    public var publicKey: String { self.own.publicKey.z85 }

    /// The key by which this broadcaster knows the gateway: 40 characters of Z85.
    public var gatewayPublicKey: String { self.gateway.z85 }

    /// Keys that are at hand as text.
    ///
    /// - Parameters:
    ///   - gatewayPublicKey: the gateway's public key, 40 characters of Z85.
    ///   - secretKey: this broadcaster's secret key, 40 characters of Z85; its public key is computed from it.
    /// - Throws: ``BroadcastKeysError`` where one of them is no key.
    public init(gatewayPublicKey: String, secretKey: String) throws(BroadcastKeysError) {
        guard let gateway = CurvePublicKey(z85: gatewayPublicKey) else {
            throw BroadcastKeysError("the gateway's public key is none: it must be 40 characters of Z85")
        }
        guard let secret = CurveSecretKey(z85: secretKey) else {
            throw BroadcastKeysError("the secret key is none: it must be 40 characters of Z85")
        }
        try self.init(gateway, secret)
    }

    /// Keys from files that hold one each.
    ///
    /// - Parameters:
    ///   - gatewayPublicKeyFile: the file of the gateway's public key.
    ///   - secretKeyFile: the file of this broadcaster's secret key, which only its owner may be allowed to read.
    /// - Throws: ``BroadcastKeysError`` where a file cannot be read, holds no key, or tells others the secret.
    public init(gatewayPublicKeyFile: String, secretKeyFile: String) throws(BroadcastKeysError) {
        let (gateway, secret): (CurvePublicKey, CurveSecretKey)
        do throws(CurveKeyFile.Fault) {
            gateway = try CurveKeyFile.publicKey(at: gatewayPublicKeyFile)
            secret = try CurveKeyFile.secretKey(at: secretKeyFile)
        } catch {
            throw BroadcastKeysError("\(error)")
        }
        try self.init(gateway, secret)
    }

    private init(_ gateway: CurvePublicKey, _ secret: CurveSecretKey) throws(BroadcastKeysError) {
        do throws(ZeroMQError) {
            self.own = try CurveKeyPair(secretKey: secret)
        } catch {
            throw BroadcastKeysError("keys are of no use here: \(error)")
        }
        self.gateway = gateway
    }
}

extension BroadcastKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The own public key.
    public var description: String { "BroadcastKeys(\(self.publicKey))" }

    /// The same.
    public var debugDescription: String { self.description }

    /// The own public key.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": self.publicKey]) }
}

/// Why keys cannot be used.
public struct BroadcastKeysError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence for people; it names files and never what stands in them.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
