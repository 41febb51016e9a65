// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) import Cuecast
@_spi(Transports) import CuecastTesting
import CuecastWire
import Testing

/// The effects of time at a gateway in memory, by a clock that a test sets, and by the real one.
@Suite(.suiteLimit)
struct CoreGatewayTests {
    private static let start = Timestamp(microseconds: 1_750_000_000_000_000)

    private let stream: StreamID
    private var gateway: CoreGateway

    init() throws {
        self.stream = try StreamID("radio1")
        self.gateway = CoreGateway(stream: self.stream, policy: .announcingAtOnce, at: Self.start)
    }

    private func publish(start: BreakStart?, hold: Duration? = nil) throws -> BroadcastRequest.Kind {
        .publish(
            BroadcastRequest.Publish(
                key: BreakKey(stream: self.stream, id: try BreakID("b1")),
                start: start,
                duration: .seconds(10),
                advertisements: [
                    AdvertisementContent(
                        id: try AdvertisementID("a"),
                        title: "A",
                        duration: .seconds(10),
                        media: [.init(url: "https://media.example/a.mp3", type: "audio/mpeg")]
                    )
                ],
                hold: hold
            )
        )
    }

    @Test mutating func `a cued break expires when its hold is over, and not before`() throws {
        let announced = try self.gateway.ask(try self.publish(start: nil, hold: .seconds(60)), at: Self.start)
        #expect(announced.map(\.kind) == [.available])
        let before = self.gateway.runTimers(at: Self.start + .milliseconds(59_999))
        #expect(before.notices.allSatisfy { $0.kind == .head })
        #expect(before.next == Self.start + .seconds(60))
        let after = self.gateway.runTimers(at: Self.start + .seconds(60))
        #expect(after.notices.map(\.kind) == [.cancelled])
        #expect(after.notices.first?.cancelReason == .notStarted)
        #expect(after.notices.first?.position.sequence == 2)
    }

    @Test mutating func `the position is repeated 1 s and 3 s after a notice, then at every interval`() throws {
        _ = try self.gateway.ask(try self.publish(start: .after(.seconds(3_600))), at: Self.start)
        var instants: [Duration] = []
        var now = Self.start
        while now < Self.start + .seconds(14) {
            let (notices, next) = self.gateway.runTimers(at: now)
            for notice in notices {
                #expect(notice.kind == .head && notice.position == self.gateway.head)
                instants.append(now - Self.start)
            }
            now = try #require(next)
        }
        #expect(instants == [.seconds(1), .seconds(3), .seconds(8), .seconds(13)])
    }

    @Test mutating func `a repeated request changes nothing and has no notice`() throws {
        let publish = try self.publish(start: .after(.seconds(100)))
        let cancel = BroadcastRequest.Kind.cancel(BreakKey(stream: self.stream, id: try BreakID("b1")))
        var told: [[Notice.Kind]] = []
        for (seconds, asked) in [publish, publish, cancel, cancel].enumerated() {
            told.append(try self.gateway.ask(asked, at: Self.start + .seconds(seconds)).map(\.kind))
        }
        #expect(told == [[.available], [], [.cancelled], []])
        #expect(self.gateway.head.sequence == 2)
    }

    /// Why the gateway does not do it.
    private mutating func refused(_ kind: BroadcastRequest.Kind) -> CoreGateway.Refused? {
        do throws(CoreGateway.Refused) {
            _ = try self.gateway.ask(kind, at: Self.start)
            return nil
        } catch {
            return error
        }
    }

    @Test mutating func `unsendable and forbidden values have different errors`() throws {
        let endless = self.refused(try self.publish(start: nil, hold: .zero))
        #expect(endless == .invalid(.invalid(field: "hold_ms", rule: "it is above 0, or absent")))
        let unknown = self.refused(.cancel(BreakKey(stream: self.stream, id: try BreakID("b9"))))
        #expect(unknown == .byRule(Refusal(.notFound, "There is no break b9 of the stream radio1.")))
    }

    @Test func `players of a scripted gateway are told when a cued break expires`() async throws {
        let gateway = try ScriptedGateway(headInterval: .seconds(3_600))
        let (frames, heard) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingOldest(1_000))
        let connection = gateway.connect(to: GatewayAddress(host: "")) { event in
            if case .notice(let frame) = event { heard.yield(frame) }
        }
        connection.subscribe(to: NoticeFrame.topic(of: self.stream))
        connection.subscribe(to: NoticeFrame.syncTopic)
        connection.unsubscribe(from: NoticeFrame.syncTopic)
        try gateway.cue(scripted("c1", [("a", 1)]), hold: .milliseconds(50))
        var kinds: [Notice.Kind] = []
        for await frame in frames where kinds.last != .cancelled {
            if case .notice(let notice, _) = try NoticeFrame(decoding: frame), notice.kind != .head {
                kinds.append(notice.kind)
                if notice.kind == .cancelled { heard.finish() }
            }
        }
        connection.close()
        #expect(kinds == [.available, .cancelled])
    }
}
