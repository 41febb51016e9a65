// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension HTTPFetcher {
    /// The result of a request.
    package struct Exchange: Sendable {
        /// How an exchange ended.
        package enum End: Sendable {
            /// The answer is there, all of it.
            case complete
            /// The body is not wanted.
            case bodyRefused
            /// There are more bytes than `bodyBytesMax`.
            case bodyTooLarge
            /// It was not over at the deadline.
            case tooSlow
            /// The server said nothing for `silenceMax`.
            case silent
            /// The task that asked was cancelled.
            case cancelled
            /// There is no connection, or it broke.
            case failed(any Error)
        }

        /// The status and the headers; `nil`: they have not come.
        package internal(set) var head: Head?
        /// Where a redirect leads.
        package internal(set) var location: URL?
        /// As much of the body as has come, at most `bodyBytesMax` bytes.
        package internal(set) var body: [UInt8] = []
        package internal(set) var end = End.complete
    }

    /// The head of an answer.
    package struct Head: Sendable {
        package let status: Int
        /// The media type in lower case, without parameters; empty where none is said.
        package let mediaType: String
        /// How long the body will be, in bytes; `nil`: it is not said.
        package let bodyBytes: Int64?
        private let headers: [String: String]

        init(_ response: HTTPURLResponse) {
            self.status = response.statusCode
            self.mediaType = (response.mimeType ?? "").lowercased()
            self.bodyBytes = response.expectedContentLength >= 0 ? response.expectedContentLength : nil
            var headers: [String: String] = [:]
            for case (let name as String, let value as String) in response.allHeaderFields {
                headers[name.lowercased()] = value
            }
            self.headers = headers
        }

        /// The value of a header.
        ///
        /// - Parameter name: in lower case.
        /// - Returns: `nil` where there is none.
        package func value(of name: String) -> String? { self.headers[name] }
    }
}
