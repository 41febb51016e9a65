// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Publishes a break of one ad, ten seconds ahead, and prints what the gateway made of it.
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
let noon = AdBreak(
    stream: "radio1",
    id: "noon-1",
    start: .in(.seconds(10)),
    duration: .seconds(15),
    advertisements: [spot]
)
let status = try await client.publish(noon)
print(status.state, status.start.map { "\($0)" } ?? "no start yet")
client.close()
