// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) internal import Cuecast
internal import CuecastWire
internal import NIOCore

/// The channels of one listener's connection, on their loop.
///
/// One is for requests, replies and notices; another one beside it, from the first subscription on, is for notices. Both end
/// together.
final class ListenerChannels: LinkOwner {
    enum Command: Sendable {
        case open(requests: GatewayEndpoint, notices: GatewayEndpoint)
        case subscribe([UInt8])
        case unsubscribe([UInt8])
        case send([UInt8])
        case close
        case dropped
    }

    private let loop: any EventLoop
    private let connector: PlatformConnector
    private let timings: LinkTimings
    private let receive: @Sendable (ListenerConnectionEvent) -> Void
    private var noticesEndpoint: GatewayEndpoint?
    private var endpoints: [WireLink.Channel: GatewayEndpoint] = [:]
    private var links: [WireLink.Channel: LinkHandler] = [:]
    /// The first subscriptions, until their channel is there.
    private var subscriptions: [Command] = []
    /// All that were made, also those that are only tried: a host may have several addresses.
    private var channels: [ObjectIdentifier: any Channel] = [:]
    private var isOver = false
    private var reason = ""

    init(
        on loop: any EventLoop,
        connector: PlatformConnector,
        timings: LinkTimings,
        receive: @escaping @Sendable (ListenerConnectionEvent) -> Void
    ) {
        self.loop = loop
        self.connector = connector
        self.timings = timings
        self.receive = receive
    }

    func perform(_ command: Command) {
        guard !self.isOver else { return }
        switch command {
        case .open(let requests, let notices):
            self.noticesEndpoint = notices
            self.connect(.requests, to: requests)
        case .subscribe(let topic): self.subscribe(topic, command)
        case .unsubscribe(let topic):
            // Before the first subscription there is nothing to end.
            if self.endpoints[.notices] != nil { self.subscribe(topic, command) }
        case .send(let request): self.links[.requests]?.send(request)
        case .close: self.end(reason: "closed by the client")
        case .dropped: self.end(reason: "dropped by the client")
        }
    }

    // MARK: Connecting

    private func connect(_ channel: WireLink.Channel, to endpoint: GatewayEndpoint) {
        self.endpoints[channel] = endpoint
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.connector
            .connect(to: endpoint, on: self.loop, connectMax: self.timings.connectMax) { made in
                bound.value.isMade(made)
            }
            .whenComplete { result in
                switch result {
                case .success(let made): bound.value.connected(channel, made)
                case .failure(let error):
                    bound.value.failed(PlatformConnector.sentence(of: error, on: nil), on: channel)
                }
            }
    }

    /// A channel begins to be tried.
    private func isMade(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard !self.isOver else { return self.loop.makeFailedFuture(ChannelError.alreadyClosed) }
        let id = ObjectIdentifier(channel)
        self.channels[id] = channel
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        channel.closeFuture.whenComplete { _ in bound.value.isClosed(id) }
        return self.loop.makeSucceededVoidFuture()
    }

    private func connected(_ channel: WireLink.Channel, _ made: any Channel) {
        guard !self.isOver else { return made.close(promise: nil) }
        let isEncrypted = self.endpoints[channel]?.isEncrypted ?? false
        let connector = self.connector
        let link = LinkHandler(
            channel,
            timings: self.timings,
            over: self.endpoints[channel]?.webSocket,
            owner: self,
            inspect: isEncrypted && connector.inspectsLater ? { connector.refusal(of: $0) } : nil
        )
        self.links[channel] = link
        do {
            try self.connector.finish(made, to: self.endpoints[channel], link: link)
        } catch {
            return self.failed(PlatformConnector.sentence(of: error, on: made), on: channel)
        }
        guard channel == .notices else { return }
        let waiting = self.subscriptions
        self.subscriptions = []
        for command in waiting { self.perform(command) }
    }

    private func subscribe(_ topic: [UInt8], _ command: Command) {
        if self.endpoints[.notices] == nil, let noticesEndpoint { self.connect(.notices, to: noticesEndpoint) }
        guard let link = self.links[.notices] else {
            guard self.subscriptions.count < ListenerConnectionNIO.commandsMax else {
                return self.end(reason: "too many subscriptions wait for the connection")
            }
            return self.subscriptions.append(command)
        }
        let cancel = if case .unsubscribe = command { true } else { false }
        if !link.subscribe(topic, cancel: cancel) {
            self.end(reason: "too many subscriptions wait for the connection")
        }
    }

    // MARK: What the channels say

    func happened(_ event: WireLink.Event, on channel: WireLink.Channel) {
        guard !self.isOver else { return }
        switch event {
        case .opened: if channel == .requests { self.receive(.connected) }
        case .notice(let frame): self.receive(.notice(frame))
        case .reply(let frame): self.receive(.reply(frame))
        case .dropped: self.dropped(1)
        case .closed: self.failed("the gateway closed the connection", on: channel)
        case .failed(let reason): self.failed(reason, on: channel)
        }
    }

    func dropped(_ count: Int) {
        if !self.isOver { self.receive(.messagesDropped(count)) }
    }

    func failed(_ reason: String, on channel: WireLink.Channel) {
        let place = self.endpoints[channel].map { " (\($0))" } ?? ""
        self.end(reason: reason + place)
    }

    // MARK: The end

    private func end(reason: String) {
        guard !self.isOver else { return }
        self.isOver = true
        self.reason = reason
        self.subscriptions = []
        for link in self.links.values { link.end() }
        self.links = [:]
        guard !self.channels.isEmpty else { return self.sayClosed() }
        for channel in self.channels.values { channel.close(promise: nil) }
    }

    private func isClosed(_ id: ObjectIdentifier) {
        self.channels[id] = nil
        if self.isOver, self.channels.isEmpty { self.sayClosed() }
    }

    /// Nothing is open any more: the last word, once.
    private func sayClosed() {
        let reason = self.reason
        self.receive(.closed(reason: reason))
    }
}
