// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire

@testable import Cuecast

// What lies between the listener and the gateway: notices are lost, late and repeated, and so are requests and replies.
extension World {
    mutating func carry(out action: ListenerCore.Action) {
        let link = self.links.count - 1
        switch action {
        case .connect(let attempt, _):
            self.links.append(Link(run: self.run, attempt: attempt))
            let link = self.links.count - 1
            self.subscribed = []
            self.isConnected = false
            if self.trouble(0.1) {
                self.schedule(.toListener(.closed(reason: "refused"), link: link), in: self.some(0...0.2))
            } else if !self.trouble(0.05) {
                self.isConnected = true
                self.schedule(.toListener(.connected, link: link), in: self.some(0.01...0.2))
            }
        case .disconnect: self.isConnected = false
        case .subscribe(let topic): self.schedule(.effective(topic, link: link), in: self.some(0.01...0.02))
        case .unsubscribe(let topic): self.subscribed.remove(topic)
        case .send(let frame):
            self.witness.inFlightMax = max(self.witness.inFlightMax, self.core.conversation.requests.count)
            self.witness.sent(frame, isDiskUsed: self.core.disk != .failing && self.core.disk != .none)
            guard self.isConnected, !self.trouble(0.03) else { return }
            self.schedule(.toGateway(frame, link: link), in: self.some(0.002...0.08))
            if self.trouble(0.02) { self.schedule(.toGateway(frame, link: link), in: self.some(0.002...6)) }
        default: break
        }
    }

    mutating func carry(_ occurrence: Occurrence) {
        switch occurrence {
        case .toListener(let event, let link): self.deliver(event, on: link)
        case .toGateway(let frame, let link):
            if self.trouble(0.005) {
                self.gateway.fail(frame, at: self.gatewayTime)
                return self.breakConnection()
            }
            let reply = self.gateway.answer(frame, at: self.gatewayTime)
            guard link == self.links.count - 1, self.isConnected, !self.trouble(0.03) else { return }
            self.schedule(.toListener(.reply(reply), link: link), in: self.some(0.002...0.08))
            if self.trouble(0.05) { self.schedule(.toListener(.reply(reply), link: link), in: self.some(0.002...8)) }
        case .effective(let topic, let link):
            guard link == self.links.count - 1, self.isConnected else { return }
            self.subscribed.insert(topic)
            if topic == NoticeFrame.syncTopic { self.schedule(.tick(link: link), in: self.some(0...0.05)) }
        case .tick(let link):
            guard link == self.links.count - 1, self.isConnected, self.subscribed.contains(NoticeFrame.syncTopic)
            else { return }
            let tick = NoticeFrame.tick(SyncTick(instance: self.gateway.instance, counter: 1)).encoded()
            self.schedule(.toListener(.notice(tick), link: link), in: 0.005)
            self.schedule(.tick(link: link), in: 0.05)
        default: break
        }
    }

    private mutating func deliver(_ event: ListenerConnectionEvent, on link: Int) {
        guard self.isAppAlive, self.links[link].run == self.run else { return }
        if link == self.links.count - 1, !self.isConnected, event != .connected {
            guard case .closed = event else { return }
        }
        self.core.transport(event, attempt: self.links[link].attempt, now: self.appNow)
    }

    private mutating func breakConnection() {
        guard self.isConnected else { return }
        self.isConnected = false
        self.schedule(.toListener(.closed(reason: "reset"), link: self.links.count - 1), in: 0)
    }

    mutating func publish(_ notices: [Notice]) {
        self.send(notices)
        self.runGatewayTimers()
    }

    /// Does what time brings at the gateway, and comes back when there is more.
    mutating func runGatewayTimers() {
        let (notices, next) = self.gateway.runTimers(at: self.gatewayTime)
        self.gatewayTimerNumber += 1
        if let next {
            let wait = max((next - self.gatewayTime).inSeconds, 0.000_1)
            self.schedule(.gatewayTimer(number: self.gatewayTimerNumber), in: wait)
        }
        self.send(notices)
    }

    private mutating func send(_ notices: [Notice]) {
        for notice in notices {
            if notice.kind != .head { self.witness.published += 1 }
            self.send(.notice(notice, stream: self.settings.stream))
        }
    }

    private mutating func send(_ frame: NoticeFrame) {
        guard self.isConnected, self.subscribed.contains(NoticeFrame.topic(of: self.settings.stream)) else { return }
        guard !self.trouble(0.08) else { return }
        let event = ListenerConnectionEvent.notice(frame.encoded())
        let link = self.links.count - 1
        let late = self.trouble(0.1) ? self.some(0...2) : 0
        self.schedule(.toListener(event, link: link), in: late + self.some(0.002...0.02))
        if self.trouble(0.1) { self.schedule(.toListener(event, link: link), in: self.some(0.002...3)) }
    }
}
