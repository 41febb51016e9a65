// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
package import GatewayCore

extension BreakDesk {
    /// How many requests from inside the process are not answered yet.
    package nonisolated var callsWaiting: Int { self.tools.calls.openCount }

    /// Asks for something to be done to a break, or for a list; for adapters that are not on the desk's thread.
    ///
    /// ```swift
    /// let reply = await gateway.breakDesk.ask(
    ///     CheckedBroadcastRequest(BroadcastRequest(id: 1, kind: .cancel(key))),
    ///     by: BroadcastPrincipal(name: "studio", streams: patterns),
    ///     from: RequestOrigin(.http, address: "192.0.2.7:50123", requestID: "0f3a…")
    /// )
    /// ```
    ///
    /// A caller that is cancelled waits no longer. What it asked for may be done all the same, because a request that the desk has goes
    /// its way.
    ///
    /// - Parameters:
    ///   - checked: the request; its id comes back with the answer, and its token is not read.
    ///   - principal: the broadcaster, and the streams on which it may publish; the caller has made sure of it.
    ///   - origin: where the request came from.
    ///   - trace: as the adapter has decided; `nil`: it is not traced, whatever the request itself says.
    /// - Returns: the answer: always one, also while the gateway stops and after it has.
    package nonisolated func ask(
        _ checked: CheckedBroadcastRequest,
        by principal: BroadcastPrincipal,
        from origin: RequestOrigin,
        trace: RequestTrace? = nil
    ) async -> BroadcastReply {
        let request = checked.asked
        let calls = self.tools.calls
        switch calls.begin(request.id, bytes: checked.byteCount) {
        case .begun(let number):
            // From here on the desk puts it into the audit.
            await self.take(
                checked,
                by: principal,
                from: origin,
                trace: trace
            ) { calls.answer(number, $0) }
            return await calls.answer(to: number) ?? self.reply(.gone, to: request)
        case .reached(let limit, let maximum):
            self.tools.metrics.count(.limitsHit, .limit(limit))
            let refusal = Refusal(
                .limitReached,
                "The limit \(limit.rawValue) is \(maximum) and is reached.",
                retryAfter: .seconds(1)
            )
            return self.refuse(refusal, request, by: principal, from: origin)
        case .closed: return self.refuse(.draining, request, by: principal, from: origin)
        }
    }

    private func take(
        _ checked: CheckedBroadcastRequest,
        by principal: BroadcastPrincipal,
        from origin: RequestOrigin,
        trace: RequestTrace?,
        answer: @escaping @Sendable (BroadcastReply) -> Void
    ) {
        self.beginPass()
        defer { self.endPass() }
        switch checked.read {
        case .success(let request):
            self.take(
                IncomingRequest(
                    request: request,
                    principal: .success(principal),
                    bytes: checked.byteCount,
                    origin: origin,
                    trace: trace,
                    reading: self.tools.clock.reading(),
                    answer: answer
                )
            )
        case .failure(let error):
            self.refuseUnread(
                Refusal(error),
                to: WaitingBroadcaster(
                    requestID: checked.asked.id,
                    kind: .undecodable,
                    stream: checked.asked.kind.changedStream,
                    key: checked.asked.kind.key,
                    origin: origin,
                    by: principal.name,
                    trace: trace,
                    answer: answer
                )
            )
        }
    }

    /// Answers what never gets to the desk.
    private nonisolated func refuse(
        _ refusal: Refusal,
        _ request: BroadcastRequest,
        by principal: BroadcastPrincipal,
        from origin: RequestOrigin
    ) -> BroadcastReply {
        self.tools.metrics.count(.refusals, .status(refusal.status))
        if !request.kind.metricLabel.isQuery {
            self.tools.recorder.audit.note(
                request.kind.metricLabel.text,
                by: principal.name,
                from: origin,
                on: request.kind.changedStream,
                about: request.kind.key,
                refusal
            )
        }
        return self.reply(refusal, to: request)
    }

    private nonisolated func reply(_ refusal: Refusal, to request: BroadcastRequest) -> BroadcastReply {
        BroadcastReply(requestID: request.id, gatewayTime: self.tools.clock.now(), body: .refused(refusal))
    }
}

extension Refusal {
    /// The caller waits no longer.
    fileprivate static let gone = Refusal(
        .unavailable,
        "The caller stopped waiting for the answer: the result of the request is not known."
    )
}
