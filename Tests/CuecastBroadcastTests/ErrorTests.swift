// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastBroadcast
import Foundation
import Testing

/// Errors as an app shows them.
@Suite(.suiteLimit)
struct ErrorTests {
    @Test(arguments: [
        BroadcastError.refused(BroadcastRefusal(status: .conflict, sentence: "It exists already.")),
        .invalid(field: "stream", reason: "it is empty"), .tooLarge(limit: "attributesMax", maximum: 16, found: 17),
        .timedOut(after: .seconds(5)), .unreachable(reason: "connection refused"),
        .unreadableReply(reason: "it is of a later version."), .cancelled, .closed,
    ]) func `an error of the client is a sentence in either way`(error: BroadcastError) {
        #expect(error.localizedDescription == error.description)
        #expect(error.description.hasSuffix("."))
    }

    @Test(arguments: BroadcastRefusal.Status.allCases)
    func `a refusal is its status and sentence in either way`(status: BroadcastRefusal.Status) {
        let refusal = BroadcastRefusal(status: status, sentence: "It is so.")
        #expect(refusal.localizedDescription == "\(status.rawValue): It is so.")
    }

    @Test func `a fault in a file of ads is a sentence in either way`() {
        let error = AdsFileError(line: 4, field: "ads[0].duration", reason: "it is missing")
        #expect(error.localizedDescription == "Line 4, ads[0].duration: it is missing.")
        // Where the reason is a sentence of another, as with VAST, it ends once.
        let other = AdsFileError(
            line: 1,
            field: "",
            reason: "the VAST document cannot be used: The document has no ad."
        )
        #expect(other.description == "Line 1: the VAST document cannot be used: The document has no ad.")
    }
}
