// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// The owner of a key, and the refused lists.
@Suite(.suiteLimit)
struct BroadcasterDirectoryTests {
    private func broadcaster(
        _ name: String,
        keys: [String]? = nil,
        streams: [String] = ["*"]
    ) -> BroadcasterDirectory.Broadcaster {
        BroadcasterDirectory.Broadcaster(
            name: name,
            keys: (keys ?? ["key of \(name)"]).map { BroadcasterDirectory.Key($0) },
            streams: streams.compactMap { StreamPattern($0) }
        )
    }

    private func faults(_ broadcasters: [BroadcasterDirectory.Broadcaster]) -> [String] {
        do throws(BroadcasterFaults) {
            _ = try BroadcasterDirectory(broadcasters)
            return []
        } catch {
            return error.sentences
        }
    }

    @Test func `a key is its broadcaster's until its last instant`() throws {
        var studio = self.broadcaster("studio", keys: ["old", "new"])
        studio.keys[0] = BroadcasterDirectory.Key("old", notAfter: Sample.at(10))
        let directory = try BroadcasterDirectory([studio, self.broadcaster("other")])
        let principal = BroadcastPrincipal(name: "studio", streams: studio.streams)
        #expect(directory.names == ["other", "studio"] && directory.keyCount == 3)
        #expect(directory.standing(of: "old", at: Sample.at(10)) == .known(principal))
        #expect(
            directory.standing(of: "old", at: Sample.at(10.000_001))
                == .expired(name: "studio", notAfter: Sample.at(10))
        )
        #expect(directory.standing(of: "new", at: Sample.at(11)) == .known(principal))
        #expect(directory.standing(of: "unknown", at: Sample.at(0)) == .unknown)
    }

    @Test func `a refused caller gets the reason in one sentence`() throws {
        var studio = self.broadcaster("studio", keys: ["old"])
        studio.keys[0] = BroadcasterDirectory.Key("old", notAfter: Sample.at(0))
        let directory = try BroadcasterDirectory([studio])
        let table: [(key: String?, sentence: String)] = [
            ("old", "This key of the broadcaster studio was taken until \(Sample.at(0))."),
            ("withdrawn", "The key of this connection is no longer a broadcaster's."),
            (nil, "This connection has shown no key."),
        ]
        for (key, sentence) in table {
            #expect(throws: Refusal(.notAllowed, sentence)) { try directory.principal(of: key, at: Sample.at(1)) }
        }
    }

    @Test func `there are no repeats, and no broadcaster without a key or a stream`() {
        #expect(self.faults([self.broadcaster("a"), self.broadcaster("b")]) == [])
        #expect(
            self.faults([self.broadcaster("a"), self.broadcaster("a", keys: ["2"])])
                == ["the broadcaster a is listed twice"]
        )
        #expect(
            self.faults([self.broadcaster("a", keys: ["1"]), self.broadcaster("b", keys: ["1"])])
                == ["a key is listed twice, of a and of b"]
        )
        #expect(self.faults([self.broadcaster("a", keys: ["1", "1"])]) == ["a key is listed twice, of a"])
        #expect(
            self.faults([self.broadcaster("a", keys: [], streams: [])])
                == ["the broadcaster a has no key", "the broadcaster a has no stream"]
        )
        for name in ["", "two words", "line\nbreak", "ü", "a/b"] {
            #expect(self.faults([self.broadcaster(name, keys: ["1"])]).count == 1, "\(name)")
        }
    }

    @Test func `each limit holds at its value and not one past it`() {
        let name = String(repeating: "n", count: BroadcasterLimits.broadcasterNameBytesMax)
        #expect(self.faults([self.broadcaster(name)]) == [])
        #expect(self.faults([self.broadcaster(name + "n")]).count == 1)

        let many = (0...BroadcasterLimits.broadcastersMax).map { self.broadcaster("b\($0)") }
        #expect(self.faults(many.dropLast()) == [])
        #expect(self.faults(many) == ["the number of broadcasters is 1001; the limit broadcastersMax is 1000"])

        let keys = (0...BroadcasterLimits.keysPerBroadcasterMax).map { "k\($0)" }
        #expect(self.faults([self.broadcaster("a", keys: keys.dropLast())]) == [])
        #expect(
            self.faults([self.broadcaster("a", keys: keys)])
                == ["the number of keys of a is 17; the limit keysPerBroadcasterMax is 16"]
        )

        let streams = (0...BroadcasterLimits.streamsPerBroadcasterMax).map { "s\($0)" }
        #expect(self.faults([self.broadcaster("a", streams: streams.dropLast())]) == [])
        #expect(
            self.faults([self.broadcaster("a", streams: streams)])
                == ["the number of streams of a is 65; the limit streamsPerBroadcasterMax is 64"]
        )
    }
}
