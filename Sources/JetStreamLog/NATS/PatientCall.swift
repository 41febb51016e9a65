// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
import Dispatch

/// Calls of the servers that are made again while there is no answer, as after a leader was lost.
enum PatientCall {
    /// How long servers may be silent (1 min): an election takes 4 to 7 s.
    private static let answersWithin: Duration = .seconds(60)
    private static let tryAfter: Duration = .milliseconds(200)

    /// Does something again while the servers do not answer.
    ///
    /// It blocks.
    ///
    /// - Parameter body: can be repeated.
    /// - Returns: the result of the body.
    /// - Throws: its error; `noAnswer` where there was no answer for a minute.
    static func answered<Value>(_ body: () throws(NATSError) -> Value) throws(NATSError) -> Value {
        let begun = ContinuousClock.now
        while true {
            do throws(NATSError) {
                return try body()
            } catch {
                guard case .noAnswer = error, ContinuousClock.now - begun < Self.answersWithin else { throw error }
                Self.pause()
            }
        }
    }

    /// Blocks for a moment before servers are asked again.
    static func pause() {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(Int(Self.tryAfter.inMicroseconds)))
    }
}
#endif
