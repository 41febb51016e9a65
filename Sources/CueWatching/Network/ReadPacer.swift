// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import NIOCore

/// Lets datagrams wait in the system's buffer for some milliseconds, and reads them together.
///
/// A transport stream has thousands of datagrams a second, one at a time. To wake two threads for each of them takes most of the
/// time that a watcher needs. A channel that has just read as many messages as it may reads on at once.
final class ReadPacer: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = Never

    private let interval: TimeAmount
    /// How many messages the channel reads at a time: after so many, more may wait.
    private let messagesPerReadMax: Int
    private var next: NIODeadline?
    private var waiting: Scheduled<Void>?
    private var messages = 0

    init(interval: TimeAmount, messagesPerReadMax: Int) {
        self.interval = interval
        self.messagesPerReadMax = messagesPerReadMax
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.messages += 1
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard self.waiting == nil else { return }
        guard let next = self.next, next > context.eventLoop.now, self.messages < self.messagesPerReadMax else {
            self.readNow(context)
            return
        }
        self.waiting = context.eventLoop.assumeIsolated()
            .scheduleTask(deadline: next) {
                self.waiting = nil
                self.readNow(context)
            }
    }

    private func readNow(_ context: ChannelHandlerContext) {
        self.messages = 0
        self.next = context.eventLoop.now + self.interval
        context.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.cancel() }

    private func cancel() {
        self.waiting?.cancel()
        self.waiting = nil
    }
}

@available(*, unavailable)
extension ReadPacer: Sendable {}
