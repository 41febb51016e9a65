// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport

// Random values of what broadcasters and gateways say to each other, and of what the event log holds.

extension SeededGenerator {
    mutating func breakStart() -> BreakStart {
        switch self.number(0...2) {
        case 0: .at(self.timestamp())
        case 1: .after(self.milliseconds())
        default: .now
        }
    }

    mutating func breakDuration() -> Duration { self.milliseconds(1...WireLimits.breakDurationMillisecondsMax) }

    mutating func publish(_ key: BreakKey? = nil) -> BroadcastRequest.Publish {
        let preStream = self.bool()
        let start = preStream ? nil : self.maybe { $0.breakStart() }
        var publish = BroadcastRequest.Publish(
            key: key ?? self.key(),
            start: start,
            duration: self.maybe { $0.breakDuration() },
            advertisements: self.advertisements(),
            preStream: preStream,
            exact: self.bool(),
            endMode: self.pick(EndMode.allCases),
            hold: start == nil ? self.maybe { $0.milliseconds(1...WireLimits.holdMillisecondsMax) } : nil
        )
        publish.variants = self.maybe { $0.variants() } ?? []
        return publish
    }

    mutating func variants() -> [AudienceVariant] {
        (0..<Int(self.number(0...3)))
            .map { index in
                let keys = ["device", "région", "k\u{301}"].prefix(Int(self.number(1...3)))
                return AudienceVariant(
                    name: "v\(index)",
                    conditions: keys.map { key in
                        AudienceVariant.Condition(
                            key: key,
                            values: self.list(1...3) { "\($0.number(0...9))é" },
                            isNegated: self.bool()
                        )
                    },
                    advertisements: self.advertisements()
                )
            }
    }

    mutating func punch() -> BroadcastRequest.Punch {
        BroadcastRequest.Punch(key: self.key(), start: self.maybe { $0.breakStart() })
    }

    mutating func update() -> BroadcastRequest.Update {
        var update = BroadcastRequest.Update(
            key: self.key(),
            start: self.maybe { $0.breakStart() },
            duration: self.maybe { $0.breakDuration() },
            advertisements: self.maybe { $0.advertisements() }
        )
        update.variants = self.maybe { $0.variants() }
        if update.start == nil, update.duration == nil, update.advertisements == nil, update.variants == nil {
            update.start = .now
        }
        return update
    }

    mutating func end() -> BroadcastRequest.End {
        BroadcastRequest.End(
            key: self.key(),
            endMode: self.maybe { $0.pick(EndMode.allCases) },
            at: self.maybe { $0.timestamp() }
        )
    }

    mutating func postpone(from: Timestamp? = nil) -> BroadcastRequest.Postpone {
        BroadcastRequest.Postpone(
            key: self.key(),
            by: self.milliseconds(1...UInt32.max),
            from: from ?? self.maybe { $0.timestamp() }
        )
    }

    mutating func adListName() -> AdListName {
        let text = self.breakID().description
        return must { () throws(WireError) in try AdListName(text) }
    }

    mutating func signalName() -> SignalName {
        let source = self.breakID().description
        let event = self.pick(["1", "0x7F", "~!", String(repeating: "e", count: 64)])
        return must { () throws(WireError) in
            SignalName(source: try SignalSource(source), event: try SignalEventID(event))
        }
    }

    mutating func signal() -> BroadcastRequest.Signal {
        let kind = self.pick(SignalKind.allCases)
        return BroadcastRequest.Signal(
            stream: self.streamID(),
            name: self.signalName(),
            kind: kind,
            start: kind == .cancel ? nil : self.maybe { $0.breakStart() },
            isProgrammeTime: self.bool(),
            duration: kind == .out ? self.maybe { $0.breakDuration() } : nil,
            raw: self.bytes(0...80)
        )
    }

    mutating func putList() -> BroadcastRequest.PutList {
        BroadcastRequest.PutList(name: self.adListName(), advertisements: self.advertisements())
    }

    mutating func watchReport() -> BroadcastRequest.WatchReport {
        let name = self.signalName().source
        var report = BroadcastRequest.WatchReport(
            stream: self.streamID(),
            source: name,
            watcher: self.signalName().source,
            kind: self.pick(WatcherKind.allCases),
            address: self.pick([
                "", "udp://@239.1.1.1:5000", "https://encoder.example:8443/a@b/live.m3u8", "/a?b/c.m3u8",
            ]),
            number: self.number(1...UInt64.max)
        )
        let ageMax = Int64(WireLimits.watchAgeMillisecondsMax)
        report.heardAge = self.maybe { .milliseconds($0.number(0...ageMax)) }
        report.isSteady = self.bool()
        report.cues = self.list(0...WireLimits.watchedCuesPerReportMax) {
            BroadcastRequest.WatchReport.Cue(
                isUnusable: $0.bool(),
                seen: $0.line(),
                reason: $0.line(),
                times: $0.number(1...1_000_000)
            )
        }
        func count(_ isUnusable: Bool) -> UInt32 {
            report.cues.filter { $0.isUnusable == isUnusable }.reduce(0) { $0 + $1.times }
        }
        report.ignored = count(false) + self.pick([0, 1, 70_000])
        report.unusable = count(true) + self.pick([0, 1, 70_000])
        report.problem = self.pick(["", self.line()])
        if !report.problem.isEmpty { report.problemAge = self.maybe { .milliseconds($0.number(0...ageMax)) } }
        report.isLast = self.bool()
        return report
    }

    /// Text without line ends.
    private mutating func line() -> String { self.words().filter { $0 != "\n" && $0 != "\t" } }

    mutating func cueRule() -> CueRule {
        var segments = SegmentPolicy()
        func some<Value: Hashable>(of values: [Value], _ generator: inout Self) -> Set<Value> {
            Set(values.filter { _ in generator.bool() })
        }
        segments.openingTypes = self.maybe { some(of: SegmentPolicy.possibleOpeningTypes.sorted(), &$0) }
        segments.endingTypes = self.maybe { some(of: SegmentPolicy.possibleEndingTypes.sorted(), &$0) }
        segments.restrictions = self.maybe { some(of: SegmentPolicy.Restriction.allCases, &$0) }
        return CueRule(
            isKnown: self.bool(),
            segments: segments,
            programmeLateMax: .milliseconds(self.number(0...Int64(CueRule.programmeLateMillisecondsMax))),
            reportInterval: self.milliseconds()
        )
    }

    mutating func signalEntry() -> BreakEntry.Signal {
        let request = self.signal()
        return BreakEntry.Signal(
            request: request,
            at: self.timestamp(),
            announce: self.timestamp(),
            window: self.window(),
            rule: SignalRule(
                rank: self.number(0...UInt32.max),
                tolerance: self.milliseconds(),
                defaultDuration: self.maybe { $0.milliseconds() },
                safetyDuration: self.milliseconds()
            ),
            advertisements: request.kind == .out ? self.advertisements() : []
        )
    }

    mutating func breakSignals() -> BreakSignals {
        let names = Set(self.list(0...BreakSignals.claimsPerBreakMax) { $0.signalName() }).sorted()
        return BreakSignals(
            opened: self.bool(),
            defaultDuration: self.maybe { $0.milliseconds() },
            tolerance: self.maybe { $0.milliseconds() } ?? BreakSignals.toleranceDefault,
            claims: names.map { name in
                SignalClaim(
                    name: name,
                    rank: self.number(0...UInt32.max),
                    start: self.timestamp(),
                    isProgrammeTime: self.bool(),
                    duration: self.maybe { $0.milliseconds() },
                    end: self.maybe { $0.timestamp() },
                    isCancelled: self.bool()
                )
            }
        )
    }

    mutating func adListInfo() -> AdListInfo {
        AdListInfo(
            name: self.adListName(),
            revision: self.revision(),
            advertisementCount: Int(self.number(0...UInt32.max)),
            duration: self.milliseconds(),
            changed: self.timestamp(),
            broadcaster: self.words()
        )
    }

    mutating func adListRecords() -> [AdListRecord] {
        Set(self.list(0...3) { $0.adListName() }).sorted()
            .map { name in
                AdListRecord(
                    name: name,
                    revision: self.revision(),
                    changed: self.timestamp(),
                    broadcaster: self.words(),
                    advertisements: self.advertisements()
                )
            }
    }

    mutating func revision() -> UInt64 { self.number(1...ExpectedRevision.any - 1) }

    mutating func broadcastRequest() -> BroadcastRequest {
        var revision = self.maybe { $0.revision() }
        let kind: BroadcastRequest.Kind =
            switch self.number(0...11) {
            case 10: .watchReport(self.watchReport())
            case 0: .publish(self.publish())
            case 1: .punch(self.punch())
            case 2: .update(self.update())
            case 3: .end(self.end())
            case 4: .cancel(self.key())
            case 5: .postpone(self.postpone(from: revision == nil ? self.timestamp() : nil))
            case 6: .signal(self.signal())
            case 7: .putList(self.putList())
            case 8: .removeList(self.adListName())
            case 9: .lists(self.maybe { $0.adListName() })
            default:
                .list(
                    BroadcastRequest.List(
                        stream: self.maybe { $0.streamID() },
                        id: self.maybe { $0.breakID() },
                        after: self.bytes(0...WireLimits.pageTokenBytesMax)
                    )
                )
            }
        switch kind {
        case .signal, .watchReport: revision = nil
        default: break
        }
        return BroadcastRequest(
            id: self.number(0...UInt64.max),
            token: self.words().filter { $0 != "\n" && $0 != "\t" },
            expectedRevision: revision,
            traceparent: self.pick(["", self.trace().header, self.words()]),
            kind: kind
        )
    }

    mutating func breakInfo() -> BreakInfo {
        BreakInfo(
            key: self.key(),
            state: self.pick(BreakState.allCases),
            start: self.maybe { $0.timestamp() },
            duration: self.maybe { $0.milliseconds() },
            advertisementCount: Int(self.number(0...UInt32.max)),
            preStream: self.bool(),
            exact: self.bool(),
            position: self.maybe { $0.position() },
            announce: self.maybe { $0.timestamp() },
            end: self.maybe { $0.timestamp() },
            holdUntil: self.maybe { $0.timestamp() },
            published: self.timestamp(),
            firstAdvertisementTitle: self.words(),
            revision: self.number(0...UInt64(Int64.max)),
            signals: self.breakSignals().byPrecedence,
            publishedAs: self.maybe { $0.breakID() },
            variants: self.variants().map { VariantInfo($0) }
        )
    }

    mutating func broadcastReply() -> BroadcastReply {
        let body: BroadcastReply.Body =
            switch self.number(0...5) {
            case 4: .cueRule(self.cueRule())
            case 0: .break(self.breakInfo())
            case 2: .adList(self.adListInfo(), self.maybe { $0.advertisements() } ?? [])
            case 3: .adLists(self.list(0...4) { $0.adListInfo() })
            case 1:
                .list(self.list(0...4) { $0.breakInfo() }, after: self.bytes(0...WireLimits.pageTokenBytesMax))
            default: .refused(self.refusal())
            }
        return BroadcastReply(
            requestID: self.number(0...UInt64.max),
            gatewayTime: self.timestamp(),
            trace: self.maybe { $0.trace() },
            body: body
        )
    }

    mutating func publishEntry(_ key: BreakKey? = nil) -> BreakEntry.Publish {
        let request = self.publish(key)
        return BreakEntry.Publish(
            request: request,
            start: self.maybe { $0.timestamp() },
            announce: self.timestamp(),
            window: self.window(),
            holdUntil: self.maybe { $0.timestamp() },
            safetyDuration: self.milliseconds()
        )
    }

    mutating func breakEntry() -> BreakEntry {
        let kind: BreakEntry.Kind =
            switch self.number(0...12) {
            case 0: .publish(self.publishEntry())
            case 9: .signal(self.signalEntry())
            case 10: .putList(self.putList())
            case 11: .removeList(self.adListName())
            case 1: .punch(self.punch(), start: self.timestamp())
            case 2:
                .update(
                    BreakEntry.Update(
                        request: self.update(),
                        start: self.maybe { $0.timestamp() },
                        announce: self.maybe { $0.timestamp() },
                        window: self.maybe { $0.window() }
                    )
                )
            case 3: .end(self.end())
            case 4: .cancel(self.key())
            case 8:
                .postpone(
                    BreakEntry.Postpone(
                        request: self.postpone(),
                        from: self.timestamp(),
                        announce: self.timestamp(),
                        window: self.window()
                    )
                )
            case 5: .announce(self.key(), BreakNumber(rawValue: self.next()), window: self.window())
            case 6: .housekeeping(self.timestamp())
            case 12: .rules(FoldRules.newest)
            default: .expire(self.key(), BreakNumber(rawValue: self.number(0...UInt64.max)))
            }
        var entry = BreakEntry(at: self.timestamp(), broadcaster: self.words(), kind: kind)
        switch kind {
        case .publish, .punch, .update, .end, .cancel, .postpone, .putList, .removeList:
            entry.expectedRevision = self.maybe { $0.revision() }
            entry.trace = self.maybe { $0.trace() }
        case .signal: entry.trace = self.maybe { $0.trace() }
        // What timers decide has no condition.
        case .announce, .expire, .housekeeping, .rules: break
        }
        return entry
    }

    mutating func breakGroup() -> BreakGroup { BreakGroup(entries: self.list(0...4) { $0.breakEntry() }) }

    mutating func acknowledgementGroup() -> AcknowledgementGroup {
        AcknowledgementGroup(
            requests: self.list(0...3) {
                AcknowledgementGroup.AcceptedRequest(
                    request: $0.bytes(0...80),
                    received: $0.timestamp(),
                    breakNumber: BreakNumber(rawValue: $0.number(0...UInt64.max)),
                    ordinals: $0.list(0...5) { $0.number(0...UInt32.max) }
                )
            },
            deliveries: self.list(0...3) {
                AcknowledgementGroup.Delivery(
                    session: $0.session(),
                    breakNumber: BreakNumber(rawValue: $0.number(0...UInt64.max)),
                    variant: $0.number(0...UInt32.max),
                    first: $0.number(0...UInt32.max),
                    at: $0.timestamp()
                )
            }
        )
    }

    mutating func breakRecord(_ key: BreakKey) -> BreakRecord {
        var record = BreakRecord(
            number: BreakNumber(rawValue: self.number(0...UInt64.max)),
            published: self.timestamp(),
            broadcaster: self.words(),
            publish: self.publishEntry(key)
        )
        record.start = self.maybe { $0.timestamp() }
        record.duration = self.maybe { $0.breakDuration() }
        record.advertisements = self.advertisements()
        record.announce = self.timestamp()
        record.window = self.window()
        record.phase = self.pick(BreakRecord.Phase.allCases)
        record.ended = self.maybe { $0.timestamp() }
        record.endMode = self.pick(EndMode.allCases)
        record.closed = self.maybe { $0.timestamp() }
        record.punchedAs = self.maybe { $0.breakStart() }
        record.lastNotice = self.maybe { $0.notice() }
        record.condensed = self.bool()
        record.announced = self.maybe { $0.timestamp() }
        record.revision = self.revision()
        record.trace = self.maybe { $0.trace() }
        record.signals = self.maybe { $0.breakSignals() }
        record.alias = self.maybe { $0.breakID() }
        return record
    }

    mutating func boardRecord() -> BoardRecord {
        let streams = Set(self.list(0...3) { $0.streamID() }).sorted()
        return BoardRecord(
            offset: self.number(0...UInt64(1) << 50),
            retention: self.maybe { $0.timestamp() },
            newest: self.maybe { $0.timestamp() },
            retiredHashes: self.list(0...3) { $0.next() },
            streams: streams.map { stream in
                let sequence = self.number(4...UInt64(1) << 60)
                let recent = UInt64(self.number(0...4))
                let epoch = self.next()
                return StreamRecord(
                    stream: stream,
                    sequence: sequence,
                    recentNotices: (0..<recent)
                        .map { each in
                            self.notice(
                                self.pick([.available, .updated, .ended, .cancelled]),
                                position: Position(epoch: epoch, sequence: sequence - recent + 1 + each)
                            )
                        }
                )
            },
            breaks: streams.flatMap { stream in
                Set(self.list(0...5) { $0.breakID() }).sorted()
                    .map { self.breakRecord(BreakKey(stream: stream, id: $0)) }
            },
            adLists: self.adListRecords()
        )
    }
}
