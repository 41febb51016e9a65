// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why a test did not get what it waited for.
package enum PeerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It did not happen in time.
    case timedOut(String)
    /// The gateway refused.
    case refused(String)
    /// The gateway sent something else.
    case unexpected(String)
    /// The peer was closed meanwhile.
    case closed

    package var description: String {
        switch self {
        case .timedOut(let what): "This did not happen in time: \(what)."
        case .refused(let refusal): "The gateway refused: \(refusal)"
        case .unexpected(let what): "The gateway sent something else: \(what)."
        case .closed: "The peer was closed."
        }
    }
}

/// How long a test waits for anything: what takes longer hangs.
///
/// Never shorter for something that is quick: how long it takes says only how busy the machine is. It is half an hour so
/// that the failure says what was missed, before the limit of the suite says only that there was one.
package let waitMax: Duration = .seconds(1_800)

/// Waits until a condition holds, for what has no event to wait on, such as a metric.
///
/// - Parameters:
///   - what: names the condition when it does not come to hold.
///   - condition: is looked at after a millisecond, and then less and less often, at least every 20 ms: hundreds of tests that wait on a
///     busy machine must not be what it is busy with.
/// - Throws: `PeerError.timedOut` after `waitMax`, or what the condition throws.
package func until(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + waitMax
    var pause: Duration = .milliseconds(1)
    while try await !condition() {
        guard ContinuousClock.now < end, !Task.isCancelled else { throw PeerError.timedOut(what) }
        try? await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(20))
    }
}
