// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import LoadEngine
import Testing

/// A gateway of values for one stream: it answers as the real one does, to listeners that are values too.
struct ValueGateway {
    static let start: Int64 = 1_700_000_000_000_000

    let stream: StreamID
    var epoch: UInt64 = 0xE90C
    var instance: UInt64 = 0x1157
    /// All notices of this epoch, in order.
    private(set) var notices: [Notice] = []
    private(set) var contents: [BreakID: [AdvertisementContent]] = [:]
    private(set) var delivered: Set<[String]> = []
    private(set) var outcomes: [[String]: Outcome.Kind] = [:]
    private(set) var sessions: Set<SessionID> = []
    /// How far this gateway's clock is ahead.
    var offset: Int64 = ValueGateway.start
    var recoverable = 256
    /// Whether it sends notices on the connection of the join that asks for it.
    var pushes = false

    init(stream: StreamID) {
        self.stream = stream
    }

    var head: Position { Position(epoch: self.epoch, sequence: UInt64(self.notices.count)) }

    func time(_ now: Microseconds) -> Timestamp { Timestamp(microseconds: now + self.offset) }

    /// How long a cued break is held, at most.
    static let hold: Microseconds = 60_000_000

    /// Announces a break; without a lead it is cued.
    mutating func announce(
        _ id: BreakID,
        ads: [AdvertisementContent],
        window: Microseconds,
        lead: Microseconds?,
        preStream: Bool = false,
        now: Microseconds
    ) -> [UInt8] {
        self.contents[id] = ads
        let opens = self.time(now)
        return self.publish(
            Notice(
                position: Position(epoch: self.epoch, sequence: self.head.sequence + 1),
                kind: .available,
                breakID: id,
                start: lead.map { opens + .microseconds($0) },
                duration: .seconds(30),
                window: RequestWindow(from: opens, by: opens + .microseconds(window)),
                expires: lead.map { opens + .microseconds($0) + .seconds(30) } ?? opens + .microseconds(Self.hold),
                advertisementCount: ads.count,
                sent: opens,
                preStream: preStream
            )
        )
    }

    /// The last notice of a break again, as another kind, and with another start where there is one.
    mutating func repeatLast(
        of id: BreakID,
        as kind: Notice.Kind,
        startingIn lead: Microseconds? = nil,
        now: Microseconds
    ) -> [UInt8]? {
        guard var notice = self.notices.last(where: { $0.breakID == id }) else { return nil }
        if let lead {
            let start = self.time(now) + .microseconds(lead)
            (notice.start, notice.expires) = (start, start + .seconds(30))
        }
        notice.kind = kind
        notice.position = Position(epoch: self.epoch, sequence: self.head.sequence + 1)
        notice.sent = self.time(now)
        return self.publish(notice)
    }

    private mutating func publish(_ notice: Notice) -> [UInt8] {
        self.notices.append(notice)
        return NoticeFrame.notice(notice, stream: self.stream).encoded()
    }

    func headFrame(move: Move? = nil, now: Microseconds) -> [UInt8] {
        NoticeFrame.notice(.head(self.head, sent: self.time(now), move: move), stream: self.stream).encoded()
    }

    /// The other gateways that it names.
    var alternatives: [PlayerAddress] = []

    var tick: [UInt8] { NoticeFrame.tick(SyncTick(instance: self.instance, counter: 1)).encoded() }

    /// Answers one request.
    mutating func answer(_ frame: [UInt8], now: Microseconds) throws -> [UInt8] {
        let request = try ListenerRequest(decoding: frame)
        self.sessions.insert(request.session)
        let body: ListenerReply.Body
        switch request.kind {
        case .join(let join): body = .joined(self.joined(join))
        case .getBatch(let get): body = self.batch(get, of: request.session, now: now)
        case .acknowledge(let acknowledge):
            for outcome in acknowledge.outcomes {
                let key = [acknowledge.key.id.description, outcome.advertisementID.description, "\(request.session)"]
                #expect(acknowledge.delivery == Array("\(acknowledge.key.id)".utf8) + request.session.bytes)
                self.outcomes[key] = self.outcomes[key] ?? outcome.kind
            }
            body = .acknowledged(recorded: acknowledge.outcomes.count)
        case .getTime, .leave: body = .done
        }
        return ListenerReply(requestID: request.id, gatewayTime: self.time(now), body: body).encoded()
    }

    func refusal(of frame: [UInt8], _ status: StatusCode, retryAfter: Duration = .zero, now: Microseconds) -> [UInt8] {
        ListenerReply(
            requestID: ListenerRequest.requestID(of: frame),
            gatewayTime: self.time(now),
            body: .refused(Refusal(status, "No.", retryAfter: retryAfter))
        )
        .encoded()
    }

    private func joined(_ join: ListenerRequest.Join) -> ListenerReply.Joined {
        var kind = ListenerReply.Joined.Kind.snapshot
        var notices = Dictionary(self.notices.map { ($0.breakID, $0) }) { $1 }.values
            .sorted { $0.position.sequence < $1.position.sequence }
        if let last = join.last, last.epoch == self.epoch, last.sequence <= self.head.sequence,
            self.head.sequence - last.sequence <= UInt64(self.recoverable)
        {
            notices = Array(self.notices.dropFirst(Int(last.sequence)))
            kind = notices.isEmpty ? .current : .recovered
        }
        return ListenerReply.Joined(
            kind: kind,
            head: self.head,
            notices: notices,
            instance: self.instance,
            headInterval: .seconds(5),
            lease: .seconds(300),
            pushed: join.push && self.pushes,
            alternatives: self.alternatives
        )
    }

    private mutating func batch(
        _ get: ListenerRequest.GetBatch,
        of session: SessionID,
        now: Microseconds
    ) -> ListenerReply.Body {
        guard let ads = self.contents[get.key.id] else { return .refused(Refusal(.notFound, "No.")) }
        for each in ads { self.delivered.insert(["\(get.key.id)", "\(each.id)", "\(session)"]) }
        return .batch(
            ListenerReply.Batch(
                delivery: Array("\(get.key.id)".utf8) + session.bytes,
                start: self.notices.last { $0.breakID == get.key.id }?.start,
                duration: .seconds(30),
                advertisements: ads
            )
        )
    }
}

/// An advertisement with what most have.
func advertisement(_ id: String, seconds: Int = 10) throws -> AdvertisementContent {
    AdvertisementContent(
        id: try AdvertisementID(id),
        title: "Spot \(id)",
        duration: .seconds(seconds),
        media: [.init(url: "https://cdn.example.com/\(id).mp3", type: "audio/mpeg", bitrateKilobitsPerSecond: 128)]
    )
}

extension OutcomeMix {
    /// A mix that a test knows to be right.
    static func of(_ played: Double, _ ignored: Double, _ failed: Double, seed: UInt64 = 0) throws -> OutcomeMix {
        try #require(OutcomeMix(played: played, ignored: ignored, failed: failed, seed: seed))
    }
}
