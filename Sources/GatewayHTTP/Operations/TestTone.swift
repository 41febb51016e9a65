// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import GatewayDocuments
import HTTPTypes

/// A quiet tone as a sound file, for test breaks: a test needs no sound file of the station's own.
enum TestTone {
    /// The longest tone; at one byte for each of 8,000 samples a second that is 480 kB.
    static let secondsMax = 60

    private static let samplesPerSecond = 8_000
    private static let frequency = 440.0
    /// Of 127: a listener who did not expect it is not startled.
    private static let amplitude = 24.0
    /// It comes and goes in so many seconds, without a click.
    private static let fadeSeconds = 0.05

    /// The file: WAV (RIFF) with one channel of 8 bits.
    ///
    /// - Parameter seconds: how long it sounds, 1 to `secondsMax`.
    /// - Returns: its bytes.
    static func wav(seconds: Int) -> [UInt8] {
        let count = min(max(seconds, 1), Self.secondsMax) * Self.samplesPerSecond
        var bytes: [UInt8] = []
        bytes.reserveCapacity(44 + count)
        func text(_ text: String) { bytes += Array(text.utf8) }
        func number(_ value: Int, _ size: Int) {
            for place in 0..<size { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
        }
        text("RIFF")
        number(36 + count, 4)
        text("WAVEfmt ")
        number(16, 4)
        // PCM, one channel, one byte for each sample.
        for (value, size) in [(1, 2), (1, 2), (Self.samplesPerSecond, 4), (Self.samplesPerSecond, 4), (1, 2), (8, 2)] {
            number(value, size)
        }
        text("data")
        number(count, 4)
        let fade = Self.fadeSeconds * Double(Self.samplesPerSecond)
        for place in 0..<count {
            let loudness = min(1, Double(place) / fade, Double(count - 1 - place) / fade)
            let angle = 2 * Double.pi * Self.frequency * Double(place) / Double(Self.samplesPerSecond)
            bytes.append(UInt8(128 + (Self.amplitude * loudness * sin(angle)).rounded()))
        }
        return bytes
    }
}

/// The operation that gives the tone.
func testToneOperations() -> [Operation] {
    [
        Operation(
            .get,
            "/v1/test-tone",
            id: "getTestTone",
            tag: "Dashboard",
            "Get a quiet tone as a sound file, for test breaks.",
            details: "It needs no token: players load it as they load the sounds of other ads.",
            access: .open,
            parameters: [
                OperationParameter(
                    "seconds",
                    in: .query,
                    "How long it sounds; 15 unless told.",
                    Schema.integer(1...TestTone.secondsMax),
                    example: 15
                )
            ],
            answers: [
                OperationAnswer(
                    "The tone.",
                    OperationContent("audio/wav", .inline(Schema.text()), example: "…")
                )
            ]
        ) { call in
            let seconds = try call.query.number("seconds") ?? 15
            guard seconds >= 1, seconds <= TestTone.secondsMax else {
                throw Problem.badRequest("The parameter seconds must be a number from 1 to \(TestTone.secondsMax).")
            }
            return HTTPAnswer(type: "audio/wav", body: .bytes(TestTone.wav(seconds: Int(seconds))))
        }
    ]
}
