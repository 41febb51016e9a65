// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
package import GatewayCore
internal import SystemSupport
internal import ZMTP

extension EdgeLoop {
    /// Answers a request that was not answered at once; on the loop's thread.
    ///
    /// An answer to a connection that has ended is dropped and counted.
    package func answer(_ reply: ReplyBytes, to peer: EdgePeer) {
        guard let index = self.connections.place(of: peer) else { return self.shared.cells.repliesGone.add() }
        self.connections.slots[index].waitingCount -= 1
        self.send(reply, index, peer.correlation)
        guard self.connections.place(of: peer) != nil else { return }
        if Int(self.connections.slots[index].waitingCount) <= self.settings.requestsWaitingPerConnectionMax / 2 {
            self.lift(.waiting, index)
        }
    }

    /// Sends a reply; it goes out with the others of the connection.
    func send(_ reply: ReplyBytes, _ index: Int, _ correlation: EdgeCorrelation?) {
        if self.answers.owner != index {
            self.flushAnswers()
            self.answers.begin(index, overWebSocket: self.connections.slots[index].webSocket != nil)
        }
        self.answers.append(reply, correlation)
        if self.answers.isFull { self.flushAnswers() }
    }

    /// Writes the answers that gathered for one connection.
    func flushAnswers() {
        guard let index = self.answers.owner else { return }
        var bytes = self.answers.take()
        self.write(bytes.span, index)
        self.answers.reuse(&bytes)
    }

    /// One frame of a message, with its header.
    static func framed(_ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.count + ZMTPLimits.frameHeaderBytesMax)
        Outgoing.appendFrame(body, to: &bytes)
        return bytes
    }

    // MARK: - Writing

    /// Writes what the kernel takes and keeps the rest, encrypted where the connection is.
    func write(_ bytes: Span<UInt8>, _ index: Int) {
        if let session = self.connections.slots[index].session {
            self.writeEncrypted(bytes, index, session)
        } else {
            self.put(bytes, index)
        }
    }

    /// Writes what the kernel takes, as it is, and keeps the rest.
    func put(_ bytes: Span<UInt8>, _ index: Int) {
        guard self.connections.slots[index].output.isEmpty else { return self.keep(bytes, index) }
        let written = System.write(self.connections.slots[index].descriptor, bytes)
        if written == bytes.count { return }
        if written < 0 {
            guard System.wouldBlock(written) else { return self.close(index) }
            return self.keep(bytes, index)
        }
        self.keep(bytes.extracting(written..<bytes.count), index)
    }

    /// Keeps what the kernel did not take, as it is.
    func keep(_ bytes: Span<UInt8>, _ index: Int) {
        System.append(bytes, to: &self.connections.slots[index].output)
        self.beginStall(index)
        if self.connections.slots[index].output.count - self.connections.slots[index].outputSent
            > EdgeSettings.bytesWaitingBeforePause
        {
            self.pause(.unread, index)
        }
        self.hold(bytes.count)
    }

    /// Something waits for the peer: the poller tells when it takes more.
    func beginStall(_ index: Int) {
        if !self.connections.slots[index].writeProgress.isWaiting {
            self.connections.slots[index].writeProgress.begin(self.bytesWaiting(index), at: self.now)
        }
        self.watch(index)
    }

    /// How many bytes of answers and notices wait for a connection.
    private func bytesWaiting(_ index: Int) -> Int {
        var bytes = self.connections.slots[index].output.count - self.connections.slots[index].outputSent
        for subscription in self.connections.slots[index].subscriptions where subscription.isBehind {
            bytes += subscription.stream.ring.withPending(subscription.cursor.place) { $0.count }
        }
        return bytes
    }

    /// The peer takes something again.
    func writable(_ index: Int) {
        let generation = self.connections.slots[index].generation
        let before = self.bytesWaiting(index)
        self.sendWaiting(index)
        guard self.connections.slots[index].generation == generation,
            self.connections.slots[index].writeProgress.isWaiting
        else { return }
        let left = self.bytesWaiting(index)
        self.connections.slots[index].writeProgress.wrote(before - left, left: left, at: self.now)
    }

    private func sendWaiting(_ index: Int) {
        if !self.connections.slots[index].output.isEmpty {
            let sent = self.connections.slots[index].outputSent
            let output = self.connections.slots[index].output
            let written = System.write(
                self.connections.slots[index].descriptor,
                output.span.extracting(sent..<output.count)
            )
            guard written >= 0 else {
                if !System.wouldBlock(written) { self.close(index) }
                return
            }
            guard sent + written == output.count else {
                self.connections.slots[index].outputSent = sent + written
                return
            }
            self.hold(-output.count)
            self.connections.slots[index].output = []
            self.connections.slots[index].outputSent = 0
            guard self.connections.slots[index].phase != .ending else { return self.closeEnded(index) }
            self.lift(.unread, index)
        }
        self.catchUp(index)
    }

    /// Writes the notices that wait for a connection that was behind.
    private func catchUp(_ index: Int) {
        let generation = self.connections.slots[index].generation
        for number in self.connections.slots[index].subscriptions.indices {
            guard self.connections.slots[index].subscriptions[number].isBehind else { continue }
            let stream = self.connections.slots[index].subscriptions[number].stream
            self.connections.slots[index].subscriptions[number].isBehind = false
            self.writeNotices(index, number, inRound: false)
            // Only now: while it counted, the ring could not be cleared because the last other slow consumer was closed meanwhile.
            stream.behindCount -= 1
            guard self.connections.slots[index].generation == generation else { return stream.clearIfTaken() }
            guard self.connections.slots[index].output.isEmpty,
                !self.connections.slots[index].subscriptions[number].isBehind
            else {
                return
            }
            stream.clearIfTaken()
        }
        self.connections.slots[index].writeProgress.end()
        self.watch(index)
    }
}
