// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayDocuments
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Sentences for the errors of a connection.
enum ExchangeFaults {
    /// - Parameters:
    ///   - error: the error.
    ///   - channel: where; `nil`: it never came to one.
    ///   - trust: the trust of the connection.
    ///   - limits: of the exchange.
    /// - Returns: why there is no answer.
    static func failure(
        _ error: any Error,
        _ channel: (any Channel)?,
        _ trust: HTTPTrust?,
        _ limits: HTTPExchange.Limits
    ) -> HTTPExchange.Failure {
        switch error {
        case let error as NIOConnectionError:
            guard let first = error.connectionErrors.first else {
                return .unreachable("the host \(error.host) is not known")
            }
            return self.failure(first.error, channel, trust, limits)
        case let error as IOError: return .unreachable(self.sentence(ofCode: error.errnoCode))
        case ChannelError.connectTimeout: return .silent(limits.silenceMax)
        case is HTTPParserError: return .unreachable("what it says is not HTTP")
        case NIOSSLError.uncleanShutdown, is NIOSSLCloseTimedOutError:
            return .unreachable("it closed the connection before its answer was whole")
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return .notTrusted("its certificate is for another host")
        case NIOSSLError.handshakeFailed(let failure): return self.failure(ofHandshake: failure, channel, trust)
        default: return .unreachable("the connection failed: \(error)")
        }
    }

    private static func sentence(ofCode code: CInt) -> String {
        switch code {
        case ECONNREFUSED: "the connection was refused"
        case ETIMEDOUT: "the connection timed out"
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: "there is no route to it"
        case ECONNRESET, EPIPE: "it closed the connection without an answer"
        default: "the connection failed: error \(code)"
        }
    }

    /// The library only says that a certificate is invalid; the certificate itself shows why.
    private static func failure(
        ofHandshake failure: BoringSSLError,
        _ channel: (any Channel)?,
        _ trust: HTTPTrust?
    ) -> HTTPExchange.Failure {
        if failure == .sslError([.eofDuringHandshake]) {
            return .unreachable("it closed the connection before TLS was agreed on")
        }
        let text = "\(failure)"
        guard text.contains("CERTIFICATE_VERIFY_FAILED") else {
            return .unreachable("TLS could not be agreed on: \(text.prefix(200))")
        }
        if case .certificate? = trust {
            return .notTrusted("its certificate is another one than the data directory says")
        }
        guard let handler = try? channel?.pipeline.syncOperations.handler(type: NIOSSLHandler.self),
            let certificate = handler.peerCertificate
        else { return .notTrusted("its certificate has no trusted issuer") }
        let now = time(nil)
        if certificate.notValidAfter < now { return .notTrusted("its certificate has expired") }
        if certificate.notValidBefore > now { return .notTrusted("its certificate is not valid yet") }
        return .notTrusted("its certificate has no trusted issuer")
    }

    /// Whether a plain answer of a gateway says that it requires TLS.
    static func isCallForTLS(_ status: Int, _ body: [UInt8]) -> Bool {
        guard status == 400 else { return false }
        return (try? JSONDecoder().decode(ProblemDocument.self, from: Data(body)))?.code == ProblemCode.encrypted.name
    }
}
