// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The loop that every player has: get, play, and at the end get again.
import Cuecast
import CuecastNIO

// snippet.delegate
@MainActor
final class Player: @MainActor AdvertisementDelegate {
    private let advertisements: any Advertisements
    private var isPlaying = false

    init(_ advertisements: any Advertisements) {
        self.advertisements = advertisements
        advertisements.addObserver(advertisementDelegate: self)
    }

    func onAdvertisementAvailable() {
        if !self.isPlaying { self.playNext() }
    }

    private func playNext() {
        guard let advertisement = self.advertisements.getAdvertisement() else {
            self.isPlaying = false  // Back to the programme.
            return
        }
        self.isPlaying = true
        self.play(advertisement) { self.playNext() }
    }
    // snippet.end

    /// Stands for the app's own audio player.
    private func play(_ advertisement: Advertisement, atEnd: @escaping @MainActor () -> Void) {
        print("playing", advertisement.audioFileURL)
        Task {
            try await Task.sleep(for: advertisement.exactDuration)
            atEnd()
        }
    }
}

let client = try CuecastClient(
    configuration: ListenerConfiguration(stream: LiveStream(id: "radio1")),
    transport: NIOListenerTransport()
)
let player = Player(client.advertisements)
try await client.start()
await client.stopped()
