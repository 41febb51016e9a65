// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastBroadcast
import CuecastZeroMQ
import Foundation
import Gateway
import GatewayHTTP
import GatewayTestKit
import Testing

extension ServedGateway {
    /// A broadcaster on the client library.
    var broadcasting: BroadcastClient {
        BroadcastClient(
            configuration: BroadcastConfiguration(endpoint: self.endpoints.broadcast),
            transport: BroadcastZeroMQTransport()
        )
    }

    /// The books as `cuecast report` prints them.
    func books(_ flags: [String] = []) async throws -> ReportDocument {
        let finished = try await CuecastProgram.run(["report", "--format", "json"] + flags + self.flags)
        guard finished.code == 0 else {
            throw PeerError.unexpected("the end \(finished.end) of the report: \(finished.error)")
        }
        return try JSONDecoder().decode(ReportDocument.self, from: Data(finished.output.utf8))
    }

    /// The books, as soon as the ledger has come so far.
    func books(_ what: String, when isComplete: (ReportDocument) -> Bool) async throws -> ReportDocument {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let books = try await self.books()
            #expect(books.balanced)
            if isComplete(books) { return books }
            guard ContinuousClock.now < deadline else {
                throw PeerError.timedOut("\(what) in the books; they say \(books.total)")
            }
        }
    }
}

extension AdBreak {
    /// A break with ads of one second each.
    static func short(
        _ id: String,
        of stream: String = "radio1",
        start: AdBreak.Start = .in(.seconds(2)),
        ads: [String] = ["a", "b"],
        seconds: Int = 1
    ) -> AdBreak {
        AdBreak(
            stream: stream,
            id: id,
            start: start,
            duration: .seconds(seconds * ads.count),
            advertisements: ads.map { ad in
                AdvertisementDescription(
                    id: ad,
                    title: "Advertisement \(ad)",
                    duration: .seconds(seconds),
                    media: [.init(url: "https://media.example/\(ad).mp3", type: "audio/mpeg")]
                )
            }
        )
    }
}
