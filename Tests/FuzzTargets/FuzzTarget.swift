// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import TestSupport

/// A part of the gateway that reads what strangers send, and what must hold whatever they send.
///
/// libFuzzer looks for bytes that break it (`scripts/fuzz-targets.sh`), and tests try those that were kept.
package struct FuzzTarget: Sendable {
    /// As the command line and the folder of the kept inputs have it.
    package let name: String
    /// An input that the part takes: a beginning for what is changed.
    package let sample: @Sendable (inout SeededGenerator) -> [UInt8]
    /// The next input, made of another one.
    package let change: @Sendable ([UInt8], inout SeededGenerator) -> [UInt8]
    /// The fault that an input causes, as a sentence; `nil` if there is none.
    package let fault: @Sendable ([UInt8]) -> String?

    package static let all: [FuzzTarget] = [
        .zmtpSession, .edgeConnection, .proxyHeader, .listenerRequest, .listenerReply, .broadcast, .records, .proofs,
        .tokens, .traceParent, .spliceSection, .playlist, .transportStream, .radio, .radioAnswer, .textPattern,
        .automation, .webSocket, .webSocketUpgrade, .webSocketAnswer,
        .trafficLog, .calendar, .vmap, .vastWrappers, .candidates, .playedAds, .groups,
    ]
}

/// A rule that an input breaks.
struct Broken: Error {
    let sentence: String
}

/// Insists on a rule.
func insist(_ holds: Bool, _ sentence: @autoclosure () -> String) throws(Broken) {
    if !holds { throw Broken(sentence: sentence()) }
}

/// The sentence of the rule that is broken; `nil`: none is.
func firstBroken(_ check: () throws(Broken) -> Void) -> String? {
    do throws(Broken) {
        try check()
        return nil
    } catch {
        return error.sentence
    }
}

/// Insists that what can be read is written so that it is read as the same.
///
/// - Returns: what was read; `nil` where the bytes are refused.
@discardableResult
func reread<Value: Equatable, Failure: Error>(
    _ bytes: [UInt8],
    decode: ([UInt8]) throws(Failure) -> Value,
    encode: (Value) -> [UInt8]
) throws(Broken) -> Value? {
    guard let value = try? decode(bytes) else { return nil }
    let again = try? decode(encode(value))
    try insist(again == value, "\(value) is written so that it is read as \(again.map { "\($0)" } ?? "nothing")")
    return value
}
