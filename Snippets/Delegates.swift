// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Is told of advertisements on an actor of its own.
import Cuecast
import CuecastNIO

// snippet.actor
actor Playback: AdvertisementDelegate {
    private let advertisements: any Advertisements

    init(_ advertisements: any Advertisements) { self.advertisements = advertisements }

    func listen() { self.advertisements.addObserver(advertisementDelegate: self, on: self) }

    // The client calls this on `self`, as asked for above.
    nonisolated func onAdvertisementAvailable() {
        self.assumeIsolated { $0.playNext() }
    }

    private func playNext() {
        guard let advertisement = self.advertisements.getAdvertisement() else { return }
        print("playing", advertisement.title)
    }
}
// snippet.end

let client = try CuecastClient(
    configuration: ListenerConfiguration(stream: LiveStream(id: "radio1")),
    transport: NIOListenerTransport()
)
let playback = Playback(client.advertisements)
await playback.listen()
try await client.start()
await client.stopped()
