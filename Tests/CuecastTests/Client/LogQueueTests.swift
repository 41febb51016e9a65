// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Cuecast

/// A log that takes no line until it is let go on.
private struct StuckLog: LogHandler {
    final class Place: Sendable {
        let lines = Mutex<[String]>([])
        let gate = DispatchSemaphore(value: 0)
    }

    let place: Place
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        self.place.gate.wait()
        let count = event.metadata?["count"].map { " \($0)" } ?? ""
        self.place.lines.withLock { $0.append("\(event.message)\(count)") }
        self.place.gate.signal()
    }
}

@Suite(.suiteLimit)
struct LogQueueTests {
    @Test func `a log that does not take its lines delays no caller, and gets 256 of them in order`() async throws {
        let place = StuckLog.Place()
        let queue = LogQueue(Logger(label: "stuck") { _ in StuckLog(place: place) })
        queue.write(.init(level: .debug, message: "not wanted"))
        queue.write(.init(level: .info, message: "first"))
        // That one may be on its way already.
        let most = LogQueue.linesWaitingMax
        for number in 0..<most + 10 { queue.write(.init(level: .info, message: "\(number)")) }
        place.gate.signal()
        try await until { place.lines.withLock { $0.last?.hasPrefix("Lines of the log were dropped ") == true } }
        let lines = place.lines.withLock { $0 }
        let kept = lines.dropFirst().dropLast()
        #expect(lines.first == "first")
        #expect(kept.elementsEqual((0..<kept.count).map { "\($0)" }))
        #expect(kept.count == most || kept.count == most - 1)
        #expect(lines.last == "Lines of the log were dropped \(most + 10 - kept.count)")
    }
}
