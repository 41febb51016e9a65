// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

/// The way in for requests of broadcasters that do not come by a socket of libzmq: over HTTP, for instance.
///
/// A request goes through the same decision as a frame from the broadcasters' socket: it is read by the wire's rules, planned by
/// the same planner on the same thread, grouped with the others, and answered once it is durable. Nothing is decided here.
///
/// ```swift
/// let reply = await gateway.broadcast.ask(
///     BroadcastRequest(id: 1, kind: .cancel(key)),
///     by: BroadcastPrincipal(name: "studio", streams: patterns),
///     from: RequestOrigin(.http, address: "192.0.2.7:50123", requestID: "0f3a…")
/// )
/// ```
package final class BroadcastEntrance: Sendable {
    private let service: BroadcastService
    private let calls: BroadcastCalls
    private let clock: any GatewayClock
    private let metrics: MetricRegistry
    private let audit: AuditTrail

    init(
        _ service: BroadcastService,
        calls: BroadcastCalls,
        clock: any GatewayClock,
        metrics: MetricRegistry,
        audit: AuditTrail
    ) {
        self.service = service
        self.calls = calls
        self.clock = clock
        self.metrics = metrics
        self.audit = audit
    }

    /// How many requests are not answered yet.
    package var waitingCount: Int { self.calls.openCount }

    /// Asks for something to be done to a break, or for a list.
    ///
    /// A caller that is cancelled waits no longer; what it asked for may be done all the same, because a request that the gateway
    /// has goes its way.
    ///
    /// - Parameters:
    ///   - request: what is asked; its id comes back with the answer, and nothing looks at its token.
    ///   - principal: who asks, and on which streams it may publish; whoever calls this has made sure of it.
    ///   - origin: where the request came from.
    ///   - trace: as the entrance has decided; `nil`: it is not traced, whatever the request itself says.
    /// - Returns: the answer: always one, also while the gateway stops and after it has.
    package func ask(
        _ request: BroadcastRequest,
        by principal: BroadcastPrincipal,
        from origin: RequestOrigin,
        trace: RequestTrace? = nil
    ) async -> BroadcastReply {
        // As bytes and back, so that the rules for fields are those of the socket.
        let frame = request.encoded()
        let read: Result<BroadcastRequest, WireError>
        do throws(WireError) {
            read = .success(try BroadcastRequest(decoding: frame))
        } catch {
            read = .failure(error)
        }
        switch self.calls.begin(request.id, bytes: frame.count) {
        case .begun(let number):
            // Once the service has it, the service puts it into the audit.
            let call = BroadcastCall(
                number: number,
                request: request,
                read: read,
                bytes: frame.count,
                trace: trace
            )
            await self.service.take(call, by: principal, from: origin)
            return await self.calls.answer(to: number) ?? self.reply(.gone, to: request)
        case .reached(let limit, let maximum):
            self.metrics.count(.limitsHit, .limit(limit))
            let refusal = Refusal(
                .limitReached,
                "The limit \(limit.rawValue) is \(maximum) and is reached.",
                retryAfter: .seconds(1)
            )
            return self.refuse(refusal, request, by: principal, from: origin)
        case .closed: return self.refuse(.draining, request, by: principal, from: origin)
        }
    }

    /// Answers what never gets to the service.
    private func refuse(
        _ refusal: Refusal,
        _ request: BroadcastRequest,
        by principal: BroadcastPrincipal,
        from origin: RequestOrigin
    ) -> BroadcastReply {
        self.metrics.count(.refusals, .status(refusal.status))
        if request.kind.metricLabel != .list {
            self.audit.note(
                request.kind.metricLabel.text,
                by: principal.name,
                from: origin,
                about: request.kind.key,
                refusal
            )
        }
        return self.reply(refusal, to: request)
    }

    private func reply(_ refusal: Refusal, to request: BroadcastRequest) -> BroadcastReply {
        BroadcastReply(requestID: request.id, gatewayTime: self.clock.now(), body: .refused(refusal))
    }
}

extension Refusal {
    /// Whoever asked waits no longer.
    fileprivate static let gone = Refusal(
        .unavailable,
        "Whoever asked did not wait for the answer: what became of the request is not known."
    )
}
