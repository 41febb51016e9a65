// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

// Breaks of ours.
extension RunDriver {
    /// Sends the breaks whose time has come; where another process does it, they are only made known.
    func publishDue(in loop: LoadLoop<RunDriver>) {
        guard self.phase == .running, let first = self.firstPublication else { return }
        let now = Self.microseconds(loop.now)
        let retries = self.retries
        self.retries = []
        for each in retries { self.publish(each, now: now, in: loop) }
        while self.nextPublication < self.plan.count, first + self.plan.planned(self.nextPublication) <= now {
            let number = self.nextPublication
            self.nextPublication += 1
            self.prepareNext(first: first)
            guard let publication = self.publication(number, first: first, now: now) else { continue }
            self.world.streams[publication.stream].update(publication.breakIndex) { $0.isDue = true }
            if self.settings.publishes { self.publish(publication, now: now, in: loop) }
        }
        if self.nextPublication < self.plan.count {
            let next = first + self.plan.planned(self.nextPublication)
            loop.schedule(TimerToken(kind: TimerKind.publish), at: Self.time(next))
        }
    }

    private func publication(_ number: Int, first: Microseconds, now: Microseconds) -> Publication? {
        let stream = self.plan.stream(of: number)
        let planned = first + self.plan.planned(number)
        let start = self.firstPublicationAtGateway.map { $0 + .microseconds(self.plan.planned(number)) }
        guard let request = try? self.plan.publication(number, at: start),
            let index = self.world.streams[stream].index(of: request.key.id)
        else { return nil }
        return Publication(
            number: number,
            stream: stream,
            breakIndex: index,
            planned: planned,
            request: request,
            sent: now
        )
    }

    /// Makes the next two breaks of each stream known, so that their content is expected.
    func prepareNext(first: Microseconds) {
        while self.prepared < min(self.plan.count, self.nextPublication + 2 * self.plan.streams.count) {
            let stream = self.plan.stream(of: self.prepared)
            if let id = try? self.plan.id(of: self.prepared),
                let advertisements = try? self.plan.advertisements(of: self.prepared)
            {
                self.world.streams[stream]
                    .add(
                        id,
                        content: AdvertisementFacts.expected(of: advertisements),
                        planned: first + self.plan.planned(self.prepared)
                    )
            }
            self.prepared += 1
        }
    }

    private func publish(_ publication: Publication, now: Microseconds, in loop: LoadLoop<RunDriver>) {
        guard let broadcaster, self.isBroadcasterReady else {
            self.retries.append(publication)
            return
        }
        var publication = publication
        publication.sent = now
        publication.tries += 1
        self.lastPublicationID += 1
        self.publications[self.lastPublicationID] = publication
        loop.sendRequest(
            BroadcastRequest(id: self.lastPublicationID, kind: .publish(publication.request)).encoded(),
            on: broadcaster
        )
    }

    /// The gateway has answered a publication.
    func published(_ message: Span<UInt8>, now: Microseconds, in loop: LoadLoop<RunDriver>) {
        guard !self.hasGivenUpPublishing else { return }
        let bytes = message.indices.map { message[$0] }
        guard let reply = try? BroadcastReply(decoding: bytes),
            let publication = self.publications.removeValue(forKey: reply.requestID)
        else {
            self.world.statistics.findings.add(.malformed, "an answer to a publication cannot be read")
            return
        }
        self.progressed = now
        self.publicationAnswered = now
        switch reply.body {
        case .break(let info):
            self.world.statistics.counts.published += 1
            self.world.statistics.publish.record(
                intended: publication.planned,
                began: publication.sent,
                ended: now
            )
            self.world.streams[publication.stream]
                .update(publication.breakIndex) { $0.plannedAnnouncement = info.announce }
        case .refused(let refusal) where refusal.status.canRetry && publication.tries < 10:
            self.retries.append(publication)
            loop.schedule(
                TimerToken(kind: TimerKind.publish),
                at: loop.now + max(refusal.retryAfter, .milliseconds(100))
            )
        case .refused(let refusal): self.notPublished(publication, "\(refusal)")
        case .list, .adList, .adLists, .cueRule: self.notPublished(publication, "the answer is another one")
        }
    }

    private func notPublished(_ publication: Publication, _ reason: String) {
        let stream = self.world.streams[publication.stream]
        self.world.statistics.findings.add(
            .breaksNotPublished,
            "break \(stream.breaks[publication.breakIndex].id) of \(stream.id): \(reason)"
        )
        // The gateway refused it, so no listener was notified.
        self.world.streams[publication.stream].update(publication.breakIndex) { $0.isRefused = true }
    }

    /// Counts publications that are still open as not published, because the gateway has not answered for too long.
    func giveUpPublishing() {
        self.hasGivenUpPublishing = true
        let open = (self.publications.values + self.retries).sorted { $0.number < $1.number }
        self.publications = [:]
        self.retries = []
        for each in open { self.notPublished(each, "\(self.broadcastEndpoint) does not accept it") }
    }

    func broadcasterEnded(in loop: LoadLoop<RunDriver>) {
        self.isBroadcasterReady = false
        self.broadcaster = nil
        // The gateway takes a repeat for the same break.
        self.retries += self.publications.values.sorted { $0.number < $1.number }
        self.publications = [:]
        loop.schedule(TimerToken(kind: TimerKind.broadcaster), at: loop.now + .milliseconds(250))
    }
}

// The control of listeners.
extension RunDriver {
    /// Some listener leaves, to come back as another; at the chosen rate.
    func churn(now: Microseconds, in loop: LoadLoop<RunDriver>) {
        guard self.phase == .running, !self.listeners.isEmpty else { return }
        // A few tries: most listeners are there most of the time.
        for _ in 0..<8 {
            let index = Int.random(in: self.listeners.indices, using: &self.source)
            guard self.listeners[index].phase == .following, !self.listeners[index].isLeaving,
                !self.listeners[index].isStalled
            else { continue }
            self.act(self.listeners[index].leave(now: now, in: &self.world), of: index, now: now, in: loop)
            break
        }
        self.churned += 1
        let next =
            self.churnBegan
            + Microseconds(Double(self.churned) * 1e6 * Double(self.settings.processes) / self.settings.churn)
        loop.schedule(TimerToken(kind: TimerKind.churn), at: Self.time(next))
    }

    /// A listener that stalls reads for a while first.
    func planStall(_ index: Int, in loop: LoadLoop<RunDriver>) {
        let wait = self.source.microseconds(upTo: self.settings.stallFor)
        loop.schedule(TimerToken(kind: TimerKind.stall, value: UInt32(index)), at: loop.now + .microseconds(wait))
    }

    func stall(_ index: Int, now: Microseconds, in loop: LoadLoop<RunDriver>) {
        guard self.phase == .joining || self.phase == .running else { return }
        let until = now + self.settings.stallFor
        let actions = self.listeners[index].stall(until: until, now: now, in: &self.world)
        self.act(actions, of: index, now: now, in: loop)
        // As long again it reads, on average.
        let next = self.settings.stallFor + self.source.microseconds(upTo: 2 * self.settings.stallFor)
        loop.schedule(TimerToken(kind: TimerKind.stall, value: UInt32(index)), at: loop.now + .microseconds(next))
    }
}
