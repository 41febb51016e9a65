// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments
import HTTPTypes
import HummingbirdCore
import TokenFormats

/// The operations for players that only fetch documents and call URLs.
///
/// They get the ads of a break in a form that they know, and report outcomes by tracking URLs.
///
/// They are listeners all the same: each document is a join and a batch of the wire, and what ends an ad is an acknowledgement.
func playerOperations(_ parts: HTTPParts) -> [Operation] {
    guard let listeners = parts.listeners else { return [] }
    let players = Players(
        listeners: listeners,
        board: parts.breaks.board,
        metrics: parts.metrics,
        memory: TrackingMemory(metrics: parts.metrics)
    )
    return [
        assetList(players), vast(players), track(.get, "track", players), track(.post, "trackByPost", players),
    ]
}

// MARK: - Operations

private func assetList(_ players: Players) -> Operation {
    Operation(
        .get,
        "/v1/streams/{stream}/asset-list",
        id: "getAssetList",
        tag: "Players",
        "Get the ads of a break as the asset list of an HLS interstitial.",
        details: """
            For `X-ASSET-LIST` of an interstitial (RFC 8216bis, appendix D.2). The list begins where the break does: where playback starts further on, \
            `_HLS_start_offset` says so, and what is over there stands in the list without signaling. `X-AD-CREATIVE-SIGNALING` has what is to be called \
            (SVTA 2053-2). Without a break to play the list is empty.
            """,
        access: .listener,
        parameters: playerParameters,
        takesOtherParameters: true,
        answers: [
            OperationAnswer(
                "The ads.",
                OperationContent(AssetListDocument.schema, example: JSONValue(encoding: AssetListDocument.example))
            )
        ],
        refusals: ListenerCodes.joins + ListenerCodes.batches
    ) { call in
        guard call.request.method != .head else { return .json(AssetListDocument(assets: [])) }
        let served = try await players.serve(call, startingAt: try call.startOffset(), otherwise: .theBeginning)
        return .json(try AssetListDocument(served, withThoseBefore: true))
    }
}

private func vast(_ players: Players) -> Operation {
    Operation(
        .get,
        "/v1/streams/{stream}/vast",
        id: "getVAST",
        tag: "Players",
        "Get the ads of a break as a VAST document.",
        details: """
            Version 4.2, ads in line as a pod. What is over at the player's place is not in it: it is at `_HLS_start_offset` in the break, or as far behind live as \
            `delayMs` says. Without a break to play there is no ad in the document.
            """,
        access: .listener,
        parameters: playerParameters,
        takesOtherParameters: true,
        answers: [
            OperationAnswer(
                "The ads.",
                OperationContent(
                    MediaType.vast,
                    .inline(Schema.text("VAST 4.2.")),
                    example: .string("<VAST xmlns=\"http://www.iab.com/VAST\" version=\"4.2\"/>")
                )
            )
        ],
        refusals: ListenerCodes.joins + ListenerCodes.batches
    ) { call in
        guard call.request.method != .head else { return HTTPAnswer(type: MediaType.vast, body: .bytes([])) }
        let served = try await players.serve(call, startingAt: try call.startOffset(), otherwise: .live)
        let document = try served?.vast() ?? PlayerBreak.noVAST
        return HTTPAnswer(type: MediaType.vast, body: .bytes(document))
    }
}

private func track(_ method: HTTPRequest.Method, _ id: String, _ players: Players) -> Operation {
    Operation(
        method,
        "/v1/streams/{stream}/breaks/{break}/track/{tracking}",
        id: id,
        tag: "Players",
        "Say what happens to an ad, by a URL that an asset list or a VAST document has.",
        details: """
            The URL is the right: it is signed for one event of one ad of one session, as long as outcomes of its break are taken. `complete` (played), `skip` \
            (ignored) and `error` (failed) end the ad and are answered when they are recorded durably; the others only measure. Calling one again changes nothing.
            """,
        access: .listener,
        parameters: [
            .streamInPath, .breakInPath,
            OperationParameter(
                "tracking",
                in: .path,
                "What is told, signed.",
                ["type": "string", "pattern": .string("^[A-Za-z0-9_-]{\(TrackingText.characters)}$")],
                example: .string(String(repeating: "A", count: TrackingText.characters))
            ),
            OperationParameter(
                "code",
                in: .query,
                "The error code of VAST that a player puts in the place of `[ERRORCODE]`; what is no such code counts as 900.",
                ["type": "string"],
                example: "401",
                isLenient: true
            ),
        ],
        takesOtherParameters: true,
        answers: [OperationAnswer(.noContent, "It is taken.")],
        refusals: ListenerCodes.acknowledgements
    ) { call in
        // HEAD asks only whether there would be an answer: it reports nothing.
        if call.request.method != .head { try await players.track(call) }
        return .nothing
    }
}

/// The parameters of both documents.
private let playerParameters: [OperationParameter] = [
    .streamInPath,
    OperationParameter(
        "break",
        in: .query,
        "Which break; absent: the one that runs, or else the next that is announced.",
        Schema.breakID,
        example: "noon-1"
    ),
    OperationParameter(
        "_HLS_primary_id",
        in: .query,
        "The player's name for its playback, which players of HLS add: the same name on the same stream is the same listener.",
        ["type": "string", "minLength": 1, "maxLength": .integer(Int64(PlayerLimits.primaryIDBytesMax))],
        example: "6F0C6C2E-8D3A-4C0B-9B54-0C7B4F3C1D11"
    ),
    OperationParameter(
        "session",
        in: .query,
        "Who listens, as for `listen`; it goes before `_HLS_primary_id`. Without both the gateway makes one, and each request is another listener.",
        Schema.session,
        example: "00112233445566778899aabbccddeeff",
        isAlternative: true
    ),
    OperationParameter(
        "_HLS_start_offset",
        in: .query,
        "Where in the break playback starts, in seconds.",
        ["type": "string", "pattern": "^[0-9]{1,5}([.][0-9]{1,20})?$"],
        example: "12.5"
    ),
    OperationParameter(
        "delayMs",
        in: .query,
        "How far behind live the stream is heard.",
        Schema.integer(0...Int(WireLimits.delayMillisecondsMax)),
        example: 0
    ),
]

/// The bounds of what players send.
enum PlayerLimits {
    /// The longest name of a playback, in bytes.
    static let primaryIDBytesMax = 256
    /// The furthest that playback starts in a break, in seconds: the longest break.
    static let startOffsetSecondsMax = Int(WireLimits.breakDurationMillisecondsMax / 1_000)
    /// The most characters of that number.
    static let startOffsetCharactersMax = 32
}

/// A token of a tracking URL, as it stands in it.
struct TrackingText {
    /// How long it is.
    static let characters = (TrackingToken.byteCount * 8 + 5) / 6

    let text: String

    init(_ token: TrackingToken) {
        self.text = Base64URL.encode(token.bytes)
    }
}

// MARK: - What is done

/// Serves players that only fetch and call.
private struct Players: Sendable {
    /// A running break of which nothing can be played any more, and the next: more are not looked at.
    private static let candidatesMax = 3
    /// How long before its start a player is taken to be that begins at the start: longer than it takes to ask.
    private static let startSlack: Duration = .seconds(5)

    /// Where a player begins that does not say where in the break.
    enum Beginning {
        /// Where it is by its delay.
        case live
        /// At the break's beginning, however late by the clock; live where the break was ended before its time.
        case theBeginning
    }

    let listeners: ListenerEntrance
    let board: @Sendable () -> Board
    let metrics: MetricRegistry
    let memory: TrackingMemory

    /// Joins, and asks for the batch of the break that a player is to get.
    ///
    /// - Parameters:
    ///   - call: its request.
    ///   - offset: where in the break playback starts; `nil`: the player does not say.
    ///   - beginning: where it begins then.
    /// - Returns: the ads; `nil`: there are none to play.
    /// - Throws: the refusal.
    func serve(
        _ call: OperationCall,
        startingAt offset: Duration?,
        otherwise beginning: Beginning
    ) async throws -> PlayerBreak? {
        let stream = try call.stream()
        let named = try call.query.breakID()
        let delay = try call.delay().now
        let gateway = try call.gatewayURL()
        let session = try call.session(self.listeners.keys)
        let joined: ListenerReply.Joined
        do throws(Refusal) {
            let join = ListenerRequest.Join(stream: stream, instance: 0, token: call.bearerToken, client: "http")
            joined = try await self.listeners.join(join, of: session, from: call.address)
        } catch {
            throw Problem(error)
        }
        let now = self.listeners.gatewayTime
        let board = self.board()
        let keys =
            named.map { [BreakKey(stream: stream, id: $0)] } ?? board.stream(stream)?
            .playable(after: now - delay, most: Self.candidatesMax).map(\.key) ?? []
        for key in keys {
            let record = board[key]?.record
            let isEnded = record?.ended.map { $0 <= now } ?? false
            let place = offset ?? (beginning == .theBeginning && !isEnded ? .zero : nil)
            let behind = place.map { Self.delay(to: $0, after: record?.start, at: now) } ?? delay
            let reply = await self.listeners.ask(
                .getBatch(.init(key: key, delay: ListenerDelay(now: behind))),
                of: session,
                ticket: joined.ticket,
                from: call.address
            )
            switch reply.body {
            case .batch(let batch):
                guard let delivery = try? DeliveryToken(bytes: batch.delivery) else { throw Problem.unexpected }
                let each = self.board()[key]
                let known = each?.record.list(of: delivery.variant) ?? []
                let heard = each?.heardFromTheBeginning(of: known) ?? 0..<0
                return PlayerBreak(
                    key: key,
                    over: Array(known.prefix(batch.skipped).dropFirst(heard.lowerBound)),
                    first: batch.skipped,
                    advertisements: Array(batch.advertisements.prefix(max(0, heard.upperBound - batch.skipped))),
                    delivery: delivery,
                    keys: self.listeners.keys,
                    gateway: gateway
                )
            // Its time is over, or it was called off since: that is no fault of a player's.
            case .refused(let refusal) where refusal.status == .tooLate: continue
            case .refused(let refusal): throw Problem(refusal)
            default: throw Problem.unexpected
            }
        }
        return nil
    }

    /// How far behind live a player is that is so far in a break.
    private static func delay(to offset: Duration, after start: Timestamp?, at now: Timestamp) -> Duration {
        guard let start else { return .zero }
        // Before the start everything can be played; at the start exactly it is a matter of microseconds.
        let place = offset == .zero ? start - Self.startSlack : start + offset
        return min(max(now - place, .zero), .milliseconds(WireLimits.delayMillisecondsMax))
    }

    /// Takes what a tracking URL tells.
    ///
    /// - Throws: why it is not taken.
    func track(_ call: OperationCall) async throws {
        let key = try call.breakKey()
        let token = try self.token(of: call, for: key)
        let now = self.listeners.gatewayTime
        let known = TrackingMemory.Key(token)
        guard token.kind.endsAdvertisement else {
            try self.admit(call)
            if self.memory.note(known, at: now) { self.metrics.count(.trackings, token.kind.metricLabel) }
            return
        }
        let advertisements = self.board()[key]?.record.list(of: token.delivery.variant) ?? []
        guard advertisements.indices.contains(Int(token.ordinal)) else { throw self.refused(.malformed) }
        let advertisement = advertisements[Int(token.ordinal)]
        // A durable outcome is not submitted again: each repeat of a contradiction would be counted.
        guard await self.memory.begin(known) else { return try self.admit(call) }
        var isDurable = false
        defer { self.memory.finish(known, isDurable: isDurable, at: now) }
        let outcome = token.outcome(of: advertisement, at: now, code: call.query["code"])
        let reply = await self.listeners.ask(
            .acknowledge(.init(key: key, delivery: token.delivery.bytes, outcomes: [outcome])),
            of: token.delivery.session,
            ticket: self.ticket(of: token, on: key.stream, at: now),
            from: call.address
        )
        guard case .acknowledged = reply.body else {
            guard case .refused(let refusal) = reply.body else { throw Problem.unexpected }
            throw Problem(refusal)
        }
        isDurable = true
        self.metrics.count(.trackings, token.kind.metricLabel)
    }

    /// Counts a call, which no listeners' desk handles, against the limits of its address.
    private func admit(_ call: OperationCall) throws(Problem) {
        do throws(Refusal) {
            try self.listeners.admit(from: call.address)
        } catch {
            throw Problem(error)
        }
    }

    /// Reads what a URL holds, and finds whether this gateway made it, for this break, and whether it is still taken.
    private func token(of call: OperationCall, for key: BreakKey) throws(Problem) -> TrackingToken {
        let text = call.path["tracking"] ?? ""
        guard text.utf8.count == TrackingText.characters, let bytes = Base64URL.decode(text.utf8),
            let token = TrackingToken(bytes: bytes)
        else { throw self.refused(.malformed) }
        if let fault = self.listeners.keys.fault(of: token) { throw self.refused(fault.metricLabel) }
        let board = self.board()
        guard let each = board[key], each.announced != nil else {
            // Signed here, and for a break of another name, or one that is not kept.
            guard board.isRetired(key) else { throw self.refused(.otherBreak) }
            throw Problem(.reason(.breakTooOld), "The break \(key.id) is older than the gateway keeps.")
        }
        guard each.number == token.delivery.breakNumber else { throw self.refused(.otherBreak) }
        guard board.retentionTime <= each.over + BoardLimits.acknowledgeWithin else {
            throw Problem(.reason(.breakTooOld), "The break \(key.id) ended more than 8 days ago.")
        }
        return token
    }

    private func refused(_ reason: MetricLabel) -> Problem {
        self.metrics.count(.trackingsRefused, reason)
        return Problem(.reason(.deliveryInvalid), "The tracking URL is not one that a gateway made for this break.")
    }

    /// A ticket for the session in a tracking URL: the signed URL proves the right.
    private func ticket(of token: TrackingToken, on stream: StreamID, at now: Timestamp) -> [UInt8] {
        let ticket = SessionTicket(
            session: token.delivery.session,
            stream: stream,
            fetchUntil: Timestamp(microseconds: 0),
            acknowledgeUntil: now + OutcomeTime.toleranceMax
        )
        return self.listeners.keys.ticket(ticket) ?? []
    }
}

extension TrackingToken {
    /// The outcome that it reports of its advertisement.
    ///
    /// - Parameters:
    ///   - advertisement: of its break.
    ///   - time: when it was told first.
    ///   - code: the player's value for `[ERRORCODE]`.
    /// - Returns: the outcome.
    fileprivate func outcome(of advertisement: AdvertisementContent, at time: Timestamp, code: String?) -> Outcome {
        switch self.kind {
        case .skip:
            Outcome(
                advertisementID: advertisement.id,
                kind: .ignored,
                evidence: .reported,
                reason: .user,
                occurred: time
            )
        case .error:
            Outcome(
                advertisementID: advertisement.id,
                kind: .failed,
                evidence: .reported,
                vastError: Self.errorCode(code),
                occurred: time
            )
        default:
            Outcome(
                advertisementID: advertisement.id,
                kind: .played,
                evidence: .reported,
                heard: advertisement.duration,
                quartiles: 4,
                occurred: time
            )
        }
    }

    /// A code of VAST (4.3 section 2.3.6.3); 900, which says no more than that something was wrong, for what is none.
    private static func errorCode(_ text: String?) -> UInt32 {
        guard let text, text.utf8.count == 3, let code = UInt32(text), (100...999).contains(code) else { return 900 }
        return code
    }
}

extension MessageKeys.Fault {
    fileprivate var metricLabel: MetricLabel {
        switch self {
        case .unknownKey: .unknownKey
        case .revokedKey: .revokedKey
        case .forged: .forged
        }
    }
}

// MARK: - What a call says

extension OperationCall {
    /// The session that listens.
    fileprivate func session(_ keys: MessageKeys) throws(Problem) -> SessionID {
        if let text = self.query["session"] { return try SessionID(hexadecimal: text) }
        guard let name = self.query["_HLS_primary_id"] else { return .random() }
        guard name.utf8.count <= PlayerLimits.primaryIDBytesMax else {
            throw .badRequest("The limit primaryIDBytesMax is \(PlayerLimits.primaryIDBytesMax).")
        }
        return keys.session(of: name, on: try self.stream())
    }

    /// Where in the break playback starts; `nil`: nothing is said.
    fileprivate func startOffset() throws(Problem) -> Duration? {
        guard let text = self.query["_HLS_start_offset"] else { return nil }
        // As scripts write numbers, small ones with an exponent.
        guard text.utf8.count <= PlayerLimits.startOffsetCharactersMax,
            text.utf8.allSatisfy("0123456789.eE+-".utf8.contains),
            let seconds = Double(text), seconds >= 0
        else { throw .badRequest("The parameter _HLS_start_offset must be a number of seconds.") }
        guard seconds <= Double(PlayerLimits.startOffsetSecondsMax) else {
            throw .badRequest("The limit startOffsetSecondsMax is \(PlayerLimits.startOffsetSecondsMax).")
        }
        return .microseconds(Int64(seconds * 1_000_000))
    }

    /// The gateway's URL as the caller sees it, for tracking URLs.
    ///
    /// A front that speaks TLS says so (`ForwardedScheme`). A wrong header gives its sender URLs that do not work.
    fileprivate func gatewayURL() throws(Problem) -> String {
        // The field is a host's name or address and a port, or the request was refused before.
        guard let authority = self.request.head.authority, !authority.isEmpty else {
            throw .badRequest("This needs the header Host, to which tracking URLs lead.")
        }
        let isEncrypted = self.isEncrypted || ForwardedScheme.isEncrypted(self.request.headers)
        return "\(isEncrypted ? "https" : "http")://\(authority)"
    }
}
