// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Tuning) import Cuecast
@_spi(Tuning) import CuecastTesting
import Synchronization

/// A break of advertisements that last so many seconds each.
func scripted(_ id: String, _ advertisements: [(String, Double)], duration: Double? = nil) -> ScriptedBreak {
    ScriptedBreak(
        id,
        advertisements.map { ScriptedAdvertisement($0.0, duration: .seconds($0.1)) },
        duration: duration.map { .seconds($0) }
    )
}

/// An app's player as short as it can be: plays what it gets for no time at all and reports it.
final class Player: AdvertisementDelegate, Sendable {
    private let client: CuecastClient
    private let withdrawals = Mutex<[AdvertisementWithdrawal]>([])

    init(_ client: CuecastClient) { self.client = client }

    var withdrawn: [AdvertisementWithdrawal] { self.withdrawals.withLock { $0 } }

    func onAdvertisementAvailable() {
        while let advertisement = self.client.advertisements.getAdvertisement() {
            self.client.advertisements.report(.started, for: advertisement)
            self.client.advertisements.report(.completed, for: advertisement)
        }
    }

    func onAdvertisementsWithdrawn(_ withdrawal: AdvertisementWithdrawal) {
        self.withdrawals.withLock { $0.append(withdrawal) }
    }
}

/// An actor other than the main one, for delegates.
actor Elsewhere {}

/// A player's configuration without timeouts that expire, however slow the machine is; a start that came back has come through.
func patientConfiguration(_ gateway: ScriptedGateway) -> ListenerConfiguration {
    var configuration = gateway.configuration
    configuration.timings.waitForAll()
    return configuration
}

/// Runs a client with a player against a gateway, and stops it at the end.
func withPlayer<Result>(
    _ gateway: ScriptedGateway,
    configure: (inout ListenerConfiguration) -> Void = { _ in },
    _ body: (CuecastClient, Player) async throws -> Result
) async throws -> Result {
    var configuration = patientConfiguration(gateway)
    configure(&configuration)
    let client = try CuecastClient(configuration: configuration, transport: gateway)
    let player = Player(client)
    client.advertisements.addObserver(advertisementDelegate: player, on: Elsewhere())
    try await client.start()
    do {
        let result = try await body(client, player)
        client.stop()
        await client.stopped()
        return result
    } catch {
        client.stop()
        await client.stopped()
        throw error
    }
}
