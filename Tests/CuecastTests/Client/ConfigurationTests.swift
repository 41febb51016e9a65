// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastMycrocast
import CuecastTesting
import CuecastWire
import Testing

@_spi(Tracking) @_spi(Tuning) @testable import Cuecast

@Suite(.suiteLimit)
struct ConfigurationTests {
    let gateway: ScriptedGateway

    init() throws { self.gateway = try ScriptedGateway() }

    func isValid(_ configure: (inout ListenerConfiguration) -> Void) -> Bool {
        var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
        configure(&configuration)
        return (try? CuecastClient(configuration: configuration, transport: self.gateway)) != nil
    }

    @Test func `a stream id of 64 characters is taken and one of 65 is not`() {
        #expect(self.isValid { $0.stream = LiveStream(id: String(repeating: "a", count: 64)) })
        #expect(!self.isValid { $0.stream = LiveStream(id: String(repeating: "a", count: 65)) })
        #expect(!self.isValid { $0.stream = LiveStream(id: "") })
        #expect(!self.isValid { $0.stream = LiveStream(id: "radio 1") })
    }

    @Test func `a delay of an hour is taken and more is not`() {
        #expect(self.isValid { $0.delay = .seconds(3_600) })
        #expect(!self.isValid { $0.delay = .seconds(3_600) + .milliseconds(1) })
        #expect(!self.isValid { $0.delay = .milliseconds(-1) })
        #expect(self.isValid { $0.delayMax = .seconds(3_600) })
        #expect(!self.isValid { $0.delayMax = .seconds(3_601) })
    }

    @Test func `sixteen attributes of 128 bytes are taken and more are not`() {
        func attributes(_ count: Int, bytes: Int) -> [String: String] {
            Dictionary(
                uniqueKeysWithValues: (0..<count)
                    .map {
                        (
                            String(repeating: "k", count: bytes - 2) + String($0 + 10),
                            String(repeating: "v", count: bytes)
                        )
                    }
            )
        }
        #expect(self.isValid { $0.attributes = attributes(16, bytes: 128) })
        #expect(!self.isValid { $0.attributes = attributes(17, bytes: 128) })
        #expect(!self.isValid { $0.attributes = attributes(1, bytes: 129) })
        #expect(!self.isValid { $0.attributes = ["a": "\u{7}"] })
        #expect(!self.isValid { $0.client = String(repeating: "c", count: 129) })
    }

    @Test func `buffers have a size`() {
        #expect(self.isValid { $0.eventsBufferedMax = 1 })
        #expect(!self.isValid { $0.eventsBufferedMax = 0 })
        #expect(self.isValid { $0.eventsBufferedMax = 1_000_000 })
        #expect(!self.isValid { $0.eventsBufferedMax = 1_000_001 })
        #expect(!self.isValid { $0.outcomesKeptMax = 0 })
    }

    @Test func `sixteen alternative gateways are taken and one more is not`() {
        var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
        configuration.alternativeGateways = (1...16).map { GatewayAddress(host: "10.0.0.\($0)") }
        #expect(throws: Never.self) { try ListenerSettings(configuration) }
        configuration.alternativeGateways.append(GatewayAddress(host: "10.0.0.17"))
        #expect(throws: CuecastError.self) { try ListenerSettings(configuration) }
    }

    @Test(arguments: [(4_095, false), (4_096, true), (1 << 30, true), ((1 << 30) + 1, false)])
    func `the outbox has from 4,096 bytes to a gibibyte`(bytes: Int, isTaken: Bool) {
        var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
        configuration.outboxBytesMax = bytes
        #expect(((try? ListenerSettings(configuration)) != nil) == isTaken)
    }

    @Test func `so many tracking calls count as the journal has room for, and no more`() {
        var limits = TrackingLimits()
        limits.pendingMax = TrackingLimits.callsMax
        limits.rememberedMax = TrackingLimits.callsMax
        #expect(limits.checked == limits)
        limits.pendingMax += 1
        limits.rememberedMax += 1
        #expect(limits.checked.pendingMax == TrackingLimits.callsMax)
        #expect(limits.checked.rememberedMax == TrackingLimits.callsMax)
    }

    @Test func `timings are within reason`() {
        #expect(!self.isValid { $0.timings.requestTimeout = .zero })
        #expect(self.isValid { $0.timings.stopWait = .milliseconds(900) })
        #expect(!self.isValid { $0.timings.stopWait = .milliseconds(901) })
        #expect(!self.isValid { $0.timings.retryDelayMax = .milliseconds(100) })
        #expect(!self.isValid { $0.timings.connectTimeout = .seconds(86_401) })
    }

    @Test func `an error says what is wrong in a sentence`() throws {
        var configuration = ListenerConfiguration(stream: LiveStream(id: "radio 1"))
        let error = #expect(throws: CuecastError.self) { try ListenerSettings(configuration) }
        #expect(error?.description.contains("stream") == true)
        configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"), delay: .seconds(4_000))
        let delay = #expect(throws: CuecastError.self) { try ListenerSettings(configuration) }
        #expect(delay?.description.contains("delay") == true)
    }

    @Test func `an advertisement's description comes from its content`() {
        var content = content("spot")
        content.duration = .milliseconds(12_001)
        content.text = "Buy it"
        content.clickThroughURL = "https://shop.example/"
        content.banner = .init(imageURL: "https://media.example/square.png", width: 300)
        content.media.insert(.init(url: "https://media.example/spot.mp4", type: "video/mp4", width: 640), at: 0)
        let advertisement = Advertisement(
            content,
            breakID: breakID("b1"),
            delivery: [],
            position: .init(index: 2, count: 3)
        )
        #expect(advertisement.duration == 13 && advertisement.exactDuration == .milliseconds(12_001))
        #expect(advertisement.audioFileURL == "https://media.example/spot.mp3")
        #expect(advertisement.audioFileUrl == advertisement.audioFileURL)
        #expect(advertisement.advertisementDescription == "Buy it")
        #expect(advertisement.bannerFileUrl == "https://media.example/square.png")
        #expect(advertisement.bannerTargetURL == "https://shop.example/")
        #expect(advertisement.bannerTargetUrl == advertisement.bannerTargetURL)
        #expect(advertisement.banner?.width == 300 && advertisement.banner?.height == nil)
        #expect(advertisement.mediaFiles.map(\.width) == [640, nil])
        #expect(advertisement.podPosition == .init(index: 2, count: 3))
        #expect(advertisement.id >= 0)
    }
}
