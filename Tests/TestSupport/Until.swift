// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// How long tests wait for a condition.
package enum TestPatience {
    /// How long a test waits before it reports that a condition did not come to hold.
    ///
    /// 20 s: a developer reads of a broken condition soon. `CUECAST_TEST_PATIENCE` sets another number of seconds. The scripts
    /// that run many tests at once set half an hour, since a busy machine must fail no test (`scripts/lib.sh`, `be_patient`).
    package static let condition: Duration = .seconds(
        ProcessInfo.processInfo.environment["CUECAST_TEST_PATIENCE"].flatMap { Int($0) } ?? 20
    )
}

/// A condition that did not come to hold within `TestPatience.condition`.
package struct ConditionTimedOut: Error, Hashable, Sendable, CustomStringConvertible {
    /// Names the condition.
    package let condition: String

    package var description: String {
        "This did not happen within \(TestPatience.condition) (CUECAST_TEST_PATIENCE): \(self.condition)."
    }
}

/// Waits until a condition holds, for what has no event to wait on, such as a metric.
///
/// - Parameters:
///   - name: names the condition when it does not come to hold; without one, its place in the source does.
///   - file: the file of the call.
///   - line: the line of the call.
///   - condition: is checked after a millisecond, and then less and less often, at least every 20 ms: hundreds of waiting tests
///     must not load the machine with their checks.
/// - Throws: `ConditionTimedOut` after `TestPatience.condition`, or when the task is cancelled; and what the condition throws.
package func until(
    _ name: String? = nil,
    file: StaticString = #fileID,
    line: UInt = #line,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + TestPatience.condition
    var pause: Duration = .milliseconds(1)
    while try await !condition() {
        guard ContinuousClock.now < end, !Task.isCancelled else {
            throw ConditionTimedOut(condition: name ?? "the condition at \(file):\(line)")
        }
        try? await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(20))
    }
}
