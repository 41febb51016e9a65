// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// The rules of breaks once more, as plainly as they can be said: arrays, whole microseconds and no thought of speed.
///
/// It shares nothing with the gateway but the requests, so that both are wrong together only by making the same mistake
/// twice.
struct ModelGateway {
    struct Break {
        let id: String
        /// How many were published before it, on all streams.
        let number: Int
        let request: BroadcastRequest.Publish
        let published: Int64
        let safety: Int64
        var start: Int64?
        var duration: Int64?
        var advertisements: [AdvertisementContent]
        var announce: Int64
        let hold: Int64?
        var announced = false
        var cancelled = false
        var expired = false
        var closed: Int64?
        var ended: Int64?
        var endMode: EndMode
        var punchedAs: BreakStart?
        var revision: UInt64 = 1

        var end: Int64? {
            if let closed { return closed }
            if let ended { return ended }
            if self.request.preStream { return self.hold }
            return self.start.map { $0 + (self.duration ?? self.safety) }
        }

        var isCued: Bool {
            self.announced && self.closed == nil && self.start == nil && !self.request.preStream
        }

        mutating func move(to start: Int64, at now: Int64) {
            self.start = start
            // An end that was set before stands where it leaves something, and makes the break no longer.
            if let ended, ended < start + 1_000 || ended >= start + (self.duration ?? self.safety) { self.ended = nil }
            if !self.announced { self.announce = max(now, start - ModelGateway.announceAhead) }
        }

        func state(at now: Int64) -> String {
            if self.cancelled { return "cancelled" }
            if self.expired { return "expired" }
            if !self.announced { return "scheduled" }
            guard let end = self.end else { return "cued" }
            if now >= end { return "complete" }
            if let start = self.start, now >= start { return "live" }
            return "announced"
        }

        func isOver(at now: Int64) -> Bool {
            ["complete", "cancelled", "expired"].contains(self.state(at: now))
        }
    }

    struct Sent: Equatable {
        let stream: String
        let kind: String
        let id: String
        let sequence: Int
    }

    var leadTimeMin: Int64 = 0
    private(set) var streams: [String: [Break]] = [:]
    private(set) var sent: [Sent] = []

    private static let second: Int64 = 1_000_000
    fileprivate static let announceAhead = 8 * second

    func sequence(of stream: String) -> Int { self.sent.count { $0.stream == stream } }

    // MARK: - What broadcasters ask

    mutating func ask(_ kind: BroadcastRequest.Kind, expecting revision: UInt64?, at now: Int64) -> String {
        let before = self
        let word = self.ask(kind, at: now)
        guard let revision, let key = Self.key(of: kind), word != "unchanged" else { return word }
        guard let known = before.find(key) else {
            // Nothing is made where something is expected to be.
            // That nothing of a new break could be played is looked at last.
            let isMade = word != word.uppercased() || word == "INVALID"
            if isMade { self = before }
            return isMade ? "REVISION_CONFLICT" : word
        }
        guard known.revision != revision else { return word }
        self = before
        return "REVISION_CONFLICT"
    }

    private mutating func ask(_ kind: BroadcastRequest.Kind, at now: Int64) -> String {
        do throws(Refused) {
            switch kind {
            case .publish(let request): return try self.publish(request, now)
            case .punch(let request): return try self.punch(request, now)
            case .update(let request): return try self.update(request, now)
            case .end(let request): return try self.end(request, now)
            case .cancel(let key): return try self.cancel(key, now)
            case .postpone(let request): return try self.postpone(request, now)
            case .list: return "list"
            case .signal, .putList, .removeList, .lists, .watchReport:
                preconditionFailure("the model knows no signals")
            }
        } catch {
            return error.word
        }
    }

    struct Refused: Error {
        let word: String
    }

    /// The break that is asked about; `nil`: none.
    private static func key(of kind: BroadcastRequest.Kind) -> BreakKey? {
        switch kind {
        case .publish(let request): request.key
        case .punch(let request): request.key
        case .update(let request): request.key
        case .end(let request): request.key
        case .cancel(let key): key
        case .postpone(let request): request.key
        case .list, .signal, .putList, .removeList, .lists, .watchReport: nil
        }
    }

    private mutating func publish(_ request: BroadcastRequest.Publish, _ now: Int64) throws(Refused) -> String {
        let (stream, id) = (request.key.stream.description, request.key.id.description)
        if let known = self.streams[stream, default: []].first(where: { $0.id == id }) {
            guard known.request == request else { throw Refused(word: "CONFLICT") }
            return "unchanged"
        }
        let start = try request.start.map { (said) throws(Refused) in try self.resolve(said, now, self.leadTimeMin) }
        var new = Break(
            id: id,
            number: self.streams.values.reduce(0) { $0 + $1.count },
            request: request,
            published: now,
            safety: 300 * Self.second,
            start: start,
            duration: request.duration.map { $0.inMicroseconds },
            advertisements: request.advertisements,
            announce: start.map { max(now, $0 - Self.announceAhead) } ?? now,
            hold: start == nil ? now + (request.hold?.inMicroseconds ?? 1_800 * Self.second) : nil,
            endMode: request.endMode
        )
        try self.refuseOverlap(of: new, in: stream)
        try self.refuseUnplayable(new)
        new.announced = new.announce <= now
        self.streams[stream, default: []].append(new)
        return new.announced ? self.tell("available", stream, id) : "silently"
    }

    private mutating func punch(_ request: BroadcastRequest.Punch, _ now: Int64) throws(Refused) -> String {
        let said = request.start ?? .after(.zero)
        let known = self.find(request.key)
        let repeated = known?.punchedAs == said && known?.start != nil
        let start = repeated ? now : try self.resolve(request.start ?? .after(.seconds(2)), now, 0)
        return try self.change(request.key) { (each) throws(Refused) in
            if repeated, !each.isOver(at: now) { return "unchanged" }
            guard each.isCued, each.hold.map({ $0 > now }) ?? true else { throw Refused(word: "WRONG_STATE") }
            each.start = start
            each.punchedAs = said
            return "updated"
        }
    }

    private mutating func update(_ request: BroadcastRequest.Update, _ now: Int64) throws(Refused) -> String {
        var start: Int64?
        if case .at(let instant)? = request.start, self.find(request.key)?.start == instant.microseconds {
            start = instant.microseconds
        } else if let said = request.start {
            start = try self.resolve(said, now, self.leadTimeMin)
        }
        return try self.change(request.key) { (each) throws(Refused) in
            guard !each.isOver(at: now) else { throw Refused(word: "WRONG_STATE") }
            var changes = false
            if let advertisements = request.advertisements, advertisements != each.advertisements {
                guard !each.announced else { throw Refused(word: "WRONG_STATE") }
                each.advertisements = advertisements
                changes = true
            }
            if let start, start != each.start {
                if each.request.preStream { throw Refused(word: "INVALID") }
                if each.isCued || each.state(at: now) == "live" { throw Refused(word: "WRONG_STATE") }
                each.move(to: start, at: now)
                changes = true
            }
            if let duration = request.duration?.inMicroseconds {
                changes = changes || duration != each.duration || each.ended != nil
                each.duration = duration
                each.ended = nil
            }
            guard changes else { return "unchanged" }
            if let end = each.end, end <= now { throw Refused(word: "WRONG_STATE") }
            if each.announced { return "updated" }
            each.announced = each.announce <= now
            return each.announced ? "available" : "silently"
        }
    }

    private mutating func postpone(_ request: BroadcastRequest.Postpone, _ now: Int64) throws(Refused) -> String {
        let known = self.find(request.key)?.start
        let from = request.from?.microseconds ?? known ?? now
        let start = from + request.by.inMicroseconds
        if known == from { _ = try self.resolve(.at(Timestamp(microseconds: start)), now, 0) }
        return try self.change(request.key) { (each) throws(Refused) in
            if each.isOver(at: now) { throw Refused(word: "WRONG_STATE") }
            if each.request.preStream { throw Refused(word: "INVALID") }
            guard let before = each.start else { throw Refused(word: "WRONG_STATE") }
            if before == start { return "unchanged" }
            if each.state(at: now) == "live" { throw Refused(word: "WRONG_STATE") }
            if before != from { throw Refused(word: "CONFLICT") }
            each.move(to: start, at: now)
            if let end = each.end, end <= now { throw Refused(word: "WRONG_STATE") }
            if each.announced { return "updated" }
            each.announced = each.announce <= now
            return each.announced ? "available" : "silently"
        }
    }

    private mutating func end(_ request: BroadcastRequest.End, _ now: Int64) throws(Refused) -> String {
        let at = request.at?.microseconds ?? now
        return try self.change(request.key) { (each) throws(Refused) in
            guard each.announced, each.closed == nil else { throw Refused(word: "WRONG_STATE") }
            if let ended = each.ended, ended <= now { return "unchanged" }
            guard let planned = each.end else { throw Refused(word: "WRONG_STATE") }
            if let start = each.start, at < start + 1_000 { throw Refused(word: "WRONG_STATE") }
            guard at >= each.published else { throw Refused(word: "INVALID") }
            guard now < planned else { throw Refused(word: "WRONG_STATE") }
            guard at <= planned else { throw Refused(word: "INVALID") }
            let mode = request.endMode ?? each.endMode
            if each.ended == at, each.endMode == mode { return "unchanged" }
            each.ended = at
            each.endMode = mode
            return "ended"
        }
    }

    private mutating func cancel(_ key: BreakKey, _ now: Int64) throws(Refused) -> String {
        try self.change(key) { (each) throws(Refused) in
            switch each.state(at: now) {
            case "cancelled": return "unchanged"
            case "complete", "expired": throw Refused(word: "WRONG_STATE")
            default:
                each.cancelled = true
                each.closed = now
                return each.announced ? "cancelled" : "silently"
            }
        }
    }

    // MARK: - What time makes due

    mutating func tick(at now: Int64) {
        var due: [(instant: Int64, number: Int, stream: String, id: String)] = []
        for (stream, breaks) in self.streams {
            for each in breaks where each.closed == nil {
                if !each.announced, each.announce <= now { due.append((each.announce, each.number, stream, each.id)) }
                if each.isCued, let hold = each.hold, hold <= now { due.append((hold, each.number, stream, each.id)) }
            }
        }
        for each in due.sorted(by: { ($0.instant, $0.number) < ($1.instant, $1.number) }) {
            let index = self.streams[each.stream, default: []].firstIndex { $0.id == each.id } ?? 0
            var found = self.streams[each.stream, default: []][index]
            if !found.announced, let end = found.end, end > now {
                found.announced = true
                _ = self.tell("available", each.stream, each.id)
            } else {
                if found.announced { _ = self.tell("cancelled", each.stream, each.id) }
                found.expired = true
                found.closed = now
            }
            found.revision += 1
            self.streams[each.stream]?[index] = found
        }
    }

    // MARK: - Helpers

    private func find(_ key: BreakKey) -> Break? {
        self.streams[key.stream.description, default: []].first { $0.id == key.id.description }
    }

    private mutating func change(
        _ key: BreakKey,
        _ step: (inout Break) throws(Refused) -> String
    ) throws(Refused) -> String {
        let (stream, id) = (key.stream.description, key.id.description)
        guard let index = self.streams[stream, default: []].firstIndex(where: { $0.id == id }),
            var each = self.find(key)
        else { throw Refused(word: "NOT_FOUND") }
        let word = try step(&each)
        if ["updated", "available", "silently"].contains(word), each.closed == nil {
            try self.refuseOverlap(of: each, in: stream)
            try self.refuseUnplayable(each)
        }
        if word != "unchanged" { each.revision += 1 }
        self.streams[stream]?[index] = each
        return ["unchanged", "silently"].contains(word) ? word : self.tell(word, stream, id)
    }

    private mutating func tell(_ kind: String, _ stream: String, _ id: String) -> String {
        self.sent.append(Sent(stream: stream, kind: kind, id: id, sequence: self.sequence(of: stream) + 1))
        return kind
    }

    private func refuseOverlap(of one: Break, in stream: String) throws(Refused) {
        guard !one.request.preStream, let start = one.start, let end = one.end else { return }
        for other in self.streams[stream, default: []] {
            guard other.id != one.id, !other.request.preStream, other.closed == nil,
                let from = other.start, let to = other.end
            else { continue }
            if start < to, from < end { throw Refused(word: "BREAK_OVERLAP") }
        }
    }

    /// Nothing of an exact break is cut, so that at least its last advertisement must fit.
    private func refuseUnplayable(_ one: Break) throws(Refused) {
        guard one.request.exact, let last = one.advertisements.last?.duration.inMicroseconds else { return }
        var room = one.duration ?? (one.request.preStream ? nil : one.safety)
        if let start = one.start, let end = one.end { room = end - start }
        if let room, last > room { throw Refused(word: "INVALID") }
    }

    private func resolve(_ said: BreakStart, _ now: Int64, _ leadMin: Int64) throws(Refused) -> Int64 {
        let start: Int64
        switch said {
        case .now: start = now
        case .after(let lead): start = now + lead.inMicroseconds
        case .at(let instant):
            guard instant.microseconds >= now - 2 * Self.second else { throw Refused(word: "START_IN_PAST") }
            start = max(now, instant.microseconds)
        }
        if start - now > 6 * 3_600 * Self.second { throw Refused(word: "TOO_FAR_AHEAD") }
        if start - now < leadMin { throw Refused(word: "LEAD_TIME_TOO_SHORT") }
        return start
    }
}
