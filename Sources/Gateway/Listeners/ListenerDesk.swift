// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import Logging

/// Decides about listeners' requests on the thread of their connections.
///
/// Each is decided synchronously on the board that is newest then, and answered in the same pass unless it has to be durable first.
final class ListenerDesk: EdgeDelegate {
    /// The parts that a desk uses; all of them may be used on any thread.
    struct Tools: Sendable {
        let log: LogHealth
        let holder: BoardHolder
        /// Tells when the board has all that the log has; `nil`: no request knows more than the board.
        let catchUp: LogCatchUp?
        let keys: KeyHolder
        let rules: ListenerRulesHolder
        /// The other gateways that joins are told.
        let alternatives: AlternativesHolder
        /// Checks the tokens of joins; `nil`: tokens are not checked.
        let tokens: TokenChecks?
        let clock: any GatewayClock
        let metrics: MetricRegistry
        let peers: PeerLog
        let logger: Logger
    }

    private let tools: Tools
    private let mailbox: ListenerMailbox
    /// Whether it ends the leases that are over, for all desks.
    private let endsLeases: Bool
    private var handler: ListenerRequestHandler
    /// How often the keys had been swapped when the handler got its own.
    private var keySwaps: Int
    /// Requests that know more than the board, by numbers like those of calls, until the board has caught up with the log.
    private var behind: [UInt64: BehindRequest] = [:]
    /// The rules about listeners, with their version.
    private var rules: ListenerRules
    private var ruleSwaps: Int
    /// How often the alternatives had changed when the handler got its own.
    private var alternativeSwaps = 0
    /// Those who wait until the log has answered about all groups up to one.
    private var groupWaits: [(group: UInt64, done: Occurrence)] = []
    private var lane = AcknowledgementLane()
    /// The connections of which a join waits until its token is checked: one each, so that no connection fills the queue alone.
    private var checksWaiting: Set<UInt64> = []
    /// Requests of the entrance that wait for the log or for their token, by numbers that no connection has.
    private var calls: [UInt64: ListenerCall] = [:]
    /// Those of them that wait for their token.
    private var callsChecked: Set<UInt64> = []
    private var newestCall = ListenerCall.numbersFrom
    /// Requests of connections that wait for the log and whose answers begin with a correlation, by numbers like those of calls:
    /// the number of a connection would not say it.
    private var correlated: [UInt64: EdgePeer] = [:]
    /// Whether every request is logged; looked at once a pass.
    private var tracesRequests = false

    init(handler: ListenerRequestHandler, mailbox: ListenerMailbox, endsLeases: Bool, tools: Tools) {
        self.handler = handler
        self.keySwaps = tools.keys.swaps
        // The handler notices keys that are replaced from here on.
        self.handler.keys = tools.keys.keys
        self.handler.waitsForLog = tools.catchUp != nil
        self.ruleSwaps = tools.rules.swaps
        self.rules = tools.rules.rules
        self.handler.take(self.rules)
        self.mailbox = mailbox
        self.endsLeases = endsLeases
        self.tools = tools
    }

    var now: Timestamp { self.tools.clock.now() }

    // MARK: - Requests

    func handle(_ request: [UInt8], from peer: EdgePeer, mayBeginSession: Bool, push: PushPlace) -> EdgeAnswer {
        self.refresh()
        let handled = self.handler.handle(
            request,
            from: PeerFacts(transport: "zeromq", mayBeginSession: mayBeginSession, push: push),
            at: self.readClock().now
        )
        let effects = handled.effects
        if self.tracesRequests || effects.unreadable != nil { self.log(handled, of: request) }
        switch handled.answer {
        case .now(let reply):
            return EdgeAnswer(reply: reply, hasBegunSession: effects.hasBegunSession, push: effects.push)
        case .afterGroup(let deferred):
            self.handler.wait(self.number(of: peer), for: deferred)
            return EdgeAnswer(reply: nil, hasBegunSession: effects.hasBegunSession)
        case .afterToken(let token):
            return self.check(token, of: request, from: peer)
        case .afterCatchUp:
            return EdgeAnswer(reply: self.waitForLog(BehindRequest(request, .connection(peer))))
        }
    }

    /// The number by which the answer of a waiting request finds its sender.
    private func number(of peer: EdgePeer) -> UInt64 {
        guard peer.isCorrelated else { return peer.number }
        self.newestCall += 1
        self.correlated[self.newestCall] = peer
        return self.newestCall
    }

    /// Takes what is newest.
    ///
    /// Looked at for each request, not for each pass: while a pass lasts the board may advance, a notice go out, and a listener
    /// that has it already ask for the break.
    private func refresh() {
        if self.tools.holder.offset != self.handler.board.offset { self.handler.board = self.tools.holder.board }
        if self.tools.keys.swaps != self.keySwaps { self.takeKeys() }
        self.refreshRules()
        self.refreshAlternatives()
        self.handler.movesListeners = self.mailbox.movesListeners
        self.handler.isDraining = self.mailbox.isDraining
    }

    private func refreshAlternatives() {
        guard self.tools.alternatives.swaps != self.alternativeSwaps else { return }
        // First the number, as for the rules.
        self.alternativeSwaps = self.tools.alternatives.swaps
        self.handler.alternatives = self.tools.alternatives.alternatives
    }

    private func refreshRules() {
        guard self.tools.rules.swaps != self.ruleSwaps else { return }
        // First the number: rules that are changed in between are taken once more, and never missed.
        self.ruleSwaps = self.tools.rules.swaps
        self.rules = self.tools.rules.rules
        self.handler.take(self.rules)
    }

    // MARK: - Who may hear what

    var rulesNumber: Int {
        self.refreshRules()
        return self.ruleSwaps
    }

    func isProtected(_ stream: StreamID) -> Bool {
        self.refreshRules()
        return self.rules.protects(stream)
    }

    func mayHear(_ stream: StreamID, _ session: SessionID?, _ proof: PushProof?) -> Bool {
        self.rules.lets(session, hear: stream, with: proof)
    }

    // MARK: - Tokens

    /// Has the token of a join checked elsewhere; where too many wait, the join is refused at once.
    private func check(_ token: String, of request: [UInt8], from peer: EdgePeer) -> EdgeAnswer {
        let mailbox = self.mailbox
        let refusal: Refusal
        if self.checksWaiting.contains(peer.number) {
            refusal = self.tooManyChecks("The token of another join of this connection is being checked")
        } else {
            let isTaken = self.tools.tokens?
                .submit(token) { result in mailbox.post(.checked(peer, request: request, result)) }
            if isTaken == true {
                self.checksWaiting.insert(peer.number)
                return EdgeAnswer(reply: nil)
            }
            refusal = self.tooManyChecks()
        }
        // A refusal depends on nothing of the connection.
        return EdgeAnswer(
            reply: self.handler
                .join(
                    request,
                    granted: .failure(refusal),
                    from: PeerFacts(transport: "zeromq", mayBeginSession: false, push: .impossible),
                    at: self.readClock().now
                )
                .reply,
            refusesToken: true
        )
    }

    /// The reason to refuse a join whose token cannot be checked now; counts the refusal.
    private func tooManyChecks(_ what: String = "Too many tokens wait to be checked") -> Refusal {
        self.tools.metrics.count(.limitsHit, .limit(.tokenChecksWaitingMax))
        return Refusal(
            .limitReached,
            "\(what) (tokenChecksWaitingMax); join again.",
            retryAfter: TokenChecks.retryAfter
        )
    }

    /// Answers a join whose token was checked, by what its connection is now: it may have ended, or hear for another session.
    private func checked(
        _ peer: EdgePeer,
        _ request: [UInt8],
        _ result: Result<ListenerGrant, Refusal>,
        in loop: EdgeLoop
    ) {
        self.checksWaiting.remove(peer.number)
        self.refresh()
        let isRefused = if case .failure = result { true } else { false }
        loop.answer(peer) { mayBeginSession, push in
            let (reply, effects) = self.handler.join(
                request,
                granted: result,
                from: PeerFacts(transport: "zeromq", mayBeginSession: mayBeginSession, push: push),
                at: self.readClock().now
            )
            return EdgeAnswer(
                reply: reply,
                hasBegunSession: effects.hasBegunSession,
                push: effects.push,
                refusesToken: isRefused
            )
        }
    }

    func isGood(_ proof: PushProof) -> Bool {
        if self.tools.keys.swaps != self.keySwaps { self.takeKeys() }
        return proof.holds(self.handler.keys, at: self.now)
    }

    private func takeKeys() {
        // First the number: keys that are swapped in between are taken once more, and never missed.
        self.keySwaps = self.tools.keys.swaps
        self.handler.keys = self.tools.keys.keys
    }

    /// Looks at the clock, and tells the handler how far commands have moved it.
    private func readClock() -> ClockReading {
        let reading = self.tools.clock.reading()
        self.handler.steppedMicroseconds = reading.steppedMicroseconds
        return reading
    }

    // MARK: - Requests that came by the entrance

    /// Decides about a request that no connection of the edge carried; the same handler, the same groups, the same tokens.
    private func handle(_ call: ListenerCall) {
        self.refresh()
        let handled = self.handler.handle(
            call.request,
            from: call.facts(mayBeginSession: call.mayBeginSession),
            at: self.readClock().now
        )
        self.answer(call, handled)
    }

    private func answer(_ call: ListenerCall, _ handled: HandledRequest<ListenerRequestHandler.Deferred>) {
        let effects = handled.effects
        if self.tracesRequests || effects.unreadable != nil { self.log(handled, of: call.request) }
        switch handled.answer {
        case .now(let reply): call.answer(reply, hasBegunSession: effects.hasBegunSession, push: effects.push)
        case .afterGroup(let deferred):
            let number = self.keep(call)
            self.handler.wait(number, for: deferred)
        case .afterToken(let token): self.check(token, of: call)
        case .afterCatchUp:
            if let refusal = self.waitForLog(BehindRequest(call.request, .call(call))) { call.answer(refusal) }
        }
    }

    /// - Returns: the number by which it is found again.
    private func keep(_ call: ListenerCall) -> UInt64 {
        self.newestCall += 1
        self.calls[self.newestCall] = call
        return self.newestCall
    }

    private func check(_ token: String, of call: ListenerCall) {
        let number = self.keep(call)
        let mailbox = self.mailbox
        if self.callsChecked.count < ListenerCall.tokenChecksMax,
            self.tools.tokens?.submit(token, done: { mailbox.post(.callChecked(number, $0)) }) == true
        {
            self.callsChecked.insert(number)
            return
        }
        self.checked(number, .failure(self.tooManyChecks()))
    }

    private func checked(_ number: UInt64, _ result: Result<ListenerGrant, Refusal>) {
        self.callsChecked.remove(number)
        guard let call = self.calls.removeValue(forKey: number) else { return }
        self.refresh()
        let (reply, effects) = self.handler.join(
            call.request,
            granted: result,
            from: call.facts(mayBeginSession: call.mayBeginSession),
            at: self.readClock().now
        )
        call.answer(reply, hasBegunSession: effects.hasBegunSession, push: effects.push)
    }

    // MARK: - Requests that know more than the board

    /// Has a request wait until the board has all that the log has now.
    ///
    /// - Returns: its refusal, where too many wait.
    private func waitForLog(_ request: BehindRequest) -> ReplyBytes? {
        guard let catchUp = self.tools.catchUp, self.behind.count < BehindRequest.requestsBehindMax else {
            self.tools.metrics.count(.limitsHit, .limit(.requestsBehindMax))
            return self.handler.refuseBehind(request.bytes, at: self.now)
        }
        self.newestCall += 1
        let number = self.newestCall
        self.behind[number] = request
        let mailbox = self.mailbox
        catchUp.wait { mailbox.post(.caughtUp(number, $0)) }
        return nil
    }

    /// Decides about a request that has waited for the board.
    private func caughtUp(_ number: UInt64, _ isCaughtUp: Bool, in loop: EdgeLoop) {
        guard let request = self.behind.removeValue(forKey: number) else { return }
        self.refresh()
        switch request.sender {
        case .connection(let peer):
            loop.answer(peer) { mayBeginSession, push in
                guard isCaughtUp else {
                    return EdgeAnswer(reply: self.handler.refuseBehind(request.bytes, at: self.now))
                }
                let facts = PeerFacts(transport: "zeromq", mayBeginSession: mayBeginSession, push: push)
                return self.answer(peer, request.bytes, facts)
            }
        case .call(let call):
            guard isCaughtUp else { return call.answer(self.handler.refuseBehind(request.bytes, at: self.now)) }
            let facts = call.facts(mayBeginSession: call.mayBeginSession)
            self.answer(call, self.handler.handleCaughtUp(request.bytes, from: facts, at: self.readClock().now))
        }
    }

    private func answer(_ peer: EdgePeer, _ request: [UInt8], _ facts: PeerFacts) -> EdgeAnswer {
        let handled = self.handler.handleCaughtUp(request, from: facts, at: self.readClock().now)
        let effects = handled.effects
        switch handled.answer {
        case .now(let reply):
            return EdgeAnswer(reply: reply, hasBegunSession: effects.hasBegunSession, push: effects.push)
        case .afterGroup(let deferred):
            self.handler.wait(self.number(of: peer), for: deferred)
            return EdgeAnswer(reply: nil, hasBegunSession: effects.hasBegunSession)
        case .afterToken(let token): return self.check(token, of: request, from: peer)
        case .afterCatchUp: preconditionFailure("the board has caught up")
        }
    }

    /// Ends after the loop: callers that still wait learn that nothing was confirmed.
    func endCalls() {
        for call in self.mailbox.close() { call.refuse(.draining, at: self.now) }
        for call in self.calls.values { call.refuse(.logUnavailable, at: self.now) }
        for case .call(let call) in self.behind.values.map(\.sender) { call.refuse(.behindLog, at: self.now) }
        self.behind = [:]
        self.calls = [:]
        self.callsChecked = []
    }

    // MARK: - Acknowledgements

    func passEnded(in loop: EdgeLoop) {
        self.tracesRequests = self.tools.peers.logs(.debug)
        if self.handler.isLogFull || !self.handler.hasGatheredNothing || !self.handler.isIdle {
            self.closeGroups(in: loop)
        }
    }

    private func closeGroups(in loop: EdgeLoop) {
        let isLogFull = self.tools.log.checkCapacity()
        self.handler.isLogFull = isLogFull
        if isLogFull {
            let waiters = self.handler.refuseGathered()
            for _ in waiters { self.tools.metrics.count(.limitsHit, .limit(.logBytesMax)) }
            self.answer(waiters, isDurable: false, in: loop)
        }
        // At a stop, deliveries that were handed out go into the reserve: no listener asks for more.
        while !isLogFull || self.handler.isDraining,
            self.lane.closes(gathered: self.handler.gatheredCount, hasWaiters: self.handler.hasGatheredWaiters)
        {
            let (number, group) = self.handler.takeGroup()
            self.lane.opened()
            self.tools.metrics.count(.acknowledgementGroups)
            self.append(group.encoded(), number)
        }
        self.mailbox.note(waitingCount: self.handler.waiterCount)
    }

    /// Hands the record of a group to the log.
    private func append(_ record: [UInt8], _ number: UInt64) {
        let mailbox = self.mailbox
        self.tools.log.append(record, id: self.tools.log.nextID(), to: .acknowledgements(0)) { result in
            if case .failure(.dropped) = result {
                mailbox.post(.dropped(number, record))
            } else {
                mailbox.post(.appended(number, isDurable: (try? result.get()) != nil))
            }
        }
    }

    private func answered(_ number: UInt64, isDurable: Bool, in loop: EdgeLoop) {
        self.lane.answered(isDurable: isDurable)
        self.answer(self.handler.answered(number, isDurable: isDurable), isDurable: isDurable, in: loop)
    }

    private func answer(_ waiters: [PendingGroup.Waiter], isDurable: Bool, in loop: EdgeLoop) {
        let now = self.now
        for waiter in waiters {
            let reply = self.handler.finish(waiter.deferred, isDurable: isDurable, at: now)
            if waiter.peer < ListenerCall.numbersFrom {
                loop.answer(reply, to: EdgePeer(number: waiter.peer))
            } else if let peer = self.correlated.removeValue(forKey: waiter.peer) {
                loop.answer(reply, to: peer)
            } else {
                self.calls.removeValue(forKey: waiter.peer)?.answer(reply)
            }
        }
    }

    // MARK: - What others have to say

    func woken(in loop: EdgeLoop) {
        self.handler.isDraining = self.mailbox.isDraining
        for letter in self.mailbox.takeAll() {
            switch letter {
            case .appended(let number, let isDurable): self.answered(number, isDurable: isDurable, in: loop)
            // The log has nothing of it: the same outcomes are recorded now, and counted once whatever came between.
            case .dropped(let number, let record): self.append(record, number)
            case .checked(let peer, let request, let result): self.checked(peer, request, result, in: loop)
            case .callChecked(let number, let result): self.checked(number, result)
            case .caughtUp(let number, let isCaughtUp): self.caughtUp(number, isCaughtUp, in: loop)
            case .logFailed: self.lane.noteFailure()
            case .move(let others, let within): loop.askToMove { others.move($0, within: within) }
            case .settle(let done):
                // Nothing of a session that is refused from now on comes into a later group.
                self.refreshRules()
                self.groupWaits.append((self.handler.newestGroup, done))
            }
        }
        for call in self.mailbox.takeCalls() { self.handle(call) }
        self.closeGroups(in: loop)
        self.signalIfSettled()
        self.signalIfDrained()
    }

    private func signalIfSettled() {
        self.groupWaits.removeAll { wait in
            guard self.handler.hasAnswered(through: wait.group) else { return false }
            wait.done.happen()
            return true
        }
    }

    private func signalIfDrained() {
        guard self.handler.isDraining, self.handler.isIdle, self.checksWaiting.isEmpty, self.callsChecked.isEmpty,
            self.behind.isEmpty, !self.mailbox.hasCalls
        else { return }
        // Deliveries that the log did not take are lost with it.
        guard self.tools.log.hasFailed || self.handler.hasGatheredNothing else { return }
        self.mailbox.drained.happen()
    }

    func runHousekeeping(in loop: EdgeLoop) {
        if self.endsLeases { self.handler.expireLeases(at: self.readClock().now) }
        self.lane.retry()
        self.closeGroups(in: loop)
        self.signalIfSettled()
        self.signalIfDrained()
    }

    // MARK: - The log of messages

    func report(_ event: EdgeEvent) {
        switch event {
        case .invalid(let invalid, let peer, let endpoint):
            let reason =
                switch invalid {
                case .noEnvelope: "it is not an empty frame and one more"
                case .tooManyFrames: "it has too many frames"
                case .notSubscription: "its first byte is not 0 or 1"
                }
            self.tools.peers.log(
                .frames,
                .notice,
                invalid == .notSubscription
                    ? "a message is no subscription, and has no answer" : "a message is no request, and has no answer",
                ["socket": "\(endpoint.text)", "peer": "\(peer)", "reason": "\(reason)"]
            )
        case .closed(let reason, let peer, let endpoint):
            self.tools.peers.log(
                .frames,
                .notice,
                "a listener's connection was closed",
                ["socket": "\(endpoint.text)", "peer": "\(peer)", "reason": "\(reason)"]
            )
        }
    }

    /// Logs the result of a request: always if it could not be decoded, else only at the level `debug`.
    private func log(_ handled: HandledRequest<ListenerRequestHandler.Deferred>, of request: [UInt8]) {
        if let unreadable = handled.effects.unreadable {
            self.tools.peers.log(
                .unreadable,
                .notice,
                "a message on the listeners' socket was refused",
                [
                    "requestId": "\(unreadable.requestID)", "status": "\(unreadable.refusal.status.name)",
                    "sentence": "\(unreadable.refusal.sentence)",
                ]
            )
            return
        }
        guard let decoded = try? ListenerRequest(decoding: request) else { return }
        var metadata: Logger.Metadata = [
            "requestId": "\(decoded.id)", "kind": "\(decoded.kind.metricLabel.text)",
        ]
        guard case .now(let reply) = handled.answer else {
            return self.tools.logger.trace("a listener's acknowledgement waits for the log", metadata: metadata)
        }
        guard case .refused(let refusal)? = (try? ListenerReply(decoding: reply.frame))?.body else {
            return self.tools.logger.trace("a listener's request was answered", metadata: metadata)
        }
        metadata["status"] = "\(refusal.status.name)"
        metadata["sentence"] = "\(refusal.sentence)"
        self.tools.logger.debug("a listener's request was refused", metadata: metadata)
    }
}
