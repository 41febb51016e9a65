// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Plays what the broadcaster wants heard before the stream, and then the stream.
import Cuecast
import CuecastNIO

let client = try CuecastClient(
    configuration: ListenerConfiguration(stream: LiveStream(id: "radio1")),
    transport: NIOListenerTransport()
)
// snippet.start
try await client.start()  // Returns when they are queued, when there are none, or after two seconds.
while let advertisement = client.advertisements.getAdvertisement() {
    client.advertisements.report(.started, for: advertisement)
    try await Task.sleep(for: advertisement.exactDuration)  // Stands for the app's own audio player.
    client.advertisements.report(.completed, for: advertisement)
}
print("now the stream")
// snippet.end
client.stop()
await client.stopped()
