// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire
import GatewayCore

@testable import Cuecast

// Breaks are published, cued, punched, moved, made shorter and longer, ended and cancelled, at the worst of times too.
extension World {
    func advertisements(_ name: String) -> [AdvertisementContent] {
        (0..<3)
            .map { index in
                guard let id = try? AdvertisementID("\(name)-\(index)") else {
                    preconditionFailure("not an advertisement id")
                }
                return AdvertisementContent(
                    id: id,
                    title: "Advertisement \(index)",
                    duration: .seconds([5, 10, 15][index]),
                    media: [.init(url: "https://media.example/\(name)-\(index).mp3", type: "audio/mpeg")],
                    trackers: ["impression", "start", "firstQuartile", "complete", "skip", "error"]
                        .map { .init(event: $0, url: "https://track.example/\(name)-\(index)/\($0)/[CACHEBUSTING]") }
                )
            }
    }

    mutating func broadcast() {
        // Sometimes so soon that no head comes between two notices.
        self.schedule(.broadcaster, in: self.chance(0.3) ? self.some(0.05...0.3) : self.some(1...25))
        guard self.isOnAir else { return }
        let now = self.gatewayTime
        self.openBreaks.removeAll { self.gateway[$0.id]?.isOver(at: now) ?? true }
        if let key = self.openBreaks.first, self.chance(0.5) { return self.change(key, at: now) }
        guard self.openBreaks.isEmpty else { return }
        self.breakNumber += 1
        let key = breakKey("b\(self.breakNumber)")
        let isCued = self.chance(0.2)
        let notices = self.ask(
            .publish(
                BroadcastRequest.Publish(
                    key: key,
                    start: isCued ? nil : .after(.seconds(self.some(0...10))),
                    duration: self.chance(0.8) ? .seconds(30) : nil,
                    advertisements: self.advertisements(key.id.description),
                    exact: self.chance(0.3),
                    endMode: self.chance(0.5) ? .cut : .finishAd,
                    hold: isCued ? .seconds(60) : nil
                )
            )
        )
        self.openBreaks = [key]
        self.publish(notices)
    }

    /// Sends a request of the broadcaster; returns the resulting notices, none if the gateway refuses it.
    mutating func ask(_ kind: BroadcastRequest.Kind) -> [Notice] {
        (try? self.gateway.ask(kind, at: self.gatewayTime)) ?? []
    }

    private mutating func change(_ key: BreakKey, at now: Timestamp) {
        guard let each = self.gateway[key.id] else { return }
        let kind: BroadcastRequest.Kind
        if each.waitsForPunch {
            kind = .punch(BroadcastRequest.Punch(key: key, start: .after(.seconds(self.some(0...3)))))
        } else if self.chance(0.4) {
            kind = .cancel(key)
        } else if each.state(at: now) == .live {
            let end = now + .seconds(self.some(0...5))
            if self.chance(0.5) {
                kind = .end(BroadcastRequest.End(key: key, at: self.chance(0.5) ? end : nil))
            } else {
                kind = .update(BroadcastRequest.Update(key: key, duration: .seconds(self.some(20...45))))
            }
        } else {
            kind = .update(BroadcastRequest.Update(key: key, start: .after(.seconds(self.some(0.1...8)))))
        }
        self.publish(self.ask(kind))
    }
}
