// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import Dispatch
import Foundation
import Logging
import Synchronization
import Testing

@testable import Cuecast

/// Keeps the warnings that are logged.
private struct WarningCapture: LogHandler {
    static let warnings = Mutex<[String]>([])

    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        Self.warnings.withLock { $0.append("\(event.message)") }
    }
}

private struct SilentDelegate: AdvertisementDelegate {
    func onAdvertisementAvailable() {}
}

/// Blocks the thread until it is let go.
private func blockThread(until letGo: DispatchSemaphore, begun: () -> Void) {
    begun()
    letGo.wait()
}

@Suite(.suiteLimit)
struct BlockedMainThreadTests {
    /// In a process of its own, because it blocks the main thread.
    @Test func `a main thread that is blocked is logged once, after five seconds`() async {
        await #expect(processExitsWith: .success) {
            let gateway = try ScriptedGateway()
            let client = try CuecastClient(
                configuration: ListenerConfiguration(stream: LiveStream(id: "radio1")),
                transport: gateway,
                logger: Logger(label: "test") { _ in WarningCapture() }
            )
            client.advertisements.addObserver(advertisementDelegate: SilentDelegate())
            try await client.start()
            let letGo = DispatchSemaphore(value: 0)
            let (begun, began) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let blocking = Task { @MainActor in blockThread(until: letGo) { began.yield() } }
            // Only then, so that the call is made while nothing can run there.
            for await _ in begun { break }
            try gateway.publish("b1", [spot("a", seconds: 3_000)], in: 0)
            let published = ContinuousClock.now
            try await Task.sleep(for: .seconds(4))
            let early = WarningCapture.warnings.withLock { $0.count }
            // On a machine that was busy with something else it may be due by now.
            let isEarly = published.duration(to: .now) < .milliseconds(4_800)
            while WarningCapture.warnings.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(100)) }
            // Long enough for a second one, were there one every five seconds.
            try await Task.sleep(for: .seconds(6))
            letGo.signal()
            await blocking.value
            let warnings = WarningCapture.warnings.withLock { $0 }
            client.stop()
            await client.stopped()
            guard !isEarly || early == 0, warnings.count == 1, warnings[0].contains("main thread blocked") else {
                print("early: \(early), then: \(warnings)")
                exit(1)
            }
        }
    }
}
