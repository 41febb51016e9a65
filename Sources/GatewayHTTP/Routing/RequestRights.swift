// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import HTTPTypes
import Hummingbird
import TokenFormats

/// Says whether a request may be, by its token and by what is open to all.
struct RequestRights: Sendable {
    private let holder: HTTPAccessHolder
    private let metrics: MetricRegistry
    private let now: @Sendable () -> Timestamp
    private let readers: HTTPReaders

    /// - Parameters:
    ///   - parts: the access that holds, the metrics, and the clock.
    ///   - readers: check tokens.
    init(_ parts: HTTPParts, readers: HTTPReaders) {
        self.holder = parts.access
        self.metrics = parts.metrics
        self.now = parts.now
        self.readers = readers
    }

    /// The rights at present.
    var access: HTTPAccess { self.holder.access }

    /// The principal that sends the request; `nil` if the operation does not need one.
    ///
    /// - Throws: the refusal as a problem, and where too many wait.
    func principal(of request: Request, for operation: Operation) async throws -> HTTPPrincipal? {
        let open = self.access.openReads
        switch operation.access {
        case .open, .listener, .ticket: return nil
        case .metrics: return open == .health ? try await self.authorize(request, .read) : nil
        case .read: return open == .all ? nil : try await self.authorize(request, .read)
        case .publish, .publishEverywhere: return try await self.authorize(request, nil)
        case .admin: return try await self.authorize(request, .admin)
        }
    }

    /// Lets in who may do what it asks for.
    ///
    /// The threads that make reports check tokens. A client that sends wrong tokens without end waits in the same queue as the
    /// reports, and the gateway answers requests for its health meanwhile.
    ///
    /// - Parameters:
    ///   - request: whose token is looked at.
    ///   - scope: what the token must grant; `nil`: any that is taken.
    /// - Returns: who asks.
    /// - Throws: the refusal as a problem, and where too many wait.
    private func authorize(_ request: Request, _ scope: TokenScope?) async throws -> HTTPPrincipal {
        let (authorization, now) = (request.headers[.authorization], self.now())
        let access = self.access
        do {
            guard authorization != nil else { throw HTTPRefusal.noToken }
            let principal = try await self.readers.run { try access.authorize(authorization, scope, at: now) }
            self.granted()
            return principal
        } catch let refusal as HTTPRefusal {
            throw self.refused(refusal)
        }
    }

    /// Lets in who may read.
    ///
    /// - Throws: the refusal as a problem, and where too many wait.
    func requireRead(_ request: Request) async throws {
        guard self.access.openReads != .all else { return }
        _ = try await self.authorize(request, .read)
    }

    /// Whether a reader may still read by the header of an earlier request; counts nothing.
    func mayStillRead(by authorization: String?) async -> Bool {
        let (access, now) = (self.access, self.now())
        guard access.openReads != .all else { return true }
        let principal = try? await self.readers.runPiece { try access.authorize(authorization, .read, at: now) }
        return principal != nil
    }

    /// Counts a request that was let in.
    func granted() { self.metrics.count(.httpAuthorizations, .granted) }

    /// Counts a request that was not let in.
    ///
    /// - Returns: what it is answered.
    func refused(_ refusal: HTTPRefusal) -> Problem {
        self.metrics.count(.httpAuthorizations, refusal.label)
        return refusal.problem
    }
}
