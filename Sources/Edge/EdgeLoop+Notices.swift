// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
internal import GatewayCore
internal import SystemSupport

extension EdgeLoop {
    // MARK: - Who hears what

    /// From now on a connection hears a stream: every notice that comes after this, and none from before.
    func subscribe(_ index: Int, to id: StreamID, _ framing: NoticeFraming = .frames) {
        let subscription = self.fanOut.add(index, to: id, framing, at: self.clock.elapsed)
        self.connections.slots[index].subscriptions.append(subscription)
    }

    /// A connection that hears one stream has everything up to a sequence: every notice above it follows, and none below.
    func follow(_ sequence: UInt64, _ index: Int) {
        let stream = self.connections.slots[index].subscriptions[0].stream
        self.connections.slots[index].subscriptions[0].cursor
            .follow(sequence, sent: self.fanOut.sequence(of: stream.id), end: stream.ring.end)
        if self.connections.slots[index].subscriptions[0].cursor.isEarly { stream.early.insert(UInt32(index)) }
    }

    /// Applies the changes that a request made to notices on its own connection; its answer was sent before.
    func change(_ change: PushChange, _ index: Int) {
        switch change {
        case .begins(let session, let id, let head, let proof):
            self.push(id, of: session, above: head, proof, to: index)
        case .ends:
            if let pushed = self.connections.slots[index].subscriptions.first { self.unsubscribe(index, pushed.stream) }
        }
    }

    /// Every notice above the head of the answer follows it: what waited for the connection is in the answer, and so is what comes
    /// into the ring up to that head.
    private func push(_ id: StreamID, of session: SessionID, above head: Position, _ proof: PushProof?, to index: Int) {
        if self.connections.slots[index].subscriptions.isEmpty {
            self.subscribe(index, to: id)
            self.connections.slots[index].subscriptions[0].session = session
            self.fanOut.beginPush(of: self.connections.slots[index].subscriptions[0].stream)
        }
        self.connections.slots[index].subscriptions[0].proof = proof
        let stream = self.connections.slots[index].subscriptions[0].stream
        self.follow(head.sequence, index)
        guard self.connections.slots[index].subscriptions[0].isBehind else { return }
        self.connections.slots[index].subscriptions[0].isBehind = false
        stream.behindCount -= 1
        stream.clearIfTaken()
    }

    /// A connection hears a stream no more.
    func unsubscribe(_ index: Int, _ stream: EdgeStream) {
        guard let number = self.connections.slots[index].subscriptions.firstIndex(where: { $0.stream === stream })
        else {
            return
        }
        let subscription = self.connections.slots[index].subscriptions.remove(at: number)
        guard let moved = self.fanOut.remove(index, subscription).map({ Int($0) }),
            let other = self.connections.slots[moved].subscriptions.firstIndex(where: { $0.stream === stream })
        else { return }
        self.connections.slots[moved].subscriptions[other].place = subscription.place
    }

    // MARK: - Notices

    /// So many bytes of notices at most are written to a connection before others have their turn.
    ///
    /// A burst of some hundred notices is less. The kernel would accept megabytes for a slow consumer at once, which is
    /// milliseconds.
    static let noticesBytesMax = 65_536

    /// Puts notices into the rings of their streams.
    func append(_ notices: [EdgeNotice]) {
        for notice in notices {
            if let stream = self.fanOut.noticed(notice, at: self.clock.elapsed) {
                self.append(notice.frame, notice.sequence, to: stream)
            }
            if self.fanOut.hasEventStreams { self.append(notice, toEventsOf: notice.stream) }
        }
    }

    func append(
        _ frame: [UInt8],
        _ sequence: UInt64,
        to stream: EdgeStream,
        isForPushed: Bool = true
    ) {
        // A connection that reads in time loses nothing, however much is sent. A slow consumer is skipped ahead as soon as the
        // kernel's buffer and the ring are full.
        if !stream.ring.hasRoom(for: frame.count) { self.writeNotices() }
        // Writing may have shown that the last subscriber is gone.
        guard !stream.subscribers.isEmpty else { return }
        let before = stream.ring.end
        stream.append(frame)
        if !isForPushed, stream.pushedCount > 0 { self.passPushed(stream, from: before) }
        if !stream.early.isEmpty { self.advanceEarlyCursors(sequence, of: stream) }
        if stream.beginRound() { self.runQueue.append(stream) }
        if self.fanOut.holdsTooMuch { self.boundRings() }
    }

    /// Those that have the notices pushed go past what came into the ring last, unless something else waits for them.
    private func passPushed(_ stream: EdgeStream, from before: NoticeRing.Cursor) {
        let end = stream.ring.end
        for slot in stream.subscribers {
            // Such a connection hears one stream.
            guard let first = self.connections.slots[Int(slot)].subscriptions.first, first.session != nil,
                !first.isBehind
            else {
                continue
            }
            self.connections.slots[Int(slot)].subscriptions[0].cursor.pass(from: before, to: end)
        }
    }

    /// Those that joined on a newer board than this ring knew skip what is in their answer.
    private func advanceEarlyCursors(_ sequence: UInt64, of stream: EdgeStream) {
        let end = stream.ring.end
        for slot in stream.early {
            let index = Int(slot)
            self.connections.slots[index].subscriptions[0].cursor.appended(sequence, end: end)
            if !self.connections.slots[index].subscriptions[0].cursor.isEarly { stream.early.remove(slot) }
        }
    }

    /// Has the largest rings let go of their older halves, until there is room again for a while.
    private func boundRings() {
        // Writing first means that connections that keep up lose nothing.
        self.writeNotices()
        if self.fanOut.bound() { self.metrics.count(.limitsHit, .limit(.ringsBytesMax)) }
    }

    /// Writes notices to the connections that hear them, whatever else waits.
    ///
    /// - Parameter turnsMax: so many turns of streams at most.
    func writeNotices(turnsMax: Int = .max) {
        var left = turnsMax
        while left > 0, let stream = self.runQueue.takeStream() {
            left -= 1
            self.goOn(with: stream)
        }
    }

    /// Gives some subscribers of a stream their turn in its round.
    ///
    /// The streams take turns, so that one with many listeners, or with a flood of notices, does not hold up the others.
    func goOn(with stream: EdgeStream) {
        defer { self.runQueue.hadTurn(stream) }
        var left = Self.subscribersPerTurn
        while left > 0, let slot = stream.next() {
            left -= 1
            let index = Int(slot)
            guard let number = self.connections.slots[index].subscriptions.firstIndex(where: { $0.stream === stream })
            else {
                continue
            }
            let subscription = self.connections.slots[index].subscriptions[number]
            guard !subscription.isBehind, subscription.cursor.place != stream.ring.end else { continue }
            self.writeNotices(index, number, inRound: true)
        }
    }

    /// Writes what waits for a connection on one stream, as one piece: in a round, or because it takes something again.
    ///
    /// Bytes beyond ``noticesBytesMax`` wait for another turn, behind the other connections.
    func writeNotices(_ index: Int, _ number: Int, inRound: Bool) {
        let stream = self.connections.slots[index].subscriptions[number].stream
        let cursor = self.connections.slots[index].subscriptions[number].cursor.place
        // An answer that gathered for it goes first.
        if self.answers.owner == index { self.flushAnswers() }
        guard self.connections.slots[index].phase != .free else { return }
        guard self.connections.slots[index].output.isEmpty else { return self.fallBehind(index, number) }
        if stream.ring.hasOverrun(cursor) {
            // Its position tells it that notices are missing.
            self.metrics.count(.limitsHit, .limit(.ringBytesMax))
            // Readers of events need not look at positions.
            guard self.connections.slots[index].events == nil else { return self.close(index, .slow) }
            self.connections.slots[index].subscriptions[number].cursor.place = stream.ring.end
            return
        }
        let (count, next) = stream.ring.wholeFrames(behind: cursor, bytesMax: Self.noticesBytesMax)
        if self.connections.slots[index].webSocket != nil {
            self.writeNotices(index, number, overWebSocketUntil: next)
        } else if let session = self.connections.slots[index].session {
            self.writeNotices(index, number, through: session, until: next)
        } else {
            self.writeNotices(index, number, bytes: count, until: next)
        }
        guard self.connections.slots[index].phase != .free,
            !self.connections.slots[index].subscriptions[number].isBehind,
            self.connections.slots[index].subscriptions[number].cursor.place != stream.ring.end
        else { return }
        if inRound { stream.goOn() } else { self.fallBehind(index, number) }
    }

    private func writeNotices(_ index: Int, _ number: Int, bytes wanted: Int, until next: NoticeRing.Cursor) {
        let stream = self.connections.slots[index].subscriptions[number].stream
        let cursor = self.connections.slots[index].subscriptions[number].cursor.place
        let descriptor = self.connections.slots[index].descriptor
        let written = stream.ring.withPending(cursor) { System.write(descriptor, $0.extracting(0..<wanted)) }
        if written == wanted {
            self.connections.slots[index].subscriptions[number].cursor.place = next
        } else if written >= 0 {
            // A frame that is begun has to be finished, whatever becomes of the ring.
            let (rest, next) = stream.ring.restOfFrame(after: written, behind: cursor)
            self.connections.slots[index].subscriptions[number].cursor.place = next
            if !rest.isEmpty { self.keep(rest.span, index) }
            if self.connections.slots[index].phase != .free { self.fallBehind(index, number) }
        } else if System.wouldBlock(written) {
            self.fallBehind(index, number)
        } else {
            self.close(index)
        }
    }

    func fallBehind(_ index: Int, _ number: Int) {
        if !self.connections.slots[index].subscriptions[number].isBehind {
            self.connections.slots[index].subscriptions[number].isBehind = true
            self.connections.slots[index].subscriptions[number].stream.behindCount += 1
        }
        self.beginStall(index)
    }

    // MARK: - Heads and ticks

    /// Repeats the positions that are due.
    func sendHeads() {
        for due in self.fanOut.takeRepeats(at: self.clock.elapsed) {
            self.sendHead(of: due.stream, isForPushed: due.isForPushed)
        }
    }

    /// Asks all listeners of this loop to go on at other gateways.
    ///
    /// - Parameter move: the request to the listeners of a stream.
    package func askToMove(_ move: (StreamID) -> Move) {
        for id in self.fanOut.heard { self.sendHead(of: id, isForPushed: true, move: move(id)) }
    }

    private func sendHead(of id: StreamID, isForPushed: Bool, move: Move? = nil) {
        let position = Position(epoch: self.settings.epoch, sequence: self.fanOut.sequence(of: id))
        let head = Notice.head(position, sent: self.delegate.now, move: move)
        if isForPushed, self.fanOut.hasEventStreams { self.append(head, toEventsOf: id) }
        guard let stream = self.fanOut.stream(id) else { return }
        guard isForPushed || stream.pushedCount < stream.subscribers.count else { return }
        let frame = Self.framed(NoticeFrame.notice(head, stream: id).encoded())
        self.append(frame, position.sequence, to: stream, isForPushed: isForPushed)
        self.metrics.count(.headsSent)
    }

    /// Sends the tick to every connection that asked for it.
    func tick() {
        self.ticks.count()
        guard !self.ticks.slots.isEmpty else { return }
        let tick = self.encodedTick
        for slot in self.ticks.slots { self.sendTick(tick, Int(slot)) }
    }

    private var encodedTick: EncodedTick {
        EncodedTick(SyncTick(instance: self.settings.instance, counter: self.ticks.counter))
    }

    /// Sends a tick, which says that earlier subscriptions have taken effect.
    ///
    /// A connection with waiting notices gets none, because it would arrive late.
    private func sendTick(_ tick: EncodedTick, _ index: Int) {
        guard !self.connections.slots[index].writeProgress.isWaiting else { return }
        let isOverWebSocket = self.connections.slots[index].webSocket != nil
        self.write(isOverWebSocket ? tick.message.span : tick.frame.span, index)
    }

    /// The proof that subscriptions have taken effect: they were made on this thread, before this, so the first tick can go
    /// at once.
    func beginTicks(_ index: Int) {
        guard self.connections.slots[index].tickPlace < 0 else { return }
        self.connections.slots[index].tickPlace = self.ticks.add(index)
        self.sendTick(self.encodedTick, index)
    }

    func endTicks(_ index: Int) {
        let place = self.connections.slots[index].tickPlace
        guard place >= 0 else { return }
        self.connections.slots[index].tickPlace = -1
        if let moved = self.ticks.remove(at: place) { self.connections.slots[moved].tickPlace = place }
    }
}
