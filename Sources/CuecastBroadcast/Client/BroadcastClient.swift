// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
public import Logging

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A broadcaster's connection to its gateway: publishes breaks and says what becomes of them.
///
/// ```swift
/// let client = BroadcastClient(
///     configuration: BroadcastConfiguration(endpoint: "tcp://127.0.0.1:7402"),
///     transport: BroadcastZeroMQTransport())
/// let status = try await client.publish(noon)
/// print(status.state, status.start)
/// client.close()
/// ```
///
/// Every method may be called from any task, many at a time; each returns once the gateway has answered, which for a change
/// means that the change is durable. When no reply comes, the connection breaks, or the gateway is stopping or short of
/// something, the request is sent again after a random wait, until ``BroadcastConfiguration/timeout`` is over. That is safe:
/// the gateway knows the same request when it sees it again. The exceptions are updates and signals with a start that counts from
/// their receipt; once sent, they are not sent again by themselves.
///
/// The connection is made with the first request, and again when it was lost.
public final class BroadcastClient: Sendable {
    /// The most breaks that ``breaks(stream:breakID:)`` returns.
    public static let listedBreaksMax = 100_000

    /// The trace that requests of this task belong to, as the header `traceparent` has it
    /// ([W3C Trace Context](https://www.w3.org/TR/trace-context/#traceparent-header)); `nil`: none.
    ///
    /// A gateway that traces follows it to the notice. What is not written as the standard says is passed over, and the request is done as
    /// without it.
    ///
    /// ```swift
    /// try await BroadcastClient.$traceparent.withValue("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01") {
    ///     _ = try await client.publish(noon)
    /// }
    /// ```
    @TaskLocal public static var traceparent: String?

    /// The longest patience that can be asked for.
    private static let timeoutMax: Duration = .seconds(86_400)

    private let configuration: BroadcastConfiguration
    private let channel: RequestChannel
    private let logger: Logger

    /// A client; it connects with the first request.
    ///
    /// - Parameters:
    ///   - configuration: where the gateway is and how patient to be.
    ///   - transport: how to reach it.
    ///   - logger: is told about attempts that failed.
    public init(
        configuration: BroadcastConfiguration,
        transport: any BroadcastTransport,
        logger: Logger = Logger(label: "cuecast.broadcast")
    ) {
        self.configuration = configuration
        self.channel = RequestChannel(endpoint: configuration.endpoint, transport: transport)
        self.logger = logger
    }

    /// Publishes a break.
    ///
    /// The same break again, with the same content, is the same break: the answer is its status, and listeners are not
    /// told twice.
    ///
    /// - Parameters:
    ///   - adBreak: the break.
    ///   - expectedRevision: changes nothing unless the break has this ``BreakStatus/revision``, or is as asked for already; 0: unless it
    ///     is not there yet; nil: whatever it has.
    /// - Returns: The break as it stands.
    /// - Throws: ``BroadcastError``, for instance ``BroadcastError/refused(_:)`` with
    ///   ``BroadcastRefusal/Status/conflict`` when the break exists with other content.
    public func publish(
        _ adBreak: AdBreak,
        expectedRevision: UInt64? = nil
    ) async throws(BroadcastError) -> BreakStatus {
        try await self.change(.publish(try adBreak.wire), expectedRevision)
    }

    /// Gives a cued break its start.
    ///
    /// - Parameters:
    ///   - stream: the stream's id.
    ///   - breakID: the break's id.
    ///   - start: when it starts; nil: after the gateway's usual lead (2 s).
    ///   - expectedRevision: changes nothing unless the break has this ``BreakStatus/revision``, or is as asked for already; nil: whatever
    ///     it has.
    /// - Returns: The break as it stands.
    /// - Throws: ``BroadcastError``.
    @discardableResult
    public func punch(
        stream: String,
        breakID: String,
        start: BreakMoment? = nil,
        expectedRevision: UInt64? = nil
    ) async throws(BroadcastError) -> BreakStatus {
        let key = try BreakKey(stream: stream, breakID: breakID)
        return try await self.change(.punch(BroadcastRequest.Punch(key: key, start: try start?.wire)), expectedRevision)
    }

    /// Changes a break.
    ///
    /// Its start can change until it starts, its ads until it is announced, its duration until it is over.
    ///
    /// - Parameters:
    ///   - stream: the stream's id.
    ///   - breakID: the break's id.
    ///   - change: the change.
    ///   - expectedRevision: changes nothing unless the break has this ``BreakStatus/revision``, or is as asked for already; nil: whatever
    ///     it has.
    /// - Returns: The break as it stands.
    /// - Throws: ``BroadcastError``.
    @discardableResult
    public func update(
        stream: String,
        breakID: String,
        _ change: BreakChange,
        expectedRevision: UInt64? = nil
    ) async throws(BroadcastError) -> BreakStatus {
        var update = BroadcastRequest.Update(
            key: try BreakKey(stream: stream, breakID: breakID),
            start: try change.start?.wire
        )
        if let duration = change.duration { update.duration = try wireDuration(duration, field: "duration") }
        if let advertisements = change.advertisements {
            var contents: [AdvertisementContent] = []
            for each in advertisements { contents.append(try each.wire) }
            update.advertisements = contents
        }
        if let variants = change.variants {
            var contents: [AudienceVariant] = []
            for each in variants { contents.append(try each.wire) }
            update.variants = contents
        }
        return try await self.change(.update(update), expectedRevision)
    }

    /// Moves the start of a break that has not started to later.
    ///
    /// To ask again does no harm: a break that has been moved already stays where it is.
    ///
    /// - Parameters:
    ///   - stream: the stream's id.
    ///   - breakID: the break's id.
    ///   - delay: by how much; whole milliseconds above zero.
    ///   - start: the start that it has now, as ``BreakStatus/start`` tells; nil: it is asked for first.
    ///   - expectedRevision: changes nothing unless the break has this ``BreakStatus/revision``, or is as asked for already; nil: whatever
    ///     it has.
    /// - Returns: The break as it stands.
    /// - Throws: ``BroadcastError``, for instance ``BroadcastError/refused(_:)`` with ``BroadcastRefusal/Status/conflict`` where it
    ///   starts at another time than `start`.
    @discardableResult
    public func postpone(
        stream: String,
        breakID: String,
        by delay: Duration,
        from start: Date? = nil,
        expectedRevision: UInt64? = nil
    ) async throws(BroadcastError) -> BreakStatus {
        var postpone = BroadcastRequest.Postpone(
            key: try BreakKey(stream: stream, breakID: breakID),
            by: try wireDuration(delay, field: "delay")
        )
        if let start {
            postpone.from = try Timestamp(start, field: "start")
        } else {
            let list = BroadcastRequest.List(stream: postpone.key.stream, id: postpone.key.id)
            guard case .list(let infos, _) = try await self.reply(to: .list(list)).body else { throw .otherBody }
            // Where there is no such break, or it has no start, the gateway's own sentence says so.
            postpone.from = infos.first?.start ?? Timestamp(microseconds: 0)
        }
        return try await self.change(.postpone(postpone), expectedRevision)
    }

    /// Ends a break that plays, early or because it has no duration.
    ///
    /// - Parameters:
    ///   - stream: the stream's id.
    ///   - breakID: the break's id.
    ///   - endMode: the effect on the playing ad; nil: as the break was published.
    ///   - moment: the position of the programme at which it ends; nil: now.
    ///   - expectedRevision: changes nothing unless the break has this ``BreakStatus/revision``, or is as asked for already; nil: whatever
    ///     it has.
    /// - Returns: The break as it stands.
    /// - Throws: ``BroadcastError``.
    @discardableResult
    public func end(
        stream: String,
        breakID: String,
        endMode: AdBreak.EndMode? = nil,
        at moment: Date? = nil,
        expectedRevision: UInt64? = nil
    ) async throws(BroadcastError) -> BreakStatus {
        let key = try BreakKey(stream: stream, breakID: breakID)
        var at: Timestamp?
        if let moment { at = try Timestamp(moment, field: "end") }
        return try await self.change(
            .end(BroadcastRequest.End(key: key, endMode: endMode?.wire, at: at)),
            expectedRevision
        )
    }

    /// Calls a break off.
    ///
    /// - Parameters:
    ///   - stream: the stream's id.
    ///   - breakID: the break's id.
    ///   - expectedRevision: changes nothing unless the break has this ``BreakStatus/revision``, or is as asked for already; nil: whatever
    ///     it has.
    /// - Returns: The break as it stands.
    /// - Throws: ``BroadcastError``.
    @discardableResult
    public func cancel(
        stream: String,
        breakID: String,
        expectedRevision: UInt64? = nil
    ) async throws(BroadcastError) -> BreakStatus {
        try await self.change(.cancel(try BreakKey(stream: stream, breakID: breakID)), expectedRevision)
    }

    /// The breaks that the gateway keeps, by stream, in the order in which they were published.
    ///
    /// All pages are fetched, one after the other; breaks that are published meanwhile may be in it or not.
    ///
    /// - Parameters:
    ///   - stream: only breaks of this stream.
    ///   - breakID: only breaks of this name.
    /// - Returns: The breaks.
    /// - Throws: ``BroadcastError``; ``BroadcastError/tooLarge(limit:maximum:found:)`` when there are more than
    ///   ``listedBreaksMax``.
    public func breaks(
        stream: String? = nil,
        breakID: String? = nil
    ) async throws(BroadcastError) -> [BreakStatus] {
        var list = BroadcastRequest.List()
        do throws(WireError) {
            list.stream = if let stream { try StreamID(stream) } else { nil }
            list.id = if let breakID { try BreakID(breakID) } else { nil }
        } catch {
            throw BroadcastError(error)
        }
        var all: [BreakStatus] = []
        while true {
            let reply = try await self.reply(to: .list(list))
            guard case .list(let infos, let after) = reply.body else { throw .otherBody }
            all += infos.map { BreakStatus($0, at: reply.gatewayTime) }
            if after.isEmpty { return all }
            // A page may hold nothing of what is asked for; but it must lead on.
            guard after != list.after else { throw .unreadableReply(reason: "a page leads to itself.") }
            guard all.count < Self.listedBreaksMax else {
                throw .tooLarge(limit: "listedBreaksMax", maximum: Self.listedBreaksMax, found: all.count + 1)
            }
            list.after = after
        }
    }

    /// Closes the connection; what is under way ends with ``BroadcastError/closed``.
    public func close() {
        self.channel.close()
    }
}

extension BroadcastClient {
    func change(
        _ kind: BroadcastRequest.Kind,
        _ expectedRevision: UInt64?
    ) async throws(BroadcastError) -> BreakStatus {
        let reply = try await self.reply(to: kind, expectedRevision: expectedRevision)
        guard case .break(let info) = reply.body else { throw .otherBody }
        return BreakStatus(info, at: reply.gatewayTime)
    }

    /// Asks until there is an answer that stands, or the time is over.
    func reply(
        to kind: BroadcastRequest.Kind,
        expectedRevision: UInt64? = nil
    ) async throws(BroadcastError) -> BroadcastReply {
        let id = self.channel.nextID()
        let frame = try RequestEncoder.frame(
            id: id,
            token: self.configuration.token,
            expectedRevision: expectedRevision,
            traceparent: Self.traceparent ?? "",
            kind
        )
        let timeout = min(max(.zero, self.configuration.timeout), Self.timeoutMax)
        let attemptTimeout = min(max(.zero, self.configuration.attemptTimeout), timeout)
        let deadline = ContinuousClock.now + timeout
        var delays = RetryDelays(
            first: self.configuration.retryDelayFirst,
            longest: self.configuration.retryDelayMax
        )
        var generator = SystemRandomNumberGenerator()
        /// Why the last connection was lost or not made.
        var reason: String?
        /// Whether the connection that there is took an earlier attempt.
        var isWaitedFor = false
        while true {
            let outcome = await self.channel.attempt(id, frame, until: min(.now + attemptTimeout, deadline))
            let failure: AttemptFailure
            switch outcome {
            case .replied(let reply):
                guard case .refused(let refusal) = reply.body else { return reply }
                failure = AttemptFailure(refusal, of: id, isRepeatable: kind.isRepeatable)
            case .timedOut(let wasSent):
                isWaitedFor = isWaitedFor || wasSent
                failure = AttemptFailure(
                    // The last attempt may be too short to find out again what an earlier one did.
                    error: isWaitedFor
                        ? .timedOut(after: kind.isRepeatable ? timeout : attemptTimeout)
                        : .unreachable(reason: reason ?? "no connection was made in time"),
                    mayRepeat: !wasSent || kind.isRepeatable
                )
            case .disconnected(let why, let wasSent):
                reason = why
                isWaitedFor = false
                failure = AttemptFailure(
                    error: .unreachable(reason: why),
                    mayRepeat: !wasSent || kind.isRepeatable
                )
            case .refused(let reason):
                throw .refused(BroadcastRefusal(status: .notAllowed, sentence: "The gateway refuses: \(reason)."))
            case .unreadable(let sentence): throw .unreadableReply(reason: sentence)
            case .cancelled: throw .cancelled
            case .closed: throw .closed
            }
            let wait = delays.next(atLeast: failure.waitLeast, using: &generator)
            guard failure.mayRepeat, .now + wait < deadline else { throw failure.error }
            self.logger.debug("asking the gateway again", metadata: ["after": "\(failure.error)"])
            do {
                try await Task.sleep(for: wait, tolerance: .zero)
            } catch {
                throw .cancelled
            }
        }
    }
}

/// Why an attempt failed, and whether there may be another.
private struct AttemptFailure {
    let error: BroadcastError
    let mayRepeat: Bool
    var waitLeast: Duration = .zero

    init(error: BroadcastError, mayRepeat: Bool) {
        self.error = error
        self.mayRepeat = mayRepeat
    }

    /// A limit that is reached does not go away by itself soon; `UNAVAILABLE` may mean that the log failed in a way that
    /// leaves open what it recorded.
    init(_ refusal: Refusal, of id: UInt64, isRepeatable: Bool) {
        var told = BroadcastRefusal(refusal)
        told.requestID = id
        self.error = .refused(told)
        self.waitLeast = refusal.retryAfter
        switch refusal.status {
        case .draining, .rateLimited: self.mayRepeat = true
        case .unavailable: self.mayRepeat = isRepeatable
        default: self.mayRepeat = false
        }
    }
}

extension BroadcastError {
    static let otherBody = BroadcastError.unreadableReply(reason: "it answers another request.")
}

extension BroadcastRequest.Kind {
    /// Whether asking a second time leads to the same as asking once.
    ///
    /// A new start that counts from receipt would move the break again.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .publish, .punch, .end, .cancel, .list, .postpone, .putList, .removeList, .lists, .watchReport:
            return true
        case .update(let update):
            switch update.start {
            case nil, .at: return true
            case .after, .now: return false
            }
        case .signal(let signal):
            // A signal "now" means the break that runs by then.
            if case .after? = signal.start { return false }
            return true
        }
    }
}
