// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// From nothing to an advertisement that plays and is counted: the code of the tutorial, step by step.
// snippet.imports
import Cuecast
import CuecastNIO

// snippet.end
// snippet.client
let client = try CuecastClient(
    configuration: ListenerConfiguration(
        gateway: GatewayAddress(host: "127.0.0.1"),
        stream: LiveStream(id: "radio1")
    ),
    transport: NIOListenerTransport()
)
// snippet.end

// snippet.player
@MainActor
final class Player: @MainActor AdvertisementDelegate {
    private let advertisements: any Advertisements

    init(_ advertisements: any Advertisements) { self.advertisements = advertisements }

    func onAdvertisementAvailable() {
        guard let advertisement = self.advertisements.getAdvertisement() else { return }
        print("now playing:", advertisement.title, "for", advertisement.duration, "s")
        Task {
            self.advertisements.report(.started, for: advertisement)
            try await Task.sleep(for: advertisement.exactDuration)  // Play advertisement.audioFileURL here.
            self.advertisements.report(.completed, for: advertisement)
            self.onAdvertisementAvailable()  // One break can hold several.
        }
    }

    func onAdvertisementsWithdrawn(_ withdrawal: AdvertisementWithdrawal) {
        if let current = withdrawal.current { print("stop:", current.title) }
    }
}
// snippet.end

// snippet.start
let player = Player(client.advertisements)
client.advertisements.addObserver(advertisementDelegate: player)
try await client.start()
// snippet.end

// snippet.stop
// When the listener stops hearing the stream; here: when the user presses return.
await Task.detached { _ = readLine() }.value
client.stop()
await client.stopped()
// snippet.end
