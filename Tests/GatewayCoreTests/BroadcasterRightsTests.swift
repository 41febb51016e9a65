// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Every request of broadcasters, by every kind of caller, about a stream that is theirs and one that is not.
@Suite(.suiteLimit)
struct BroadcasterRightsTests {
    /// The callers: by a key that is looked up in the directory, as on a connection.
    private enum Caller: CaseIterable {
        /// Broadcasters are not told apart.
        case anybody
        case exact
        case prefixed
        case everywhere
        /// Of two keys of one broadcaster, the one that is still taken.
        case renewed
        case expired
        case withdrawn
        case unknown
        case keyless
    }

    private enum About: CaseIterable {
        case ownStream
        case otherStream
    }

    private enum Request: String, CaseIterable {
        case publish
        case repeatOwn
        case repeatOfAnother
        case contradictAnother
        case punch
        case update
        case end
        case cancel
        case cancelOfNothing
        case list
    }

    private static let now = Sample.at(100)
    private static let own = Sample.stream("radio1")
    private static let other = Sample.stream("tv1")

    private static let directory = must { () throws(BroadcasterFaults) in
        func broadcaster(_ name: String, _ stream: String, _ keys: [BroadcasterDirectory.Key])
            -> BroadcasterDirectory
            .Broadcaster
        {
            BroadcasterDirectory.Broadcaster(name: name, keys: keys, streams: [stream].compactMap { StreamPattern($0) })
        }
        return try BroadcasterDirectory([
            broadcaster("exact", "radio1", [.init("exact")]),
            broadcaster("prefixed", "radio*", [.init("prefixed")]),
            broadcaster("everywhere", "*", [.init("everywhere")]),
            broadcaster(
                "renewed",
                "radio1",
                [.init("expired", notAfter: Self.now - .microseconds(1)), .init("renewed", notAfter: Self.now)]
            ),
        ])
    }

    private func principal(_ caller: Caller) throws(Refusal) -> BroadcastPrincipal {
        switch caller {
        case .anybody: .anybody
        case .keyless: try Self.directory.principal(of: nil, at: Self.now)
        default: try Self.directory.principal(of: "\(caller)", at: Self.now)
        }
    }

    /// A board on which another broadcaster has published on both streams.
    private func desk() -> Desk {
        var desk = Desk()
        for stream in [Self.own, Self.other] {
            _ = desk.ask(
                .publish(Sample.publish("cued", of: stream, start: nil)),
                at: Self.now - .seconds(1),
                by: .all(named: "before")
            )
            _ = desk.ask(
                .publish(Sample.publish("live", of: stream, start: .now)),
                at: Self.now - .seconds(1),
                by: .all(named: "before")
            )
        }
        desk.tick(at: Self.now - .seconds(1))
        return desk
    }

    private func kind(_ request: Request, on stream: StreamID) -> BroadcastRequest.Kind {
        switch request {
        case .publish: .publish(Sample.publish("new", of: stream, start: .after(.seconds(60))))
        case .repeatOwn: .publish(Sample.publish("new", of: stream, start: .after(.seconds(60))))
        case .repeatOfAnother: .publish(Sample.publish("cued", of: stream, start: nil))
        case .contradictAnother: .publish(Sample.publish("cued", of: stream, start: nil, exact: true))
        case .punch: .punch(.init(key: Sample.key("cued", of: stream), start: .after(.seconds(60))))
        case .update: .update(.init(key: Sample.key("live", of: stream), duration: .seconds(31)))
        case .end: .end(.init(key: Sample.key("live", of: stream), endMode: nil, at: nil))
        case .cancel: .cancel(Sample.key("live", of: stream))
        case .cancelOfNothing: .cancel(Sample.key("nothing", of: stream))
        case .list: .list(.init(stream: stream))
        }
    }

    /// The result of the same request without a check of rights.
    private func wordWithoutRights(_ request: Request) -> String {
        switch request {
        case .publish, .repeatOwn: "silently"
        case .repeatOfAnother: "unchanged"
        case .contradictAnother: "CONFLICT"
        case .punch, .update, .end, .cancel: "updated ended cancelled"
        case .cancelOfNothing: "NOT_FOUND"
        case .list: "list"
        }
    }

    @Test func `every request of every caller about both streams is allowed, or refused in the same words`() throws {
        var cells = 0
        for caller in Caller.allCases {
            for about in About.allCases {
                let stream = about == .ownStream ? Self.own : Self.other
                for request in Request.allCases {
                    cells += 1
                    let cell: Comment = "\(caller) \(request) \(about)"
                    var desk = self.desk()
                    let refusal: Refusal?
                    switch (caller, about) {
                    case (.anybody, _), (.everywhere, _), (.exact, .ownStream), (.prefixed, .ownStream),
                        (.renewed, .ownStream):
                        refusal = nil
                    case (.exact, .otherStream), (.prefixed, .otherStream), (.renewed, .otherStream):
                        refusal = Refusal(
                            .notAllowed,
                            "The broadcaster \(caller) has no right to the stream tv1."
                        )
                    case (.expired, _):
                        refusal = Refusal(
                            .notAllowed,
                            "This key of the broadcaster renewed was taken until \(Self.now - .microseconds(1))."
                        )
                    case (.withdrawn, _), (.unknown, _):
                        refusal = Refusal(.notAllowed, "The key of this connection is no longer a broadcaster's.")
                    case (.keyless, _): refusal = Refusal(.notAllowed, "This connection has shown no key.")
                    }
                    let principal: BroadcastPrincipal
                    do throws(Refusal) {
                        principal = try self.principal(caller)
                    } catch {
                        #expect(error == refusal, cell)
                        continue
                    }
                    let records = desk.log.count
                    if request == .repeatOwn {
                        _ = desk.ask(self.kind(request, on: stream), at: Self.now, by: principal)
                    }
                    let reply = desk.ask(self.kind(request, on: stream), at: Self.now, by: principal)
                    if let refusal {
                        #expect(reply == .answered(.refused(refusal)), cell)
                        #expect(desk.log.count == records, "\(cell): what is refused is not recorded")
                        continue
                    }
                    let word = request == .repeatOwn ? "unchanged" : self.wordWithoutRights(request)
                    #expect(word.split(separator: " ").contains(Substring(reply.word)), "\(cell): \(reply)")
                    // The record names the broadcaster of the change.
                    if desk.log.count > records {
                        #expect(desk.log.last?.entries.map(\.broadcaster) == [principal.name], cell)
                    }
                }
            }
        }
        #expect(cells == Caller.allCases.count * About.allCases.count * Request.allCases.count)
        #expect(cells == 180)
    }

    @Test func `a list of all streams has those that the caller has a right to`() throws {
        let desk = self.desk()
        let table: [(caller: Caller, streams: Set<String>)] = [
            (.anybody, ["radio1", "tv1"]), (.everywhere, ["radio1", "tv1"]), (.exact, ["radio1"]),
            (.prefixed, ["radio1"]), (.renewed, ["radio1"]),
        ]
        for (caller, streams) in table {
            var desk = desk
            guard
                case .answered(.list(let infos, let after)) = desk.ask(
                    .list(.init()),
                    at: Self.now,
                    by: try self.principal(caller)
                )
            else {
                Issue.record("\(caller) got no list")
                continue
            }
            #expect(Set(infos.map { "\($0.key.stream)" }) == streams && after.isEmpty, "\(caller)")
        }
    }

    @Test func `the same break by another broadcaster stays the first one's`() throws {
        var desk = Desk()
        let publish = BroadcastRequest.Kind.publish(Sample.publish())
        _ = desk.ask(publish, at: Self.now, by: .all(named: "first"))
        let reply = desk.ask(publish, at: Self.now, by: .all(named: "second"))
        guard case .answered(.break(let info)) = reply else {
            Issue.record("\(reply)")
            return
        }
        #expect(info.broadcaster == "first" && desk["b1"]?.summary.broadcaster == "first")
        // And so where both were on their way at the same time.
        let entry = try #require(desk.log.first?.entries.first)
        var late = entry
        late.broadcaster = "third"
        #expect(desk.append([late]).map(\.word) == ["unchanged"])
        #expect(desk["b1"]?.record.broadcaster == "first")
    }

    @Test func `a record without a name has no owner, and is read as before`() throws {
        let entry = BreakEntry(at: Self.now, kind: .cancel(Sample.key()))
        let read = try BreakGroup(decoding: BreakGroup(entries: [entry]).encoded())
        #expect(read.entries == [entry] && read.entries[0].broadcaster == "")
    }
}
