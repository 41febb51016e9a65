// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension BroadcastClient {
    /// The gateway's clock, which every answer tells.
    ///
    /// - Parameters:
    ///   - stream: a stream that this broadcaster may ask about.
    ///   - breakID: a break, which need not be there.
    /// - Returns: the time.
    /// - Throws: ``BroadcastError``.
    package func gatewayTime(stream: String, breakID: String) async throws(BroadcastError) -> Date {
        let key = try BreakKey(stream: stream, breakID: breakID)
        return Date(try await self.reply(to: .list(BroadcastRequest.List(stream: key.stream, id: key.id))).gatewayTime)
    }
}
