// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import BreakDocuments
import BreakPlanning
import CommandSupport
import CuecastWire
import Foundation
import GatewayCore
import GatewayDocuments

extension PlayedHistory {
    /// The ads of a file.
    ///
    /// - Parameter path: the file.
    /// - Throws: why it cannot be used.
    init(file path: String) throws(FileFault) {
        self.init(try InputFile.document(path, upTo: CandidatesDocument.bytesMax, PlayedAdsDocument.read))
    }
}

extension OperatorGateway {
    /// The ads of the breaks of a stream that start in a time, by the gateway's reports.
    ///
    /// - Parameters:
    ///   - stream: the stream.
    ///   - from: in milliseconds since 1970.
    ///   - to: in milliseconds since 1970; breaks that start then count too.
    /// - Returns: the ads.
    /// - Throws: where they are not known, or not all.
    func played(in stream: String, from: Int64, to: Int64) async throws(Fault) -> PlayedHistory {
        let result = try await PlayedHistory.upToDate { (key) async throws(Fault) -> HistoryPage in
            HistoryPage(
                try await self.document(
                    ReportDocument.self,
                    Self.target(
                        "/v1/reports",
                        [
                            ("stream", stream), ("before", key.map { String($0) }),
                            ("limit", String(PlayedHistory.pageMax)), ("from", Timestamp.text(ofMilliseconds: from)),
                            ("to", Timestamp.text(ofMilliseconds: to + 1)),
                        ]
                    )
                )
            )
        } pause: { () async throws(Fault) in
            try? await Task.sleep(for: PlayedHistory.attemptEvery)
        }
        switch result {
        case .success(let history): return history
        case .failure(let fault):
            throw Fault(
                sentence: fault.sentence,
                exit: fault == .tooMany ? CommandExit.badData : CommandExit.unavailable
            )
        }
    }
}
