// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// The values that every operation works on: one break on air with three advertisements, as a radio station has them.
struct Workload {
    static let epoch: UInt64 = 0xE
    static let now = Timestamp(microseconds: 1_800_000_000_000_000)
    static let advertisementsInBreak = 3
    /// How many breaks the stream had before.
    static let breaksKept = 255

    let stream: StreamID
    let key: BreakKey
    let board: Board
    let number: BreakNumber

    init() throws(WireError) {
        let stream = try StreamID("radio-example-1")
        self.stream = stream
        self.key = BreakKey(stream: self.stream, id: try BreakID("break-2027-01-15-0800"))
        let start = Self.now - .seconds(1)
        let window = RequestWindow(from: start - .seconds(8), by: start)
        self.number = BreakNumber(rawValue: 1_024)
        let kept = try (0..<Self.breaksKept).map { (index) throws(WireError) in try Self.kept(index, of: stream) }
        var record = BreakRecord(
            number: self.number,
            published: start - .seconds(10),
            broadcaster: "",
            publish: BreakEntry.Publish(
                request: BroadcastRequest.Publish(
                    key: self.key,
                    start: .now,
                    duration: .seconds(90),
                    advertisements: try Self.advertisements(),
                    preStream: false,
                    exact: false,
                    hold: nil
                ),
                start: start,
                announce: start - .seconds(8),
                window: window,
                holdUntil: nil,
                safetyDuration: .seconds(300)
            )
        )
        record.phase = .announced
        record.announced = start - .seconds(10)
        record.lastNotice = Notice(
            position: Position(epoch: Self.epoch, sequence: UInt64(Self.breaksKept) + 1),
            kind: .available,
            breakID: self.key.id,
            start: start,
            duration: .seconds(90),
            window: window,
            expires: start + .seconds(90),
            advertisementCount: Self.advertisementsInBreak,
            sent: start - .seconds(8)
        )
        let streamRecord = StreamRecord(
            stream: stream,
            sequence: UInt64(Self.breaksKept) + 1,
            recentNotices: (kept + [record]).compactMap(\.lastNotice)
        )
        let newest = start - .seconds(8)
        self.board = Board(
            epoch: Self.epoch,
            BoardRecord(offset: 1, retention: newest, newest: newest, streams: [streamRecord], breaks: kept + [record])
        )
    }

    /// One of the breaks before: over, but still there for acknowledgements.
    private static func kept(_ index: Int, of stream: StreamID) throws(WireError) -> BreakRecord {
        let start = Self.now - .seconds(120 * (Self.breaksKept - index) + 200)
        let window = RequestWindow(from: start - .seconds(8), by: start)
        let id = try BreakID("break-2027-01-14-\(index)")
        var record = BreakRecord(
            number: BreakNumber(rawValue: UInt64(index) + 1),
            published: start - .seconds(10),
            broadcaster: "",
            publish: BreakEntry.Publish(
                request: BroadcastRequest.Publish(
                    key: BreakKey(stream: stream, id: id),
                    start: .now,
                    duration: .seconds(90),
                    advertisements: try Self.advertisements()
                ),
                start: start,
                announce: start - .seconds(8),
                window: window,
                holdUntil: nil,
                safetyDuration: .seconds(300)
            )
        )
        record.phase = .announced
        record.announced = start - .seconds(10)
        record.lastNotice = Notice(
            position: Position(epoch: Self.epoch, sequence: UInt64(index) + 1),
            kind: .available,
            breakID: id,
            start: start,
            duration: .seconds(90),
            window: window,
            expires: start + .seconds(90),
            advertisementCount: Self.advertisementsInBreak,
            sent: start - .seconds(8)
        )
        return record
    }

    private static func advertisements() throws(WireError) -> [AdvertisementContent] {
        var list: [AdvertisementContent] = []
        for ordinal in 0..<Self.advertisementsInBreak {
            list.append(
                AdvertisementContent(
                    id: try AdvertisementID("campaign-4711-spot-\(ordinal)"),
                    title: "Example spot \(ordinal)",
                    text: "What the spot is about, in one sentence.",
                    duration: .seconds(30),
                    media: [
                        .init(url: "https://media.example/campaign-4711/spot-\(ordinal).mp3", type: "audio/mpeg"),
                        .init(url: "https://media.example/campaign-4711/spot-\(ordinal).aac", type: "audio/aac"),
                    ],
                    trackers: [
                        .init(event: "impression", url: "https://track.example/i/4711/\(ordinal)"),
                        .init(event: "complete", url: "https://track.example/c/4711/\(ordinal)"),
                    ]
                )
            )
        }
        return list
    }

    func session(_ index: Int) -> SessionID {
        SessionID(high: 0x9E37_79B9_7F4A_7C15 &* UInt64(index % 1_000 + 1), low: UInt64(index % 1_000))
    }

    func batchRequest(_ index: Int) -> [UInt8] {
        ListenerRequest(
            id: UInt64(index + 1_000),
            session: self.session(index),
            kind: .getBatch(ListenerRequest.GetBatch(key: self.key))
        )
        .encoded()
    }

    /// Makes the break a little longer or shorter than the one before.
    func update(_ index: Int) -> [UInt8] {
        BroadcastRequest(
            id: UInt64(index + 1_000),
            kind: .update(
                BroadcastRequest.Update(key: self.key, duration: .milliseconds(80_000 + index % 1_000))
            )
        )
        .encoded()
    }

    func acknowledgement(_ index: Int) throws(WireError) -> [UInt8] {
        let session = self.session(index)
        var outcomes: [Outcome] = []
        for ordinal in 0..<Self.advertisementsInBreak {
            outcomes.append(
                Outcome(
                    advertisementID: try AdvertisementID("campaign-4711-spot-\(ordinal)"),
                    kind: .played,
                    heard: .seconds(30),
                    quartiles: 4,
                    occurred: Self.now
                )
            )
        }
        return ListenerRequest(
            id: UInt64(index + 1_000),
            session: session,
            kind: .acknowledge(
                ListenerRequest.Acknowledge(
                    key: self.key,
                    delivery: MessageKeys.fixed.delivery(to: session, of: self.number, first: 0, at: Self.now).bytes,
                    outcomes: outcomes
                )
            )
        )
        .encoded()
    }

    func handler() -> ListenerRequestHandler {
        var settings = ListenerRequestHandler.Settings(instance: 7)
        settings.fixedHashSecret = 0x5851_F42D_4C95_7F2D
        return ListenerRequestHandler(
            settings: settings,
            board: self.board,
            keys: .fixed,
            metrics: MetricRegistry()
        )
    }

    /// How many streams a crowded board has, and how many breaks wait on each.
    static let crowdStreams = 10_000
    static let crowdBreaksPerStream = 10

    /// A board on which a hundred thousand breaks wait for their announcement.
    static func crowd() throws(WireError) -> Board {
        let content = [try Self.spot()]
        var streams: [StreamRecord] = []
        var breaks: [BreakRecord] = []
        for index in 0..<Self.crowdStreams {
            let stream = try StreamID("radio-\(index)")
            for slot in 0..<Self.crowdBreaksPerStream {
                let start = Self.now + .seconds(600 + 60 * slot + index % 50)
                let publish = BroadcastRequest.Publish(
                    key: BreakKey(stream: stream, id: try BreakID("break-\(slot)")),
                    start: .at(start),
                    duration: .seconds(30),
                    advertisements: content,
                    preStream: false,
                    exact: false,
                    hold: nil
                )
                breaks.append(
                    BreakRecord(
                        number: BreakNumber(rawValue: UInt64(index * Self.crowdBreaksPerStream + slot + 1)),
                        published: Self.now,
                        broadcaster: "",
                        publish: BreakEntry.Publish(
                            request: publish,
                            start: start,
                            announce: start - .seconds(8),
                            window: RequestWindow(from: start - .seconds(8), by: start - .seconds(1)),
                            holdUntil: nil,
                            safetyDuration: .seconds(300)
                        )
                    )
                )
            }
            streams.append(StreamRecord(stream: stream, sequence: 0, recentNotices: []))
        }
        return Board(
            epoch: Self.epoch,
            BoardRecord(offset: 1_000, retention: Self.now, newest: Self.now, streams: streams, breaks: breaks)
        )
    }

    private static func spot() throws(WireError) -> AdvertisementContent {
        AdvertisementContent(
            id: try AdvertisementID("spot"),
            title: "Spot",
            duration: .seconds(30),
            media: [.init(url: "https://media.example/spot.mp3", type: "audio/mpeg")]
        )
    }

    /// A request to publish one more break of a stream, before all others of it.
    static func publish(_ index: Int) throws(WireError) -> [UInt8] {
        let key = BreakKey(stream: try StreamID("radio-\(index * 7)"), id: try BreakID("break-next"))
        return BroadcastRequest(
            id: UInt64(index + 1),
            kind: .publish(
                BroadcastRequest.Publish(
                    key: key,
                    start: .at(Self.now + .milliseconds(300_000 + Int64(index))),
                    duration: .seconds(30),
                    advertisements: try Self.advertisements(),
                    preStream: false,
                    exact: false,
                    hold: nil
                )
            )
        )
        .encoded()
    }
}
