// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Tests a player against a gateway in memory: no network, no port, no waiting for minutes.
import Cuecast
import CuecastTesting

// snippet.setup
let gateway = try ScriptedGateway()
let client = try CuecastClient(configuration: gateway.configuration, transport: gateway)
let player = Player(client.advertisements)  // The player under test.
try await client.start()
// snippet.end

// snippet.play
let spot = ScriptedAdvertisement("spot", title: "Spring sale", duration: .milliseconds(200))
try gateway.publish(ScriptedBreak("noon-1", [spot]), in: .milliseconds(100))
let outcome = try await gateway.outcome(of: "spot", in: "noon-1")
assert(outcome.result == .played)
// snippet.end

// snippet.faults
gateway.breakConnections()  // The player connects again by itself,
// and makes up for what it missed meanwhile.
try gateway.publish(ScriptedBreak("noon-2", [spot]), in: .milliseconds(50))
let second = try await gateway.outcome(of: "spot", in: "noon-2")
assert(second.result == .played)
// snippet.end

client.stop()
await client.stopped()

/// Stands for the app's player.
@MainActor
final class Player: @MainActor AdvertisementDelegate {
    private let advertisements: any Advertisements

    init(_ advertisements: any Advertisements) {
        self.advertisements = advertisements
        advertisements.addObserver(advertisementDelegate: self)
    }

    func onAdvertisementAvailable() {
        guard let advertisement = self.advertisements.getAdvertisement() else { return }
        Task {
            self.advertisements.report(.started, for: advertisement)
            try await Task.sleep(for: advertisement.exactDuration)
            self.advertisements.report(.completed, for: advertisement)
            self.onAdvertisementAvailable()
        }
    }
}
