// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Code that was written for another library of live-stream advertisements, and goes on with this one.
import Cuecast
import CuecastMycrocast
import CuecastNIO

// snippet.begin
// New: one client, where the app begins to play the stream. Everything below it stays as it was.
let client = try CuecastClient(
    configuration: ListenerConfiguration(gateway: GatewayAddress(host: "127.0.0.1"), stream: LiveStream(id: "radio1")),
    transport: NIOListenerTransport(),
    advertisements: Mycrocast.shared.advertisements
)
// snippet.end

// snippet.old
@MainActor
final class OldPlayer: @MainActor AdvertisementDelegate {
    func begin() {
        Mycrocast.shared.advertisements.addObserver(advertisementDelegate: self)
    }

    func onAdvertisementAvailable() { self.playNextAdvertisement() }

    func playNextAdvertisement() {
        guard let advertisement: MycrocastAdvertisement = Mycrocast.shared.advertisements.getAdvertisement() else {
            return
        }
        print(advertisement.id, advertisement.audioFileUrl, advertisement.duration, advertisement.bannerFileUrl ?? "")
    }

    func bannerTapped(_ advertisement: Advertisement, while stream: LiveStream) {
        Mycrocast.shared.advertisements.onAdBannerClicked(stream, advertisement: advertisement)
    }

    func skipAll() { Mycrocast.shared.advertisements.ignoreReceivedAdvertisements() }
}
// snippet.end

// snippet.plain
// A class from before Swift had actors: nothing of it changes. It is called on the main thread.
final class OlderPlayer: AdvertisementDelegate {
    func begin() {
        Mycrocast.shared.advertisements.addObserver(advertisementDelegate: self)
    }

    func onAdvertisementAvailable() {
        while let advertisement = Mycrocast.shared.advertisements.getAdvertisement() {
            print(advertisement.advertisementDescription, advertisement.bannerTargetUrl ?? "")
        }
    }

    func end() {
        Mycrocast.shared.advertisements.removeObserver(advertisementDelegate: self)
    }
}
// snippet.end

let player = OldPlayer()
player.begin()
let older = OlderPlayer()
older.begin()
try await client.start()
await client.stopped()
older.end()
