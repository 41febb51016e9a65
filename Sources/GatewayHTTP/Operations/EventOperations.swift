// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes
import HummingbirdCore

/// The operations that read events as they happen.
///
/// - Parameters:
///   - parts: the parts of the gateway that operations ask.
///   - feed: makes the events; `nil`: there are none.
/// - Returns: the operations for events and for their tickets; none without a feed.
func eventOperations(_ parts: HTTPParts, _ feed: EventFeed?) -> [Operation] {
    guard let feed else { return [] }
    let tickets = EventTickets()
    return [readEvents(parts, feed, tickets), makeTicket(parts, tickets)]
}

/// How often a reader's right to events is checked.
private let rightLookedAtEvery: Duration = .seconds(1)

private func readEvents(_ parts: HTTPParts, _ feed: EventFeed, _ tickets: EventTickets) -> Operation {
    Operation(
        .get,
        "/v1/events",
        id: "readEvents",
        tag: "Events",
        "Watch events as server-sent events for as long as the connection lasts.",
        details: """
            `gateway` comes once a second: listeners, rates, latencies, the ledger's lag, capacity, limits that were reached, and \
            alarms. `break` comes when a break has changed, begins or is over, and is the break as `getBreak` shows it. `counts` \
            comes at the beginning for each of `streams`, and again when it has changed, at most once a second: listeners, and the \
            outcomes of the running break; with each `gateway`, the last counts still hold. `resync` says that changes are \
            missing: load everything again. A reader that reconnects with the last id misses no event that is still kept.
            """,
        access: .ticket,
        parameters: [
            OperationParameter(
                "streams",
                in: .query,
                """
                Up to \(EventFeed.Settings.streamsPerReaderMax) streams with commas between them: counts of these, and their breaks only; \
                absent: no counts, and the breaks of all.
                """,
                // Each with its comma.
                Schema.text(charactersMax: EventFeed.Settings.streamsPerReaderMax * (WireLimits.streamIDBytesMax + 1)),
                example: "radio1,radio2"
            ),
            OperationParameter(
                "ticket",
                in: .query,
                "What `makeEventTicket` gave, where no header can be sent; good for one use.",
                Schema.text(charactersMax: ListenerLimits.eventIDCharactersMax),
                example: "00112233445566778899aabbccddeeff",
                isAlternative: true
            ),
            OperationParameter(
                "lastEventId",
                in: .query,
                "As the header Last-Event-ID, for a page that opens a new connection by itself.",
                Schema.text(charactersMax: ListenerLimits.eventIDCharactersMax),
                example: "18b6f3a2c4d5e6f7:12"
            ),
            OperationParameter(
                "Last-Event-ID",
                in: .header,
                "The id of the last event that was read.",
                Schema.text(charactersMax: ListenerLimits.eventIDCharactersMax),
                example: "18b6f3a2c4d5e6f7:12"
            ),
        ],
        answers: [
            OperationAnswer(
                "Events, until one side ends the connection.",
                OperationContent(
                    MediaType.events,
                    .inline(Schema.text("Server-sent events.")),
                    example: .string("id: 18b6f3a2c4d5e6f7:12\nevent: break\ndata: {…}\n\n")
                )
            )
        ]
    ) { call in
        var streams: Set<StreamID>?
        if let text = call.query["streams"] {
            let ids = text.split(separator: ",", omittingEmptySubsequences: false)
            guard ids.count <= EventFeed.Settings.streamsPerReaderMax else {
                throw Problem.badRequest(
                    "The parameter streams may name \(EventFeed.Settings.streamsPerReaderMax) streams at most."
                )
            }
            streams = []
            for id in ids {
                streams?.insert(try Problem.check { () throws(WireError) in try StreamID(String(id)) })
            }
        }
        let authorization: String?
        if let ticket = call.query["ticket"] {
            authorization = try call.take(ticket, of: tickets)
        } else {
            try await call.requireRead()
            authorization = call.header(.authorization)
        }
        // HEAD asks only whether there would be an answer: it begins nothing.
        guard call.request.method != .head else { return HTTPAnswer(type: MediaType.events, body: .bytes([])) }
        let last = call.header(.lastEventID) ?? call.query["lastEventId"]
        return HTTPAnswer(
            type: MediaType.events,
            body: .stream(.viewers) { [streams] writer in
                var cursor = feed.cursor(after: last)
                let reader = feed.enter(streams)
                defer { feed.leave(reader) }
                try await writer.write(feed.opening(cursor))
                var isLookedAt = ContinuousClock.now
                for await _ in reader.news {
                    // The right may have ended: it is looked at again before something is told, once a second at most.
                    if ContinuousClock.now - isLookedAt >= rightLookedAtEvery {
                        guard await call.mayStillRead(by: authorization) else { return }
                        isLookedAt = ContinuousClock.now
                    }
                    var hasMore = true
                    while hasMore {
                        let piece = feed.take(reader, &cursor)
                        hasMore = piece.hasMore
                        if !piece.bytes.isEmpty { try await writer.write(piece.bytes) }
                    }
                }
            },
            // Proxies that gather answers would hold events back.
            headers: [.accelBuffering: "no"]
        )
    }
}

private func makeTicket(_ parts: HTTPParts, _ tickets: EventTickets) -> Operation {
    Operation(
        .post,
        "/v1/event-tickets",
        id: "makeEventTicket",
        tag: "Events",
        "Get a ticket for events, for a page whose EventSource sends no header.",
        details: "It is good for one use within \(EventTickets.ticketLifetime.inSecondsText).",
        access: .read,
        answers: [
            OperationAnswer(
                "The ticket.",
                OperationContent(
                    EventTicketDocument.schema,
                    example: JSONValue(
                        encoding: EventTicketDocument(
                            ticket: "00112233445566778899aabbccddeeff",
                            expires: "2026-05-01T12:00:30.000000Z"
                        )
                    )
                )
            )
        ]
    ) { call in
        guard let ticket = tickets.make(for: call.header(.authorization), at: call.received) else {
            parts.metrics.count(.limitsHit, .limit(.httpEventTicketsMax))
            throw Problem(
                .reason(.limitReached),
                "The limit httpEventTicketsMax is \(EventTickets.ticketsMax) and is reached."
            )
        }
        return .json(EventTicketDocument(ticket: ticket.text, expires: ticket.expires.description))
    }
}

extension Duration {
    /// Whole seconds, for people.
    fileprivate var inSecondsText: String { "\(Int(self.inSeconds)) s" }
}
