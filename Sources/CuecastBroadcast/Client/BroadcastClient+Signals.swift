// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

extension BroadcastClient {
    /// Tells the gateway what the programme of a stream does.
    ///
    /// The same signal again changes nothing. One whose start counts from its receipt is not sent again by itself.
    ///
    /// - Parameter signal: the signal.
    /// - Returns: The break that it is about, as it stands.
    /// - Throws: ``BroadcastError``, for instance ``BroadcastError/refused(_:)`` with ``BroadcastRefusal/Status/notFound`` where the stream
    ///   has no cue policy, or no break has the event.
    @discardableResult
    public func signal(_ signal: ProgrammeSignal) async throws(BroadcastError) -> BreakStatus {
        try await self.change(.signal(try signal.wire), nil)
    }

    /// Keeps a named list of ads for breaks that are signalled, or replaces it.
    ///
    /// - Parameters:
    ///   - name: of the list: 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-'.
    ///   - advertisements: its ads, in their order.
    ///   - expectedRevision: changes nothing unless the list has this ``AdListStatus/revision``, or is as asked for already; 0: unless it
    ///     is not there yet; nil: whatever it has.
    /// - Returns: The list as it stands.
    /// - Throws: ``BroadcastError``.
    @discardableResult
    public func putList(
        name: String,
        advertisements: [AdvertisementDescription],
        expectedRevision: UInt64? = nil
    ) async throws(BroadcastError) -> AdListStatus {
        var contents: [AdvertisementContent] = []
        for each in advertisements { contents.append(try each.wire) }
        let put = BroadcastRequest.PutList(name: try AdListName(asked: name), advertisements: contents)
        return try await self.list(.putList(put), expectedRevision).status
    }

    /// Removes a list; the gateway refuses it while its cue policy names the list.
    ///
    /// - Parameters:
    ///   - name: of the list.
    ///   - expectedRevision: changes nothing unless the list has this ``AdListStatus/revision``; nil: whatever it has.
    /// - Returns: The list as it was.
    /// - Throws: ``BroadcastError``.
    @discardableResult
    public func removeList(name: String, expectedRevision: UInt64? = nil) async throws(BroadcastError) -> AdListStatus {
        try await self.list(.removeList(try AdListName(asked: name)), expectedRevision).status
    }

    /// A list with its ads.
    ///
    /// - Parameter name: of the list.
    /// - Returns: The list, and its ads in their order.
    /// - Throws: ``BroadcastError``.
    public func list(
        name: String
    ) async throws(BroadcastError) -> (status: AdListStatus, advertisements: [AdvertisementDescription]) {
        try await self.list(.lists(try AdListName(asked: name)), nil)
    }

    /// The lists that the gateway keeps, in the order of their names.
    ///
    /// - Returns: The lists.
    /// - Throws: ``BroadcastError``.
    public func lists() async throws(BroadcastError) -> [AdListStatus] {
        guard case .adLists(let infos) = try await self.reply(to: .lists(nil)).body else { throw .otherBody }
        return infos.map { AdListStatus($0) }
    }

    /// Reports what a watcher saw.
    ///
    /// - Parameter report: the report.
    /// - Returns: The cue rule of the stream.
    /// - Throws: ``BroadcastError``; ``BroadcastRefusal/Status/unsupported`` of a gateway that knows no reports.
    package func report(_ report: BroadcastRequest.WatchReport) async throws(BroadcastError) -> CueRule {
        guard case .cueRule(let rule) = try await self.reply(to: .watchReport(report)).body else { throw .otherBody }
        return rule
    }

    private func list(
        _ kind: BroadcastRequest.Kind,
        _ expectedRevision: UInt64?
    ) async throws(BroadcastError) -> (status: AdListStatus, advertisements: [AdvertisementDescription]) {
        let reply = try await self.reply(to: kind, expectedRevision: expectedRevision)
        guard case .adList(let info, let contents) = reply.body else { throw .otherBody }
        return (AdListStatus(info), contents.map { AdvertisementDescription($0) })
    }
}

extension AdListName {
    fileprivate init(asked name: String) throws(BroadcastError) {
        do throws(WireError) {
            self = try AdListName(name)
        } catch {
            throw BroadcastError(error)
        }
    }
}

extension ProgrammeSignal {
    fileprivate var wire: BroadcastRequest.Signal {
        get throws(BroadcastError) {
            let (stream, name): (StreamID, SignalName)
            do throws(WireError) {
                stream = try StreamID(self.stream)
                name = SignalName(source: try SignalSource(self.source), event: try SignalEventID(self.eventID))
            } catch {
                throw BroadcastError(error)
            }
            var signal = BroadcastRequest.Signal(
                stream: stream,
                name: name,
                kind: self.kind.wire,
                start: try self.start?.wire,
                isProgrammeTime: self.isProgrammeTime,
                raw: self.raw
            )
            if let duration = self.duration { signal.duration = try wireDuration(duration, field: "duration") }
            return signal
        }
    }
}

extension ProgrammeSignal.Kind {
    fileprivate var wire: SignalKind {
        switch self {
        case .out: .out
        case .in: .in
        case .cancel: .cancel
        }
    }
}
