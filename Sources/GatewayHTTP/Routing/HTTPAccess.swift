// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import Gateway
package import GatewayCore
import GatewayDocuments
import HTTPTypes
import Synchronization
package import TokenFormats
package import Tokens

/// The principal of a request over HTTP.
package struct HTTPPrincipal: Hashable, Sendable {
    /// The subject of its token.
    package let name: String
    /// The scopes that the token grants.
    package let scopes: TokenScopes
}

/// The rights over HTTP.
///
/// Immutable: a reload makes another one, which the next request meets.
package struct HTTPAccess: Sendable {
    /// Tells true tokens.
    package let verifier: TokenVerifier
    /// The reads that need no token.
    package let openReads: HTTPOpenReads
    /// The names by which the gateway is asked.
    package let hosts: HTTPHosts
    /// The origins whose pages may listen.
    package let listenerOrigins: ListenerOrigins

    package init(
        verifier: TokenVerifier,
        openReads: HTTPOpenReads,
        hosts: HTTPHosts = HTTPHosts(),
        listenerOrigins: ListenerOrigins = ListenerOrigins()
    ) {
        self.verifier = verifier
        self.openReads = openReads
        self.hosts = hosts
        self.listenerOrigins = listenerOrigins
    }

    /// Decides whether a request may do something: the one place where that is decided.
    ///
    /// - Parameters:
    ///   - authorization: the request's header `Authorization`.
    ///   - scope: the scope it needs, with its stream where it is about one; `nil`: any valid token is accepted, and the common
    ///     rules check its scopes.
    ///   - now: the gateway's clock.
    /// - Returns: the principal.
    /// - Throws: the refusal: 401 where the caller is not authenticated, 403 where it is not allowed.
    package func authorize(
        _ authorization: String?,
        _ scope: TokenScope?,
        at now: Timestamp
    ) throws(HTTPRefusal) -> HTTPPrincipal {
        guard let authorization else { throw .noToken }
        let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .noToken }
        let claims: TokenClaims
        do throws(TokenRefusal) {
            claims = try self.verifier.verify(String(parts[1]), at: now)
        } catch {
            throw .token(error)
        }
        if let scope, !claims.scopes.grants(scope) { throw .scope(scope) }
        return HTTPPrincipal(name: claims.subject, scopes: claims.scopes)
    }
}

/// Why a request over HTTP is not answered with what it asks for.
package enum HTTPRefusal: Error, Hashable, Sendable {
    /// It needs a token and has none.
    case noToken
    case token(TokenRefusal)
    /// The token does not grant this.
    case scope(TokenScope)
    /// It asks for another host: a browser was led here by a name that is not the gateway's.
    case host
    /// A page of another origin asks.
    case origin
    /// The ticket is used, over, or was never given.
    case ticket

    /// For the metric.
    package var label: MetricLabel {
        switch self {
        case .noToken: .noToken
        case .token(let refusal): refusal.label
        case .scope: .scope
        case .host: .host
        case .origin: .origin
        case .ticket: .ticket
        }
    }

    /// One sentence for people.
    package var sentence: String {
        switch self {
        case .noToken: "This needs a token: Authorization: Bearer TOKEN."
        case .token(let refusal): refusal.sentence
        case .scope(let scope): "The token does not grant \(scope.word)."
        case .host: "The gateway is not known by this host name; the key http.hosts lists names."
        case .origin: "Pages of other origins may not ask."
        case .ticket: "The ticket is not taken: it was used, is over, or was never given; ask for another one."
        }
    }

    var problem: Problem {
        switch self {
        case .noToken: Problem(.unauthorized, self.sentence, [.wwwAuthenticate: #"Bearer realm="cuecast""#])
        case .token:
            Problem(
                .unauthorized,
                self.sentence,
                [.wwwAuthenticate: #"Bearer realm="cuecast", error="invalid_token""#]
            )
        case .scope(let scope):
            Problem(
                .reason(.notAllowed),
                self.sentence,
                [
                    .wwwAuthenticate:
                        #"Bearer realm="cuecast", error="insufficient_scope", scope="\#(scope.word)""#
                ]
            )
        case .host: Problem(.hostNotKnown, self.sentence)
        case .origin: Problem(.originNotAllowed, self.sentence)
        case .ticket: Problem(.unauthorized, self.sentence, [.wwwAuthenticate: #"Bearer realm="cuecast""#])
        }
    }
}

/// The names by which a gateway may be asked over HTTP.
///
/// A page in an operator's browser can be led to the gateway by a name that its owner has changed to the gateway's address ("DNS
/// rebinding"); to the browser it is one origin then, and it may read every answer. So the gateway answers only where it is
/// asked by an address, by `localhost`, by a name of one word, which cannot be registered, or by a name that an operator has
/// listed.
package struct HTTPHosts: Hashable, Sendable {
    private let names: Set<String>

    /// - Parameter names: those that the gateway has besides; upper and lower case are the same.
    package init(_ names: some Sequence<String> = []) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// Whether a gateway is known by the `Host` of a request.
    ///
    /// None at all is that of a program: every browser sends one.
    package func contains(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty else { return true }
        guard let host = Self.host(of: authority) else { return false }
        // Addresses first: a name does not end in a number, and has no colon.
        if host.contains(":")
            || host.last?.isNumber == true && host.split(separator: ".").allSatisfy({ UInt8($0) != nil })
        {
            return true
        }
        return !host.contains(".") || self.names.contains(host)
    }

    /// Whether a page of an origin is one that this request's host has served.
    package static func isSameOrigin(_ origin: String, as authority: String?) -> Bool {
        WebOrigin.isOrigin(origin, of: authority)
    }

    /// The host without its port, in lower case; `nil`: it is none.
    private static func host(of authority: String) -> String? {
        if let address = try? NetworkAddress(hostAndPort: authority, for: .connect) { return address.host.lowercased() }
        return try? NetworkAddress.host(authority).lowercased()
    }
}

/// The access that holds at present.
package final class HTTPAccessHolder: Sendable {
    private let state: Mutex<HTTPAccess>

    package init(_ access: HTTPAccess) {
        self.state = Mutex(access)
    }

    /// The rights for the next request.
    package var access: HTTPAccess { self.state.withLock(\.self) }

    /// Lets another one hold from the next request on.
    package func reload(_ access: HTTPAccess) {
        self.state.withLock { $0 = access }
    }
}
