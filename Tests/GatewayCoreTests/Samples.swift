// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Values that tests are about something else than.
enum Sample {
    static let epoch: UInt64 = 0xE
    /// Where the clock of every test begins.
    static let t0 = Timestamp(microseconds: 1_800_000_000_000_000)
    static let stream = Self.stream("radio1")

    /// So many seconds after the clock began.
    static func at(_ seconds: Double) -> Timestamp {
        Self.t0 + .microseconds(Int64((seconds * 1e6).rounded()))
    }

    static func stream(_ text: String) -> StreamID { must { () throws(WireError) in try StreamID(text) } }

    static func id(_ text: String) -> BreakID { must { () throws(WireError) in try BreakID(text) } }

    static func key(_ id: String = "b1", of stream: StreamID = Sample.stream) -> BreakKey {
        BreakKey(stream: stream, id: Self.id(id))
    }

    static func session(_ number: UInt64 = 1) -> SessionID { SessionID(high: 0, low: number) }

    static func advertisementID(_ text: String) -> AdvertisementID {
        must { () throws(WireError) in try AdvertisementID(text) }
    }

    /// Advertisements `ad0`, `ad1` … that last so many seconds.
    static func advertisements(_ seconds: [Double] = [10, 10, 10]) -> [AdvertisementContent] {
        seconds.enumerated()
            .map { ordinal, seconds in
                AdvertisementContent(
                    id: Self.advertisementID("ad\(ordinal)"),
                    title: "Title \(ordinal)",
                    text: "Text",
                    duration: .milliseconds(Int64(seconds * 1_000)),
                    media: [
                        .init(url: "http://media.example/\(ordinal).mp3", type: "audio/mpeg"),
                        .init(url: "http://media.example/\(ordinal).ogg", type: "audio/ogg"),
                    ],
                    trackers: [.init(event: "impression", url: "http://track.example/\(ordinal)")]
                )
            }
    }

    /// By default a break of 30 s that starts 20 s after the request.
    static func publish(
        _ id: String = "b1",
        of stream: StreamID = Sample.stream,
        start: BreakStart? = .after(.seconds(20)),
        duration: Duration? = .seconds(30),
        advertisements: [AdvertisementContent] = Sample.advertisements(),
        preStream: Bool = false,
        exact: Bool = false,
        hold: Duration? = nil
    ) -> BroadcastRequest.Publish {
        BroadcastRequest.Publish(
            key: Self.key(id, of: stream),
            start: start,
            duration: duration,
            advertisements: advertisements,
            preStream: preStream,
            exact: exact,
            hold: hold
        )
    }

    /// The announced break `x` with this number, which lasts 30 s until `over`, as a snapshot holds it.
    static func record(_ number: UInt64, over: Timestamp, condensed: Bool = false) -> BreakRecord {
        let start = over - .seconds(30)
        let window = RequestWindow(from: start, by: start)
        var record = BreakRecord(
            number: BreakNumber(rawValue: number),
            published: start,
            broadcaster: "",
            publish: BreakEntry.Publish(
                request: Self.publish("x\(number)", start: .now, advertisements: Self.advertisements([1])),
                start: start,
                announce: start,
                window: window,
                holdUntil: nil,
                safetyDuration: .seconds(300)
            )
        )
        record.phase = .announced
        record.condensed = condensed
        record.announced = start
        record.lastNotice = Notice(
            position: Position(epoch: Self.epoch, sequence: number),
            kind: .available,
            breakID: record.publish.request.key.id,
            start: start,
            duration: record.duration,
            window: window,
            expires: over,
            advertisementCount: 1,
            sent: start
        )
        return record
    }

    /// A board with these breaks of one stream.
    static func board(_ breaks: [BreakRecord]) -> Board {
        let sequence = breaks.compactMap(\.lastNotice?.position.sequence).max() ?? 0
        let stream = StreamRecord(
            stream: Self.stream,
            sequence: sequence,
            recentNotices: []
        )
        // The numbers of breaks to come are above theirs.
        let offset = (breaks.map(\.number.rawValue).max() ?? 0) / UInt64(BreakGroup.groupEntriesMax)
        let newest = breaks.map(\.published).max()
        return Board(
            epoch: Self.epoch,
            BoardRecord(offset: offset, retention: newest, newest: newest, streams: [stream], breaks: breaks)
        )
    }
}

/// The values of a test keep the rules of the wire; if not, the test is wrong.
func must<T, E: Error>(_ make: () throws(E) -> T) -> T {
    do {
        return try make()
    } catch {
        preconditionFailure("a test broke a rule: \(error)")
    }
}
