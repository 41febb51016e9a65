// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
package import GatewayCore
internal import SystemSupport
internal import ZMTP

extension EdgeLoop {
    /// Reads once, and handles each whole message that was read.
    func readable(_ index: Int) {
        if self.connections.slots[index].events != nil { return self.readEvents(index) }
        self.connections.slots[index].allowance.takeRead(self.limits, at: self.now)
        let kept = self.takeInput(index)
        // Bytes left by a pause are handled first, and nothing more is read meanwhile: they would grow from pause to pause.
        guard kept <= EdgeSettings.requestBytesMax + ZMTPLimits.frameHeaderBytesMax else {
            return self.handleInput(index, kept)
        }
        if self.connections.slots[index].awaitsHeader { return self.readHeader(index, kept) }
        if self.connections.slots[index].isByTLS { return self.readEncrypted(index, kept) }
        if self.connections.slots[index].webSocket != nil { return self.readFrames(index, kept) }
        let count = System.read(
            self.connections.slots[index].descriptor,
            into: &self.buffers.plain,
            at: kept,
            bytesMax: ReadBuffers.readBytesMax
        )
        guard count > 0 else {
            if count < 0, System.wouldBlock(count) {
                self.keepInput(index, kept, from: 0)
            } else {
                self.close(index)
            }
            return
        }
        self.handleInput(index, kept + count)
    }

    /// Handles the bytes that a queued connection sent.
    ///
    /// Only where nothing is left of it, also not in the kernel, it counts as a quiet connection again: to be read from as soon as
    /// something comes.
    func takeTurn(_ index: Int, _ peer: EdgePeer) {
        self.connections.slots[index].pause.remove(.queued)
        guard self.connections.slots[index].pause.isEmpty else { return }
        let kept = self.takeInput(index)
        if kept > 0 { self.handleInput(index, kept) }
        guard self.connections.place(of: peer) != nil, self.connections.slots[index].pause.isEmpty else { return }
        self.readable(index)
        if self.connections.place(of: peer) != nil { self.watch(index) }
    }

    /// A connection goes on once the connections already in the queue have had their turn.
    private func enqueue(_ index: Int) {
        guard !self.connections.slots[index].pause.contains(.queued) else { return }
        self.pause(.queued, index)
        self.runQueue.enqueue(self.connections.peer(at: index))
    }

    /// Removes a reason not to read from a connection.
    func lift(_ pause: EdgeSlot.Pause, _ index: Int) {
        guard self.connections.slots[index].pause.contains(pause) else { return }
        self.connections.slots[index].pause.remove(pause)
        if self.connections.slots[index].pause.isEmpty { self.enqueue(index) }
    }

    /// Adds a reason not to read from a connection.
    func pause(_ pause: EdgeSlot.Pause, _ index: Int) {
        self.connections.slots[index].pause.insert(pause)
        self.watch(index)
    }

    /// Connections that sent too much go on once their rate limit allows a message again.
    func endThrottling() {
        for peer in self.runQueue.takeThrottled() {
            guard let index = self.connections.place(of: peer) else { continue }
            if self.reachedRate(index) == nil, self.mayHaveTokenRefused(index) {
                self.lift(.throttled, index)
            } else {
                self.runQueue.throttle(peer)
            }
        }
    }

    /// Counts one message against the rate limits of the connection, its address and all connections.
    ///
    /// The message that exceeds a limit is still handled; the next ones of the connection are read later.
    @inline(__always)
    func takeAllowance(_ index: Int) {
        self.connections.slots[index].allowance.takeMessage(self.limits, at: self.now)
        self.connections.slots[index].shared?.messages.takeOne(at: self.now)
        self.shared.messages.takeOne(at: self.now)
        if let limit = self.reachedRate(index) { self.throttle(index, limit) }
    }

    /// The rate limit that is reached; `nil`: none.
    private func reachedRate(_ index: Int) -> LimitName? {
        guard self.connections.slots[index].allowance.hasMessage(self.limits, at: self.now) else {
            return .messagesPerConnectionPerSecondMax
        }
        if let shared = self.connections.slots[index].shared, !shared.messages.hasOne(at: self.now) {
            return .messagesPerAddressPerSecondMax
        }
        return self.shared.messages.hasOne(at: self.now) ? nil : .messagesPerSecondMax
    }

    private func mayHaveTokenRefused(_ index: Int) -> Bool {
        self.connections.slots[index].allowance.hasRefusal(self.limits, at: self.now)
    }

    /// Counts a refused token; above the limit the connection is read from later.
    private func noteRefusedToken(_ index: Int) {
        self.connections.slots[index].allowance.takeRefusal(self.limits, at: self.now)
        if !self.mayHaveTokenRefused(index) { self.throttle(index, .refusedTokensPerConnectionPerSecondMax) }
    }

    private func throttle(_ index: Int, _ limit: LimitName) {
        guard !self.connections.slots[index].pause.contains(.throttled) else { return }
        self.metrics.count(.limitsHit, .limit(limit))
        self.runQueue.throttle(self.connections.peer(at: index))
        self.pause(.throttled, index)
    }

    /// Whether a connection may begin a session.
    private func mayBeginSession(_ index: Int) -> Bool {
        self.connections.slots[index].allowance.hasSession(self.limits, at: self.now)
            && self.connections.slots[index].shared?.sessions.hasOne(at: self.now) ?? true
    }

    private func noteSession(_ index: Int) {
        self.connections.slots[index].allowance.takeSession(self.limits, at: self.now)
        self.connections.slots[index].shared?.sessions.takeOne(at: self.now)
    }

    // MARK: - Input

    /// Moves a connection's kept bytes to the beginning of the buffer.
    private func takeInput(_ index: Int) -> Int {
        let kept = self.connections.slots[index].input.count
        guard kept > 0 else { return 0 }
        self.buffers.plain.replaceSubrange(0..<kept, with: self.connections.slots[index].input)
        self.connections.slots[index].input = []
        self.hold(-kept)
        return kept
    }

    /// Keeps the bytes that were not handled.
    func keepInput(_ index: Int, _ count: Int, from offset: Int) {
        guard offset < count else { return }
        self.connections.slots[index].input = Array(self.buffers.plain[offset..<count])
        self.hold(count - offset)
    }

    /// Handles the messages that were read, at most a turn of them.
    ///
    /// - Parameters:
    ///   - index: the connection.
    ///   - count: where they end in the buffer.
    ///   - start: where they begin.
    ///   - isLast: whether the peer has closed; then all of them are handled, because it cannot be queued.
    func handleInput(_ index: Int, _ count: Int, from start: Int = 0, isLast: Bool = false) {
        let generation = self.connections.slots[index].generation
        var offset = start
        var left = isLast ? Int.max : EdgeSettings.messagesPerTurnMax
        while self.connections.slots[index].generation == generation {
            if left == 0, offset < count, self.connections.slots[index].pause.isEmpty {
                self.metrics.count(.limitsHit, .limit(.messagesPerTurnMax))
                self.enqueue(index)
                // It is closed where the poller cannot be told.
                guard self.connections.slots[index].generation == generation else { return }
            }
            guard self.connections.slots[index].pause.isEmpty else {
                self.keepInput(index, count, from: offset)
                return
            }
            left -= 1
            let event = self.next(index, count, &offset)
            switch event {
            case .needsMore: return self.keepInput(index, count, from: offset)
            case .request(let body, let correlation): self.request(index, body, correlation)
            case .ready:
                self.connections.slots[index].phase = .ready
                self.connections.slots[index].since = self.now
                let ready = self.connections.slots[index].connection.ready
                self.writeFrames(ready, index)
            case .subscribe(let topic): self.subscription(index, topic, cancels: false)
            case .cancel(let topic): self.subscription(index, topic, cancels: true)
            case .ping(let context):
                self.takeAllowance(index)
                var pong: [UInt8] = []
                Outgoing.appendPong(context: Array(self.buffers.plain[context]), to: &pong)
                self.writeFrames(pong, index)
            case .invalid(let invalid):
                self.takeAllowance(index)
                self.count(invalid, index)
            case .endless: self.close(index, .endless)
            case .failed(.noSignature)
            where self.buffers.plain[offset] == Self.recordOfHandshake && !self.connections.slots[index].isByTLS:
                self.close(index, .encrypted)
            case .failed(let error): self.close(index, .violation(error))
            }
        }
    }

    private func next(_ index: Int, _ count: Int, _ offset: inout Int) -> EdgeConnection.Event {
        // One more reference to the bytes, given back at once: nothing is copied.
        let buffer = self.buffers.plain
        return self.connections.slots[index].connection.next(in: buffer.span.extracting(0..<count), at: &offset)
    }

    private func request(_ index: Int, _ body: Range<Int>, _ correlation: EdgeCorrelation?) {
        self.takeAllowance(index)
        self.connections.slots[index].isUsed = true
        self.buffers.request.removeAll(keepingCapacity: true)
        self.buffers.request += self.buffers.plain[body]
        let peer = self.connections.peer(at: index, correlation)
        let mayBegin = self.mayBeginSession(index)
        let answer = self.delegate.handle(
            self.buffers.request,
            from: peer,
            mayBeginSession: mayBegin,
            push: self.pushPlace(index)
        )
        if answer.hasBegunSession { self.noteSession(index) }
        if answer.refusesToken {
            self.noteRefusedToken(index)
            // It is closed where the poller cannot be told.
            guard self.connections.place(of: peer) != nil else { return self.shared.cells.repliesGone.add() }
        }
        if let reply = answer.reply {
            self.send(reply, index, correlation)
            if let change = answer.push, self.connections.place(of: peer) != nil { self.change(change, index) }
        } else {
            self.connections.slots[index].waitingCount += 1
            if self.connections.slots[index].waitingCount >= self.settings.requestsWaitingPerConnectionMax,
                !self.connections.slots[index].pause.contains(.waiting)
            {
                self.metrics.count(.limitsHit, .limit(.requestsWaitingPerConnectionMax))
                self.pause(.waiting, index)
            }
        }
    }

    /// Decides about a request that was not answered at once, by what its connection is now, and answers it; on the loop's thread.
    ///
    /// Where the connection has ended nothing is decided: the answer is dropped and counted.
    ///
    /// - Parameters:
    ///   - peer: the peer that sent the request.
    ///   - decide: gets whether the connection may begin a session, and whether notices can go to it; answers now.
    package func answer(_ peer: EdgePeer, _ decide: (_ mayBeginSession: Bool, _ push: PushPlace) -> EdgeAnswer) {
        guard let index = self.connections.place(of: peer) else { return self.shared.cells.repliesGone.add() }
        let answer = decide(self.mayBeginSession(index), self.pushPlace(index))
        if answer.hasBegunSession { self.noteSession(index) }
        // It waits for something else now.
        guard let reply = answer.reply else { return }
        if answer.refusesToken { self.noteRefusedToken(index) }
        self.answer(reply, to: peer)
        if let change = answer.push, self.connections.place(of: peer) != nil { self.change(change, index) }
    }

    /// Whether notices can go to a connection that asks, and whose do.
    private func pushPlace(_ index: Int) -> PushPlace {
        guard self.connections.slots[index].connection.peer == .dealer else { return .impossible }
        // A connection of requests cannot subscribe: its notices were pushed.
        guard let pushed = self.connections.slots[index].subscriptions.first, let session = pushed.session else {
            return .free
        }
        return .taken(session: session, stream: pushed.stream.id)
    }

    private func count(_ invalid: EdgeConnection.InvalidMessage, _ index: Int) {
        let label: MetricLabel =
            switch invalid {
            case .noEnvelope: .noEnvelope
            case .tooManyFrames: .tooManyFrames
            case .notSubscription: .notSubscription
            }
        self.metrics.count(.framesRefused, label)
        self.delegate.report(.invalid(invalid, from: self.connections.slots[index].address, on: self.label(of: index)))
    }

    // MARK: - Subscriptions

    private func subscription(_ index: Int, _ topic: Range<Int>, cancels: Bool) {
        self.takeAllowance(index)
        if topic.count == NoticeFrame.syncTopic.count, self.buffers.plain[topic].elementsEqual(NoticeFrame.syncTopic) {
            self.connections.slots[index].isUsed = true
            if cancels { self.endTicks(index) } else { self.beginTicks(index) }
            return
        }
        // A topic is matched whole: a stream's id and its zero byte.
        guard topic.count > 1, topic.count <= WireLimits.streamIDBytesMax + 1,
            self.buffers.plain[topic.upperBound - 1] == 0,
            let id = try? StreamID(String(decoding: self.buffers.plain[topic.dropLast()], as: UTF8.self))
        else {
            if !cancels { self.metrics.count(.framesRefused, .unknownTopic) }
            return
        }
        self.connections.slots[index].isUsed = true
        guard !self.delegate.isProtected(id) else {
            if !cancels { self.metrics.count(.framesRefused, .protectedTopic) }
            return
        }
        let known = self.connections.slots[index].subscriptions.first { $0.stream.id == id }
        if cancels {
            if let known { self.unsubscribe(index, known.stream) }
        } else if known == nil {
            guard self.connections.slots[index].subscriptions.count < self.settings.subscriptionsPerConnectionMax else {
                return self.close(index, .subscriptions)
            }
            self.subscribe(index, to: id)
        }
    }
}
