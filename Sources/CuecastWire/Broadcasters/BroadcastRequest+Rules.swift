// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

extension BroadcastRequest {
    /// The request as it is kept, where the rules of the wire allow it: for requests that do not come as a frame.
    ///
    /// It is what reading `encoded()` gives, without encoding: URLs are percent-encoded, times are cut to whole milliseconds, and
    /// what no frame could hold is refused.
    ///
    /// - Throws: the first rule that it breaks.
    package func checked() throws(WireError) -> BroadcastRequest {
        try requireAtMost(
            WireLimits.broadcastFrameBytesMax,
            self.encodedByteCount,
            limit: "broadcastFrameBytesMax"
        )
        let makes: Bool
        switch self.kind {
        case .publish, .putList: makes = true
        case .punch, .update, .end, .cancel, .list, .postpone, .signal, .removeList, .lists, .watchReport:
            makes = false
        }
        try Self.check(token: self.token, expectedRevision: self.expectedRevision, ofPublication: makes)
        var request = self
        request.kind = try self.kind.checked(expectedRevision: self.expectedRevision)
        return request
    }

    /// Looks at what all requests have.
    static func check(token: String, expectedRevision: UInt64?, ofPublication: Bool) throws(WireError) {
        try requireAtMost(WireLimits.tokenBytesMax, token.utf8.count, limit: "tokenBytesMax")
        guard !token.unicodeScalars.contains(where: \.isControl) else {
            // What a listener's request has there is its session: random bytes are taken for a token hardly ever.
            throw .invalid(field: "token", rule: "it has control characters")
        }
        if let expectedRevision {
            _ = try breakRevision(expectedRevision, field: "expected_revision", mayBeAbsent: ofPublication)
        }
    }
}

extension BroadcastRequest.Kind {
    fileprivate func checked(expectedRevision: UInt64?) throws(WireError) -> Self {
        switch self {
        case .publish(var publish):
            try publish.check(publish.advertisements) { $0 }
            publish.variants = try AudienceVariant.checked(publish.variants)
            return .publish(publish)
        case .punch(var punch):
            punch.start = punch.start?.cutToMilliseconds
            return .punch(punch)
        case .update(var update):
            if let variants = update.variants { update.variants = try AudienceVariant.checked(variants) }
            try update.check(update.advertisements) { $0 }
            return .update(update)
        case .end, .cancel: return self
        case .postpone(var postpone):
            postpone.by = try BroadcastRequest.Postpone.delay(postpone.by)
            try postpone.checkRepeat(expectedRevision: expectedRevision)
            return .postpone(postpone)
        case .list(let list):
            try BroadcastRequest.List.check(afterByteCount: list.after.count)
            return self
        case .signal(var signal):
            try signal.check()
            try BroadcastRequest.Signal.check(expectedRevision: expectedRevision)
            return .signal(signal)
        case .putList(var list):
            try list.check(list.advertisements) { $0 }
            return .putList(list)
        case .removeList, .lists: return self
        case .watchReport(var report):
            try report.check()
            try BroadcastRequest.WatchReport.check(expectedRevision: expectedRevision)
            return .watchReport(report)
        }
    }
}

extension BroadcastRequest.Publish {
    /// Looks at all rules, and puts the advertisements in.
    ///
    /// - Parameters:
    ///   - sources: the sources of the advertisements.
    ///   - content: makes one.
    /// - Throws: the first rule that it breaks.
    mutating func check<Source>(
        _ sources: [Source],
        _ content: (Source) -> AdvertisementContent
    ) throws(WireError) {
        self.start = self.start?.cutToMilliseconds
        self.duration = try breakDuration(self.duration)
        self.advertisements = try AdvertisementContent.list(sources, content)
        if let hold {
            let milliseconds = hold.inMilliseconds
            guard milliseconds > 0 else { throw .invalid(field: "hold_ms", rule: "it is above 0, or absent") }
            try requireAtMost(Int(WireLimits.holdMillisecondsMax), Int(milliseconds), limit: "holdMillisecondsMax")
            self.hold = .milliseconds(milliseconds)
        }
        if self.preStream && self.start != nil {
            throw .invalid(field: "start", rule: "a pre-stream break has none: it is open for its hold time")
        }
        if self.start != nil && self.hold != nil {
            throw .invalid(field: "hold_ms", rule: "only cued and pre-stream breaks are held")
        }
    }
}

extension BroadcastRequest.Update {
    /// Looks at all rules, and puts the advertisements in.
    ///
    /// - Parameters:
    ///   - sources: the sources of the new advertisements; `nil`: the present ones stay.
    ///   - content: makes one.
    /// - Throws: the first rule that it breaks.
    mutating func check<Source>(
        _ sources: [Source]?,
        _ content: (Source) -> AdvertisementContent
    ) throws(WireError) {
        self.start = self.start?.cutToMilliseconds
        self.duration = try breakDuration(self.duration)
        if let sources { self.advertisements = try AdvertisementContent.list(sources, content) }
        if self.start == nil && self.duration == nil && self.advertisements == nil && self.variants == nil {
            throw .invalid(field: "update", rule: "it changes nothing")
        }
    }
}

extension BroadcastRequest.Postpone {
    /// By how much a break may be moved.
    static func delay(_ delay: Duration) throws(WireError) -> Duration {
        let delay = delay.cutToMilliseconds
        guard delay > .zero else { throw .invalid(field: "by_ms", rule: "it is above 0") }
        return delay
    }

    func checkRepeat(expectedRevision: UInt64?) throws(WireError) {
        guard self.from != nil || expectedRevision.map({ $0 != ExpectedRevision.any }) ?? false else {
            throw .invalid(
                field: "from_us",
                rule: "it is there, or expected_revision is, so that a repeat does no harm"
            )
        }
    }
}

extension BroadcastRequest.List {
    static func check(afterByteCount: Int) throws(WireError) {
        try requireAtMost(WireLimits.pageTokenBytesMax, afterByteCount, limit: "pageTokenBytesMax")
    }
}

extension BreakStart {
    var cutToMilliseconds: BreakStart {
        if case .after(let lead) = self { .after(lead.cutToMilliseconds) } else { self }
    }
}

/// The duration of a break, where one is given.
func breakDuration(_ duration: Duration?) throws(WireError) -> Duration? {
    guard let milliseconds = duration?.inMilliseconds else { return nil }
    guard milliseconds > 0 else { throw .invalid(field: "duration_ms", rule: "it is above 0, or absent") }
    try requireAtMost(
        Int(WireLimits.breakDurationMillisecondsMax),
        Int(milliseconds),
        limit: "breakDurationMillisecondsMax"
    )
    return .milliseconds(milliseconds)
}

/// The revision of a break, where one is given, or what stands in its place.
///
/// - Parameters:
///   - revision: as it is said.
///   - field: where.
///   - mayBeAbsent: whether the break may be expected not to be there.
/// - Returns: the revision.
/// - Throws: where it is none.
func breakRevision(_ revision: UInt64, field: String, mayBeAbsent: Bool = false) throws(WireError) -> UInt64 {
    guard (1...ExpectedRevision.any).contains(revision) || mayBeAbsent && revision == ExpectedRevision.absent else {
        throw .invalid(field: field, rule: "revisions are whole numbers from 1 on")
    }
    return revision
}

// MARK: - Size

extension BroadcastRequest {
    /// How many bytes `encoded()` has, without encoding: from the lengths of the texts.
    package var encodedByteCount: Int {
        var count = EncodedSize.number(self.id) + EncodedSize.text(self.token)
        if let expectedRevision { count += EncodedSize.present(expectedRevision) }
        count += EncodedSize.text(self.traceparent) + EncodedSize.message(self.kind.encodedByteCount)
        switch self.kind {
        case .publish, .punch, .update, .end, .cancel, .list: break
        // The number of its field takes two bytes.
        case .postpone, .signal, .putList, .removeList, .lists, .watchReport: count += 1
        }
        return count
    }
}

extension BroadcastRequest.Kind {
    fileprivate var encodedByteCount: Int {
        switch self {
        case .publish(let publish):
            publish.key.encodedByteCount + Self.size(publish.start, publish.duration, publish.advertisements)
                + EncodedSize.flag(publish.preStream) + EncodedSize.flag(publish.exact)
                + EncodedSize.number(UInt(publish.endMode.rawValue))
                + (publish.hold.map { EncodedSize.present($0.inMilliseconds) } ?? 0) + Self.size(publish.variants)
        case .punch(let punch): punch.key.encodedByteCount + Self.size(punch.start, nil, [])
        case .update(let update):
            update.key.encodedByteCount + Self.size(update.start, update.duration, update.advertisements ?? [])
                + EncodedSize.flag(update.advertisements != nil) + Self.size(update.variants ?? [])
                + EncodedSize.flag(update.variants != nil)
        case .end(let end):
            end.key.encodedByteCount + EncodedSize.number(UInt(end.endMode?.rawValue ?? 0))
                + (end.at.map { EncodedSize.present($0.microseconds) } ?? 0)
        case .cancel(let key): key.encodedByteCount
        case .postpone(let postpone):
            postpone.key.encodedByteCount + EncodedSize.number(postpone.by.inMilliseconds)
                + (postpone.from.map { EncodedSize.present($0.microseconds) } ?? 0)
        case .list(let list):
            EncodedSize.text(list.stream?.description ?? "") + EncodedSize.text(list.id?.description ?? "")
                + EncodedSize.bytes(list.after.count)
        case .signal(let signal): signal.encodedByteCount
        case .putList(let list): list.encodedByteCount
        case .removeList(let name): EncodedSize.text(name.description)
        case .lists(let name): EncodedSize.text(name?.description ?? "")
        case .watchReport(let report): report.encodedByteCount
        }
    }

    private static func size(_ variants: [AudienceVariant]) -> Int {
        variants.reduce(0) { $0 + EncodedSize.message($1.encodedByteCount) }
    }

    /// The rules that publications, punches and updates have in common.
    private static func size(
        _ start: BreakStart?,
        _ duration: Duration?,
        _ advertisements: [AdvertisementContent]
    ) -> Int {
        var count = 0
        if let start { count += EncodedSize.message(start.encodedByteCount) }
        if let duration { count += EncodedSize.present(duration.inMilliseconds) }
        for each in advertisements { count += EncodedSize.message(each.encodedByteCount) }
        return count
    }
}

extension BreakStart {
    var encodedByteCount: Int {
        switch self {
        case .at(let instant): EncodedSize.present(instant.microseconds)
        case .after(let lead): EncodedSize.present(lead.inMilliseconds)
        case .now: EncodedSize.flag(true)
        }
    }
}

extension BreakKey {
    fileprivate var encodedByteCount: Int {
        EncodedSize.text(self.stream.description) + EncodedSize.text(self.id.description)
    }
}
