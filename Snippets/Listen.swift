// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Listens to a stream, plays what comes (here: prints it), and reports it as played.
import Cuecast
import CuecastNIO

let client = try CuecastClient(
    configuration: ListenerConfiguration(
        gateway: GatewayAddress(host: "127.0.0.1"),
        stream: LiveStream(id: "radio1")
    ),
    transport: NIOListenerTransport()
)
let events = client.makeEvents()
try await client.start()  // returns when pre-stream ads are queued, or there are none
for await event in events {
    guard case .available = event else { continue }
    while let advertisement = client.advertisements.getAdvertisement() {
        print("playing", advertisement.title, advertisement.audioFileURL)
        client.advertisements.report(.started, for: advertisement)
        try await Task.sleep(for: advertisement.exactDuration)
        client.advertisements.report(.completed, for: advertisement)
    }
}
