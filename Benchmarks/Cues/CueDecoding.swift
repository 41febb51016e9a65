// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats

/// Decodes SCTE-35 cues many times, so that `Benchmarks/cue_decoding.py` can hold the time against that of another reader.
///
/// `CueDecoding ROUNDS` reads cues from standard input, one of base64 on a line, and decodes each of them so many times. It prints for
/// each the nanoseconds of one decoding, in the order of the lines: of the quickest of five turns, since the machine does other things.
@main
struct CueDecoding {
    static func main() throws {
        guard let rounds = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }), rounds > 0 else {
            print("usage: CueDecoding ROUNDS < cues")
            return
        }
        var cues: [String] = []
        while let line = readLine() { cues.append(line) }
        // Once before, so that nothing is measured that happens once.
        var descriptors = 0
        for cue in cues { descriptors += try SpliceInfoSection(text: cue).descriptors.count }
        for cue in cues {
            var least = Double.infinity
            for _ in 0..<5 {
                let start = ContinuousClock.now
                for _ in 0..<rounds { descriptors += try SpliceInfoSection(text: cue).descriptors.count }
                least = min(least, (ContinuousClock.now - start) / .nanoseconds(rounds))
            }
            print(Int(least))
        }
        // The results are used, so that none is left out.
        precondition(descriptors >= 0)
    }
}
