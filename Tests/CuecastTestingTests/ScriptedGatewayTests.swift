// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Tracking) import Cuecast
import CuecastTesting
import Testing

@Suite(.suiteLimit)
struct ScriptedGatewayTests {
    let gateway: ScriptedGateway

    init() throws { self.gateway = try ScriptedGateway() }

    @Test func `a break is played and its outcome told`() async throws {
        let began = ContinuousClock.now
        try await withPlayer(self.gateway) { _, _ in
            try self.gateway.publish(scripted("b1", [("a", 1_000), ("b", 2_000)]))
            let outcomes = try await self.gateway.outcomes(2)
            #expect(outcomes.map(\.adID) == ["a", "b"])
            #expect(outcomes.allSatisfy { $0.result == .played && $0.evidence == .reported && $0.breakID == "b1" })
            #expect(outcomes.map(\.heard) == [.seconds(1_000), .seconds(2_000)])
            #expect(outcomes.map(\.quartiles) == [4, 4])
            #expect(Set(outcomes.map(\.session)) == Set(self.gateway.sessions))
            // A second either way is what the two clocks may differ by.
            #expect(outcomes[0].occurred > began - .seconds(1) && outcomes[0].occurred < .now + .seconds(1))
        }
        #expect(self.gateway.requests.map(\.kind).first == .join)
        // A stop waits less than a second for it: a starved machine may not come to send it.
        #expect(self.gateway.requests.dropLast().allSatisfy { $0.kind != .leave }, "nothing follows a leave")
        #expect(self.gateway.openConnections == 0)
        #expect(self.gateway.repeatedOutcomes == 0)
    }

    @Test func `all that an advertisement has reaches the player`() async throws {
        var spot = ScriptedAdvertisement(
            "spot",
            title: "Spring",
            duration: .seconds(15),
            audioURL: "https://a.example/1"
        )
        spot.text = "All of it"
        spot.advertiser = "A shop"
        spot.skipOffset = .seconds(5)
        spot.media.append(.init(url: "https://a.example/2", type: "audio/aac", bitrate: 96))
        spot.media[1].codec = "mp4a.40.2"
        spot.media[1].isStreaming = true
        spot.clickThroughURL = "https://a.example/click"
        spot.banner = .init(
            imageURL: "https://a.example/b.png",
            targetURL: "https://a.example/b",
            alternativeText: "A tree"
        )
        spot.banner?.width = 320
        spot.banner?.height = 321
        spot.banner?.type = "image/png"
        spot.trackers = [.init(event: "progress", url: "https://a.example/t", offset: .seconds(3))]
        let client = try CuecastClient(configuration: patientConfiguration(self.gateway), transport: self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish(ScriptedBreak("b1", [spot]))
        let got = await events.first { if case .available(_, let all) = $0 { all.first } else { nil } }
        let advertisement = try #require(got)
        #expect(advertisement.title == "Spring")
        #expect(advertisement.advertisementDescription == "All of it")
        #expect(advertisement.advertiser == "A shop")
        #expect(advertisement.exactDuration == .seconds(15))
        #expect(advertisement.skipOffset == .seconds(5))
        #expect(advertisement.audioFileURL == "https://a.example/1")
        #expect(advertisement.mediaFiles.map(\.url) == ["https://a.example/1", "https://a.example/2"])
        #expect(advertisement.mediaFiles.last?.bitrate == 96)
        #expect(advertisement.mediaFiles == spot.media)
        #expect(advertisement.clickThroughURL == "https://a.example/click")
        #expect(advertisement.banner?.imageURL == "https://a.example/b.png")
        #expect(advertisement.banner?.alternativeText == "A tree")
        #expect(advertisement.banner?.width == 320)
        #expect(advertisement.banner?.height == 321)
        #expect(advertisement.banner == spot.banner)
        #expect(advertisement.bannerTargetURL == "https://a.example/b")
        #expect(advertisement.trackers.map(\.offset) == [.seconds(3)])
        client.stop()
        await client.stopped()
    }

    @Test func `an ad that the app ignores is reported as ignored by the user`() async throws {
        let client = try CuecastClient(configuration: patientConfiguration(self.gateway), transport: self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish(scripted("b1", [("a", 1_000)]))
        _ = await events.first { if case .available = $0 { () } else { nil } }
        client.advertisements.ignoreReceivedAdvertisements()
        let outcome = try await self.gateway.outcome(of: "a", in: "b1")
        #expect(outcome.result == .ignored(.user))
        client.stop()
        await client.stopped()
    }

    @Test func `a failure is told with its code`() async throws {
        let client = try CuecastClient(configuration: patientConfiguration(self.gateway), transport: self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish(scripted("b1", [("a", 1_000)]))
        _ = await events.first { if case .available = $0 { () } else { nil } }
        let advertisement = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.failed(vastError: 405), for: advertisement)
        #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .failed(vastError: 405))
        client.stop()
        await client.stopped()
    }

    @Test func `pre-roll ads are there when start returns`() async throws {
        try self.gateway.publishPreStream(scripted("pre", [("p", 5)]))
        let client = try CuecastClient(configuration: patientConfiguration(self.gateway), transport: self.gateway)
        try await client.start()
        #expect(client.advertisements.getAdvertisement()?.adID == "p")
        client.stop()
        await client.stopped()
    }

    @Test func `a cued break waits for its punch`() async throws {
        try await withPlayer(self.gateway) { client, _ in
            try self.gateway.cue(scripted("b1", [("a", 1_000)]))
            _ = try await self.gateway.request(.batch)
            #expect(self.gateway.outcomes.isEmpty)
            try self.gateway.punch("b1")
            #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .played)
            // The same once more changes nothing, as at any gateway.
            try self.gateway.punch("b1")
            #expect(throws: ScriptedGatewayError.self) { try self.gateway.punch("b1", in: .seconds(1)) }
        }
    }

    @Test func `a break that moves is played at its new time`() async throws {
        try await withPlayer(self.gateway) { _, _ in
            try self.gateway.publish(scripted("b1", [("a", 1_000)]), in: .seconds(3_000))
            _ = try await self.gateway.request(.batch)
            try self.gateway.update("b1", startIn: .milliseconds(1))
            #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .played)
        }
    }

    @Test func `a cancelled break is withdrawn`() async throws {
        try await withPlayer(self.gateway) { client, _ in
            let events = client.makeEvents()
            try self.gateway.publish(scripted("b1", [("a", 1_000)]), in: .seconds(3_000))
            _ = try await self.gateway.request(.batch)
            try self.gateway.cancel("b1")
            #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .ignored(.cancelled))
            let withdrawn = await events.first { if case .withdrawn(let each) = $0 { each } else { nil } }
            #expect(withdrawn?.reason == .cancelled)
        }
    }

    @Test func `a break that ends early leaves out what no longer fits`() async throws {
        let client = try CuecastClient(configuration: patientConfiguration(self.gateway), transport: self.gateway)
        let events = client.makeEvents()
        try await client.start()
        try self.gateway.publish(scripted("b1", [("a", 1_000), ("b", 1_000)], duration: 2_000))
        _ = await events.first { if case .available = $0 { () } else { nil } }
        let current = try #require(client.advertisements.getAdvertisement())
        try self.gateway.end("b1", in: .milliseconds(1), endMode: .cut)
        let withdrawn = await events.first { if case .withdrawn(let each) = $0 { each } else { nil } }
        #expect(withdrawn?.current == current)
        #expect(try await self.gateway.outcome(of: "b", in: "b1").result == .ignored(.endedEarly))
        #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .played)
        client.stop()
        await client.stopped()
    }

    @Test func `a delayed listener gets the break late`() async throws {
        try await withPlayer(self.gateway) {
            $0.delay = .seconds(1_000)
            $0.delayMax = .seconds(2_000)
        } _: { client, _ in
            try self.gateway.publish(scripted("b1", [("a", 1_000)]))
            let request = try await self.gateway.request(.batch)
            #expect(request.delay == .seconds(1_000))
            #expect(self.gateway.outcomes.isEmpty)
            client.setDelay(.zero)
            #expect(try await self.gateway.outcome(of: "a", in: "b1").result == .played)
        }
    }

    @Test func `two players have outcomes of their own`() async throws {
        try await withPlayer(self.gateway) { _, _ in
            try await withPlayer(self.gateway) { _, _ in
                try self.gateway.publish(scripted("b1", [("a", 1_000)]))
                let outcomes = try await self.gateway.outcomes(2)
                #expect(Set(outcomes.map(\.session)) == Set(self.gateway.sessions))
                #expect(self.gateway.sessions.count == 2)
                for session in self.gateway.sessions {
                    let own = try await self.gateway.outcome(of: "a", in: "b1", session: session)
                    #expect(own.session == session)
                }
            }
        }
    }

    @Test func `a player of another stream finds nothing`() async throws {
        try self.gateway.publish(scripted("b1", [("a", 1_000)]))
        try await withPlayer(self.gateway) {
            $0.stream = LiveStream(id: "radio10")
        } _: { client, _ in
            try self.gateway.publish(scripted("b2", [("a", 1_000)]), in: .seconds(1_500))
            #expect(client.connectionState == .listening)
            #expect(self.gateway.requests.map(\.kind).contains(.batch) == false)
            #expect(try await self.gateway.request(.join).stream == LiveStream(id: "radio10"))
        }
    }

    @Test func `a join says who joins`() async throws {
        try await withPlayer(self.gateway) {
            $0.attributes = ["region": "north"]
            $0.client = "app/1"
            $0.tokenProvider = { "secret" }
        } _: { _, _ in
            let join = try await self.gateway.request(.join)
            #expect(join.attributes == ["region": "north"])
            #expect(join.client == "app/1")
            #expect(join.token == "secret")
            #expect(join.breakID == nil)
            #expect(!join.isRefused)
        }
    }
}
