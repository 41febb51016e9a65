// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
import Logging
import ServiceLifecycle
package import ZeroMQ

/// Publishes notices, head notices and ticks on the XPUB socket, which lives on a thread of its own.
package actor FanOutService: Service, NoticeSink {
    package struct Settings: Sendable {
        /// Which run of the gateway this is.
        package var instance: UInt64
        /// How often a stream's position is repeated when nothing else happens.
        package var headInterval: Duration
        /// How often the tick is sent that proves subscriptions.
        package var syncInterval: Duration = .milliseconds(50)

        package init(instance: UInt64, headInterval: Duration) {
            self.instance = instance
            self.headInterval = headInterval
        }
    }

    /// How often the socket is touched.
    ///
    /// libzmq attaches and detaches peers only inside calls on the socket, and an ad gateway is silent for minutes.
    private static let touchInterval: Duration = .milliseconds(10)
    /// The most messages of peers looked at in one touch.
    private static let receivedPerTouchMax = 4_096

    private let thread: PollingThread
    private var socket: Socket?
    private let settings: Settings
    private let clock: any GatewayClock
    private let metrics: MetricRegistry
    private let peers: PeerLog
    private var frames = FrameBuffer(framesMax: 1)
    private var heads: HeadSchedule
    /// What was sent last, which is what a head notice may tell: the board may be ahead.
    private var sent: [StreamID: UInt64]
    private let epoch: UInt64
    private var tickCounter: UInt64 = 0
    /// Head notices and ticks keep their rhythm when the clock is set: they go by a time of their own.
    private let begun = ContinuousClock.now
    private var nextTick = ContinuousClock.now

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.thread.asUnownedSerialExecutor()
    }

    package init(
        thread: PollingThread,
        socket: consuming sending Socket,
        board: Board,
        settings: Settings,
        clock: any GatewayClock,
        metrics: MetricRegistry,
        peers: PeerLog
    ) {
        self.thread = thread
        self.socket = consume socket
        self.settings = settings
        self.clock = clock
        self.metrics = metrics
        self.peers = peers
        self.heads = HeadSchedule(interval: settings.headInterval)
        self.epoch = board.epoch
        self.sent = board.sequences
    }

    isolated deinit {}  // The socket is closed on its thread.

    package func run() async throws {
        guard let socket = self.socket.take() else { return }
        self.thread.attach(socket, for: self) { $0.receive() }
        self.socket = consume socket
        let tick = self.thread.tick(every: Self.touchInterval, for: self) { $0.touch() }
        // What the board has handed over is sent by then: `publish` returns when it is.
        try? await gracefulShutdown()
        tick.cancel()
        self.socket = nil
    }

    /// The time that head notices go by.
    private var elapsed: Timestamp {
        Timestamp(microseconds: (ContinuousClock.now - self.begun).inMicroseconds)
    }

    package func publish(_ notices: [StreamNotice]) {
        for each in notices {
            let now = self.clock.now()
            var notice = each.notice
            let made = notice.sent
            notice.sent = now
            self.send(NoticeFrame.notice(notice, stream: each.stream).encoded())
            self.sent[each.stream] = notice.position.sequence
            self.heads.noticed(each.stream, at: self.elapsed)
            self.metrics.count(.noticesSent)
            self.metrics.observe(.noticeSeconds, now - made)
        }
    }

    private func touch() {
        self.receive()
        for stream in self.heads.due(at: self.elapsed) {
            let position = Position(epoch: self.epoch, sequence: self.sent[stream] ?? 0)
            self.send(NoticeFrame.notice(.head(position, sent: self.clock.now()), stream: stream).encoded())
            self.metrics.count(.headsSent)
        }
        let now = ContinuousClock.now
        guard now >= self.nextTick else { return }
        self.nextTick = now + self.settings.syncInterval
        self.tickCounter += 1
        self.send(
            NoticeFrame.tick(SyncTick(instance: self.settings.instance, counter: self.tickCounter)).encoded()
        )
    }

    private func send(_ frame: [UInt8]) {
        do throws(ZeroMQError) {
            // A publisher never blocks: what a slow listener's queue cannot take is dropped for it alone, and its
            // position tells it so.
            _ = try self.socket?.send(frame)
        } catch {
            self.peers.log(.sockets, .error, "could not publish", ["error": "\(error)"])
        }
    }

    /// Learns from subscriptions which streams need head notices.
    ///
    /// Whatever else peers send is dropped and counted.
    private func receive() {
        for _ in 0..<Self.receivedPerTouchMax {
            do throws(ZeroMQError) {
                switch try self.socket?.receive(into: &self.frames) {
                case .nothing, nil: return
                case .message: self.subscription(self.frames.bytes(at: 0))
                case .tooManyFrames: self.refuse(.tooManyFrames, "it has too many frames")
                }
            } catch {
                self.peers.log(.sockets, .error, "could not receive subscriptions", ["error": "\(error)"])
                return
            }
        }
    }

    private func refuse(_ label: MetricLabel, _ reason: String) {
        self.metrics.count(.framesRefused, label)
        self.peers.log(
            .frames,
            .notice,
            "a message is no subscription, and has no answer",
            ["socket": "notices", "reason": "\(reason)"]
        )
    }

    private func subscription(_ message: [UInt8]) {
        guard let first = message.first, first <= 1 else {
            return self.refuse(.notSubscription, "its first byte is not 0 or 1")
        }
        // Topics of other forms (the tick's, prefixes) are legal and need no head notices.
        guard message.last == 0, message.count > 2,
            let stream = try? StreamID(String(decoding: message[1..<(message.count - 1)], as: UTF8.self))
        else { return }
        if first == 0 {
            self.heads.unsubscribed(stream)
        } else if !self.heads.subscribed(stream, at: self.elapsed) {
            self.metrics.count(.limitsHit, .limit(.streamsMax))
        }
        self.metrics.set(.subscribedStreams, to: self.heads.count)
    }
}
