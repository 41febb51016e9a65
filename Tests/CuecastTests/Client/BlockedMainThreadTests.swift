// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

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

private func blockThread(seconds: Double) { Thread.sleep(forTimeInterval: seconds) }

@Suite(.timeLimit(.minutes(1)))
struct BlockedMainThreadTests {
    /// In a process of its own, because it blocks the main thread.
    @Test func `a main thread that is blocked is logged once, after five seconds`() async {
        await #expect(processExitsWith: .success) {
            let transport = MemoryTransport()
            let client = try CuecastClient(
                configuration: ListenerConfiguration(stream: LiveStream(id: "radio1")),
                transport: transport,
                logger: Logger(label: "test") { _ in WarningCapture() }
            )
            client.advertisements.addObserver(advertisementDelegate: SilentDelegate())
            try await client.start()
            let blocking = Task { @MainActor in blockThread(seconds: 12) }
            // Only now, so that the call is made while nothing can run there.
            try await Task.sleep(for: .milliseconds(100))
            transport.publish("b1", [content("a")], in: 0)
            let published = ContinuousClock.now
            try await Task.sleep(for: .seconds(4))
            let early = WarningCapture.warnings.withLock { $0.count }
            // On a machine that was busy with something else it may be due by now.
            let isEarly = published.duration(to: .now) < .milliseconds(4_800)
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
