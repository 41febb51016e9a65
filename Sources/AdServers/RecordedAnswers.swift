// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import AdFormats

/// Answers of ad servers that were recorded, so that no server is asked.
package struct RecordedAnswers: Sendable {
    private let documents: [String: [UInt8]]

    /// - Parameter documents: by address, its macros unfilled.
    package init(_ documents: [String: [UInt8]]) { self.documents = documents }

    /// Follows wrappers through the recorded answers.
    ///
    /// - Parameter resolver: With the first address, or the first document.
    /// - Returns: The ads, which may be none; an address without an answer counts as one that does not answer.
    package func resolve(_ resolver: VASTResolver) -> AdServerReport {
        let begin = ContinuousClock.now
        var resolver = resolver
        var requests = resolver.takeRequests()
        while !requests.isEmpty {
            for request in requests {
                if let document = self.documents[request.address] {
                    resolver.answer(request.document, .document(document, charset: nil))
                } else {
                    resolver.answer(request.document, .fault(.unavailable("No answer is recorded for this address.")))
                }
            }
            requests = resolver.takeRequests()
        }
        guard let resolution = resolver.resolution else {
            // Each request was answered, and the last answer makes the result.
            preconditionFailure("there is an answer to each request, and no result")
        }
        return AdServerReport(resolution: resolution, exchanges: [:], time: .now - begin)
    }
}
