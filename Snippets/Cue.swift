// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Cues a break ahead, starts it when the presenter says so, and ends it early.
import CuecastBroadcast
import CuecastZeroMQ

let client = BroadcastClient(
    configuration: BroadcastConfiguration(endpoint: "tcp://127.0.0.1:7402"),
    transport: BroadcastZeroMQTransport()
)
let spot = AdvertisementDescription(
    id: "spring-sale-15",
    title: "Spring sale",
    duration: .seconds(15),
    media: [.init(url: "https://cdn.example.com/spring.mp3", type: "audio/mpeg")]
)
// snippet.cue
// Listeners fetch the ads now and hold them.
let halftime = AdBreak(stream: "radio1", id: "halftime", start: .cued(), advertisements: [spot])
_ = try await client.publish(halftime)

// The whistle: listeners need no further request.
let started = try await client.punch(stream: "radio1", breakID: "halftime")
print("starts at", started.start.map { "\($0)" } ?? "an unknown time")
// snippet.end

// snippet.early
// The game goes on sooner than planned.
do {
    _ = try await client.end(stream: "radio1", breakID: "halftime", endMode: .finishAd)
} catch {
    print("it goes on to its planned end:", error)
}
// snippet.end
client.close()
