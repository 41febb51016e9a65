// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// The content of the log: every fact once, contradictions within bounds, and nothing that was not understood.
@Suite(.suiteLimit)
struct RepeatTests {
    /// A counter at which `b1` started at 0 and ended at 30.
    private func counter(_ change: (inout ListenerRequestHandler.Settings) -> Void = { _ in }) -> Counter {
        var counter = Counter(change)
        _ = counter.desk.ask(.publish(Sample.publish(start: .now)), at: 0)
        return counter
    }

    private func ignored(_ advertisement: String = "ad0", at seconds: Double) -> Outcome {
        Outcome(
            advertisementID: Sample.advertisementID(advertisement),
            kind: .ignored,
            reason: .user,
            occurred: Sample.at(seconds)
        )
    }

    /// Closes the group, and has the log answer about it.
    private func settle(_ counter: inout Counter, isDurable: Bool = true) {
        _ = counter.handler.answered(counter.handler.takeGroup().number, isDurable: isDurable)
    }

    // MARK: - Repeats

    @Test func `a repeat of what is durable is confirmed at once, and not logged`() throws {
        var counter = self.counter()
        let outcomes = [Counter.played(at: 10), Counter.played("ad1", at: 20)]
        #expect(try counter.acknowledge(outcomes, at: 31).deferred?.outcomes == 2)
        self.settle(&counter)
        for count in 1...3 {
            #expect(try counter.acknowledge(outcomes, at: 32).body == .acknowledged(recorded: 2))
            #expect(counter.metrics.value(.repeatedOutcomes) == 2 * count)
        }
        // Also one of them alone, and both the other way round.
        #expect(try counter.acknowledge([outcomes[1]], at: 32).body == .acknowledged(recorded: 1))
        #expect(try counter.acknowledge(outcomes.reversed(), at: 32).body == .acknowledged(recorded: 2))
        #expect(counter.handler.group.isEmpty)
        #expect(counter.metrics.value(.acknowledgedOutcomes) == 9, "what is confirmed is counted, repeats included")
    }

    @Test func `a repeat of what is in flight waits for that group`() throws {
        var counter = self.counter()
        let first = try #require(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred)
        let gathering = try #require(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred)
        #expect(gathering.group == first.group)
        #expect(counter.handler.group.requestCount == 1)
        let (number, _) = counter.handler.takeGroup()
        #expect(number == first.group)
        let later = try #require(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred)
        #expect(later.group == number)
        #expect(counter.handler.group.isEmpty)
        _ = counter.handler.answered(number, isDurable: true)
        #expect(try counter.acknowledge([Counter.played(at: 10)], at: 31).body == .acknowledged(recorded: 1))
    }

    @Test func `the content of a failed group is forgotten, and logged when it comes again`() throws {
        var counter = self.counter()
        let first = try #require(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred)
        let repeated = try #require(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred)
        self.settle(&counter, isDurable: false)
        for each in [first, repeated] {
            let reply = counter.handler.finish(each, isDurable: false, at: Sample.at(31))
            #expect(try ListenerReply(decoding: reply.frame).body == .refused(.logUnavailable))
        }
        let again = try #require(try counter.acknowledge([Counter.played(at: 10)], at: 32).deferred)
        #expect(again.group > first.group)
        #expect(counter.handler.group.requestCount == 1)
        self.settle(&counter)
        #expect(try counter.acknowledge([Counter.played(at: 10)], at: 32).body == .acknowledged(recorded: 1))
    }

    @Test func `only what is new in a request is logged`() throws {
        var counter = self.counter()
        _ = try counter.acknowledge([Counter.played(at: 10)], at: 31)
        self.settle(&counter)
        let both = [Counter.played(at: 10), Counter.played("ad1", at: 20)]
        #expect(try counter.acknowledge(both, at: 31).deferred?.outcomes == 2)
        let accepted = try #require(try counter.gathered.requests.first)
        #expect(accepted.ordinals == [1])
        let request = try ListenerRequest(decoding: accepted.request)
        guard case .acknowledge(let told) = request.kind else { throw WireError.unsupported }
        #expect(told.outcomes == [both[1]])
        self.settle(&counter)
        #expect(try counter.acknowledge(both, at: 31).body == .acknowledged(recorded: 2))
    }

    @Test func `a request over two groups is confirmed only with both`() throws {
        var counter = self.counter()
        _ = try counter.acknowledge([Counter.played(at: 10)], at: 31)
        let (one, _) = counter.handler.takeGroup()
        // The first outcome is in flight: it is logged once more, so that one group holds all that is confirmed.
        let both = [Counter.played(at: 10), Counter.played("ad1", at: 20)]
        let deferred = try #require(try counter.acknowledge(both, at: 31).deferred)
        #expect(deferred.group != one)
        #expect(try counter.gathered.requests.first?.ordinals == [0, 1])
        // In the group that gathers both are there already.
        #expect(try counter.acknowledge(both, at: 31).deferred?.group == deferred.group)
        #expect(counter.handler.group.requestCount == 1)
    }

    @Test
    func `a request that repeats something, and for which a record has no room, waits for the group that it is in`()
        throws
    {
        var sizes = self.counter()
        _ = try sizes.acknowledge([Counter.played(at: 10)], at: 31)
        let one = sizes.handler.group.recordBytesMax
        var counter = self.counter { $0.recordBytesMax = one }
        let first = try #require(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred)
        counter.handler.wait(1, for: first)
        let both = [Counter.played(at: 10), Counter.played("ad1", at: 20)]
        let second = try #require(try counter.acknowledge(both, at: 31).deferred)
        counter.handler.wait(2, for: second)
        let (number, _) = counter.handler.takeGroup()
        #expect(counter.handler.answered(number, isDurable: true).map(\.peer) == [1])
        #expect(
            try counter.gathered.requests.map(\.ordinals) == [[0, 1]],
            "what is in the group before is logged once more"
        )
        let (next, _) = counter.handler.takeGroup()
        #expect(counter.handler.answered(next, isDurable: true).map(\.peer) == [2])
        #expect(counter.metrics.value(.limitsHit, .limit(.recordBytesMax)) == 1)
    }

    @Test func `waiting requests are answered with the group, wherever that is`() throws {
        var counter = self.counter { $0.recordBytesMax = 1 }
        func ask(_ peer: UInt64, _ ad: String) throws {
            counter.handler.wait(
                peer,
                for: try #require(try counter.acknowledge([Counter.played(ad, at: 10)], at: 31).deferred)
            )
        }
        #expect(counter.handler.isIdle)
        // Each has a record of its own: the first is with the log, the second is full, the third gathers.
        try ask(0, "ad0")
        let (first, _) = counter.handler.takeGroup()
        try ask(1, "ad1")
        try ask(2, "ad2")
        for (peer, ad) in ["ad0", "ad1", "ad2"].enumerated() { try ask(UInt64(10 + peer), ad) }
        #expect(counter.handler.waiterCount == 6)
        #expect(counter.handler.hasGatheredWaiters)
        let (second, _) = counter.handler.takeGroup()
        let (third, _) = counter.handler.takeGroup()
        #expect(counter.handler.hasGatheredNothing && !counter.handler.hasGatheredWaiters && !counter.handler.isIdle)
        #expect(counter.handler.answered(second, isDurable: true).map(\.peer) == [1, 11])
        #expect(counter.handler.answered(first, isDurable: false).map(\.peer) == [0, 10])
        #expect(counter.handler.answered(third, isDurable: true).map(\.peer) == [2, 12])
        #expect(counter.handler.isIdle && counter.handler.waiterCount == 0)
    }

    @Test func `the gathered group is given up, and deliveries gather again`() throws {
        // One delivery fits into a record, and no acknowledgement fits with it.
        var counter = self.counter { $0.recordBytesMax = GatheredGroup.deliveryBytesMax }
        #expect(try counter.batch(at: 9).batch != nil)
        #expect(counter.handler.refuseGathered() == [], "no request waits")
        #expect(counter.handler.group.deliveries.count == 1)
        for (peer, ad) in ["ad0", "ad1"].enumerated() {
            let deferred = try #require(try counter.acknowledge([Counter.played(ad, at: 10)], at: 10).deferred)
            counter.handler.wait(UInt64(peer), for: deferred)
        }
        #expect(counter.handler.refuseGathered().map(\.peer) == [0, 1])
        #expect(counter.handler.isIdle)
        #expect(counter.handler.takeGroup().group.deliveries.count == 1)
        #expect(try counter.acknowledge([Counter.played(at: 10)], at: 10).deferred != nil, "it is not known")
    }

    @Test func `repeats that wait are bounded`() throws {
        var counter = self.counter { $0.acknowledgementsWaitingMax = 2 }
        for _ in 0..<3 { #expect(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred != nil) }
        #expect(try counter.acknowledge([Counter.played(at: 10)], at: 31).refusal == .logBehind)
        #expect(counter.metrics.value(.limitsHit, .limit(.acknowledgementsWaitingMax)) == 1)
        self.settle(&counter)
        #expect(try counter.acknowledge([Counter.played(at: 10)], at: 31).body == .acknowledged(recorded: 1))
    }

    @Test func `contradictions are logged, up to the limit for one advertisement`() throws {
        var counter = self.counter()
        _ = try counter.acknowledge([Counter.played(at: 10)], at: 31)
        self.settle(&counter)
        for count in 1...RecentOutcomes.contradictionsLoggedMax {
            let other = self.ignored(at: 10 + Double(count) / 1_000)
            #expect(try counter.acknowledge([other], at: 31).deferred?.outcomes == 1)
            #expect(try counter.gathered.requests.count == 1)
            self.settle(&counter)
        }
        // The next one is answered, is not logged, and is not called recorded.
        let more = [self.ignored(at: 11), Counter.played("ad1", at: 11)]
        #expect(try counter.acknowledge([more[0]], at: 31).body == .acknowledged(recorded: 0))
        #expect(counter.handler.group.isEmpty)
        #expect(counter.metrics.value(.limitsHit, .limit(.contradictionsLoggedMax)) == 1)
        // What else is in its request is; and another session is another one's business.
        #expect(try counter.acknowledge(more, at: 31).deferred?.outcomes == 1)
        #expect(try counter.gathered.requests.map(\.ordinals) == [[1]])
        #expect(
            try counter.acknowledge([self.ignored(at: 11)], by: Sample.session(2), at: 31).deferred?.outcomes == 1
        )
    }

    @Test func `other details are not a repeat`() throws {
        var counter = self.counter()
        _ = try counter.acknowledge([Counter.played(at: 10)], at: 31)
        self.settle(&counter)
        let changes: [(inout Outcome) -> Void] = [
            { $0.heard = .seconds(9) }, { $0.quartiles = 3 }, { $0.muted = true }, { $0.clicked = true },
            { $0.evidence = .inferred }, { $0.occurred = Sample.at(10.000_001) }, { $0.vastError = 400 },
            { $0.kind = .failed },
        ]
        for change in changes {
            var counter = counter
            var outcome = Counter.played(at: 10)
            change(&outcome)
            #expect(try counter.acknowledge([outcome], at: 31).deferred != nil)
            #expect(counter.handler.group.requestCount == 1)
        }
    }

    @Test func `without memory every repeat is logged`() throws {
        var counter = self.counter { $0.rememberedOutcomesMax = 0 }
        for _ in 0..<3 {
            #expect(try counter.acknowledge([Counter.played(at: 10)], at: 31).deferred?.outcomes == 1)
            self.settle(&counter)
        }
        #expect(counter.metrics.value(.repeatedOutcomes) == 0)
    }

    @Test func `a session that asks for batches in turn is recorded once for each`() throws {
        var counter = self.counter()
        _ = counter.desk.ask(.publish(Sample.publish("b2", start: .at(Sample.at(30)))), at: 1)
        counter.desk.tick(at: 22)
        for _ in 0..<10 {
            for id in ["b1", "b2"] { #expect(try counter.batch(id, at: 22).batch != nil) }
        }
        #expect(counter.handler.group.deliveries.count == 2)
    }

    @Test func `one session writes each fact once, whatever it sends`() throws {
        var generator = SeededGenerator(for: #function)
        var counter = self.counter()
        var logged = 0
        for _ in 0..<2_000 {
            // One of two versions of each outcome: a fact and one contradiction.
            let ads = ["ad0", "ad1", "ad2"].filter { _ in generator.bool() }
            guard !ads.isEmpty else { continue }
            let outcomes = ads.shuffled(using: &generator)
                .map { generator.bool() ? Counter.played($0, at: 10) : self.ignored($0, at: 10) }
            _ = try counter.acknowledge(outcomes, at: 31)
            logged += try counter.gathered.requests.reduce(0) { $0 + $1.ordinals.count }
            self.settle(&counter)
        }
        let bound = 3 * (1 + RecentOutcomes.contradictionsLoggedMax)
        #expect(logged <= bound, "CUECAST_SEED=\(SeededGenerator.seed)")
    }

    // MARK: - Only what is understood

    /// Fields that no version has, and those of messages that are never read in place.
    private enum OtherField: Int, MessageField {
        case first = 1
        case second = 2
        case fifth = 5
        case tenth = 10
        case later = 1_000

        var type: MessageFieldType { .bytes }
    }

    /// A field number that no version has, at every level: a text of so many bytes.
    private func strange(_ bytes: Int = 4) -> [UInt8] {
        self.nested(OtherField.later, [UInt8](repeating: 0x5A, count: bytes))
    }

    private func nested(_ field: some MessageField, _ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendMessage(field, body)
        return bytes
    }

    /// An acknowledgement of `b1`, put together by hand.
    private func acknowledgement(of counter: Counter, outcome: [UInt8] = [], body: [UInt8] = [], head: [UInt8] = [])
        throws -> [UInt8]
    {
        let number = try #require(counter.desk["b1"]).number
        let delivery = Counter.delivery(of: number).bytes
        var played: [UInt8] = self.nested(OutcomeField.advertisementID, Array("ad0".utf8))
        played.appendField(OutcomeField.kind, 1)
        played.appendField(OutcomeField.evidence, 1)
        played.appendField(OutcomeField.occurredUs, UInt64(Sample.at(10).microseconds))
        let acknowledge =
            self.nested(AcknowledgeField.stream, Array("radio1".utf8))
            + self.nested(AcknowledgeField.breakID, Array("b1".utf8))
            + self.nested(AcknowledgeField.delivery, delivery)
            + self.nested(AcknowledgeField.outcomes, played + outcome) + body
        var frame: [UInt8] = []
        frame.appendField(RequestField.requestID, 7)
        return frame + self.nested(RequestField.session, Sample.session().bytes) + head
            + self.nested(RequestField.acknowledge, acknowledge)
    }

    @Test func `unknown fields of an acknowledgement never reach the log, at any level`() throws {
        let base = self.counter()
        let plain = try self.acknowledgement(of: base)
        let id = self.nested(OutcomeField.advertisementID, Array("ad0".utf8))
        let variants = [
            try self.acknowledgement(of: base, outcome: self.strange(9_000)),
            try self.acknowledgement(of: base, body: self.strange(9_000)),
            plain + self.strange(9_000),
            try self.acknowledgement(of: base, head: self.strange(9_000)),
            // Known fields too, where they come again and again: the last one counts.
            try self.acknowledgement(of: base, body: self.nested(AcknowledgeField.stream, Array("radio1".utf8))),
            try self.acknowledgement(
                of: base,
                outcome: self.nested(OutcomeField.advertisementID, [UInt8](repeating: 0x5A, count: 90)) + id
            ),
            plain + self.nested(RequestField.session, Sample.session().bytes),
        ]
        for frame in variants {
            var counter = base
            guard case .later = try counter.ask(frame, id: 7, at: Sample.at(31)) else {
                Issue.record("not accepted")
                continue
            }
            #expect(try counter.gathered.requests.map(\.request) == [plain])
            // And it is known as the same.
            self.settle(&counter)
            #expect(try counter.ask(plain, id: 7, at: Sample.at(31)).body == .acknowledged(recorded: 1))
        }
        var counter = base
        _ = try counter.ask(plain, id: 7, at: Sample.at(31))
        #expect(try counter.gathered.requests.map(\.request) == [plain], "and what is all known stays as it is")
    }

    @Test func `unknown fields of a publication never reach the log, at any level`() throws {
        let strange = self.strange(5_000)
        let media = self.nested(OtherField.first, Array("http://media.example/1.mp3".utf8)) + strange
        let banner = self.nested(OtherField.first, Array("http://media.example/1.png".utf8)) + strange
        let tracker =
            self.nested(OtherField.first, Array("start".utf8))
            + self.nested(OtherField.second, Array("http://track.example".utf8)) + strange
        var advertisement = self.nested(AdvertisementField.id, Array("ad0".utf8))
        advertisement.appendField(AdvertisementField.durationMs, 10_000)
        advertisement +=
            self.nested(AdvertisementField.media, media) + self.nested(AdvertisementField.banner, banner)
            + self.nested(AdvertisementField.trackers, tracker) + strange
        let publish =
            self.nested(OtherField.first, Array("radio1".utf8)) + self.nested(OtherField.second, Array("b1".utf8))
            + self.nested(OtherField.fifth, advertisement) + strange
        var frame: [UInt8] = []
        frame.appendField(RequestField.requestID, 7)
        frame +=
            self.nested(OtherField.second, Array("token".utf8)) + self.nested(OtherField.tenth, publish) + strange
        let request = try BroadcastRequest(decoding: frame)
        let plan = BroadcastPlanner(policy: BreakPolicy())
            .plan(request, by: .anybody, on: Board(epoch: 1), at: Sample.t0, listeners: 0)
        guard case .append(let entry) = plan else {
            Issue.record("not planned: \(plan)")
            return
        }
        let record = BreakGroup(entries: [entry]).encoded()
        #expect(!record.contains(0x5A))
        #expect(record.count < 300)
        #expect(try BreakGroup(decoding: record) == BreakGroup(entries: [entry]))
    }

    // MARK: - Outcomes of what can have happened

    @Test func `a break that was not announced has no outcomes`() throws {
        var counter = Counter()
        _ = counter.desk.ask(.publish(Sample.publish(start: .after(.seconds(60)))), at: 0)
        let scheduled = try counter.acknowledge([Counter.played(at: 1)], at: 1).refusal
        #expect(scheduled == Refusal(.notFound, "There is no break b1 of the stream radio1."), "as for its batch")
        #expect(try counter.batch(at: 1).refusal == scheduled)
        // Withdrawn before anybody was told.
        _ = counter.desk.ask(.publish(Sample.publish("b2", start: .after(.seconds(200)))), at: 0)
        _ = counter.desk.ask(.cancel(Sample.key("b2")), at: 1)
        #expect(try counter.acknowledge([Counter.played(at: 1)], of: "b2", at: 2).refusal?.status == .notFound)
        counter.desk.tick(at: 52)
        #expect(try counter.acknowledge([Counter.played(at: 52)], at: 52).deferred != nil)
        #expect(counter.metrics.value(.acknowledgedOutcomes) == 0)
    }

    @Test(
        arguments: [
            (41.999_999, 60, "occurred_us of ad0 is more than 10 s before its break was announced."),
            (42, 60, nil), (52, 60, nil), (70, 60, nil),
            (70.000_001, 60, "occurred_us of ad0 is more than 10 s ahead of the gateway's clock."),
            (9_000, 8_990, nil),
            (9_000.000_001, 8_990, "occurred_us of ad0 is more than 10 s ahead of the gateway's clock."),
        ] as [(Double, Double, String?)]
    )
    func `an outcome happened between the announcement and now`(occurred: Double, now: Double, sentence: String?) throws
    {
        var counter = Counter()
        _ = counter.desk.ask(.publish(Sample.publish(start: .after(.seconds(60)))), at: 0)
        counter.desk.tick(at: 52)
        #expect(counter.desk["b1"]?.announced == Sample.at(52))
        let got = try counter.acknowledge([Counter.played(at: occurred)], at: now)
        #expect(got.refusal == sentence.map { Refusal(.invalid, $0) })
        #expect((got.deferred != nil) == (sentence == nil))
    }

    @Test func `the first announcement counts, whatever is told of a break afterwards`() throws {
        var counter = Counter()
        _ = counter.desk.ask(.publish(Sample.publish(start: .after(.seconds(5)))), at: 0)
        _ = counter.desk.ask(.update(.init(key: Sample.key(), start: .at(Sample.at(600)))), at: 1)
        #expect(counter.desk["b1"]?.announced == Sample.t0)
        #expect(try counter.acknowledge([self.ignored(at: 0.5)], at: 30).deferred != nil)
        // A snapshot keeps it, also where the break is condensed.
        let later = 631 + BoardLimits.batchesWithin.inSeconds
        counter.desk.runHousekeeping(at: later)
        #expect(counter.desk["b1"]?.record.condensed == true)
        let record = try BoardRecord(decoding: counter.desk.board.record.encoded())
        #expect(Board(epoch: 1, record)[Sample.key()]?.announced == Sample.t0)
        #expect(try counter.acknowledge([self.ignored("ad1", at: 0.5)], at: later).deferred != nil)
    }

    @Test func `a clock that was set back refuses no outcome of before`() throws {
        var counter = Counter()
        _ = counter.desk.ask(.publish(Sample.publish(start: .now)), at: 3_600)
        #expect(try counter.acknowledge([Counter.played(at: 5)], at: 5).deferred != nil)
    }
}

/// The memory of what was logged.
@Suite(.suiteLimit)
struct RecentOutcomesTests {
    private func details(_ heard: UInt32) -> OutcomeDetails {
        var details = OutcomeDetails(kind: .played)
        details.heardMilliseconds = heard
        return details
    }

    @Test func `it holds so many, and what is oldest gives its place away`() {
        var memory = RecentOutcomes(outcomesMax: 4_096)
        #expect(memory.outcomesMax == 4_096)
        func known(_ number: UInt64) -> RecentOutcomes.Known {
            memory.known(memory.key(Sample.session(number), BreakNumber(rawValue: 1)), ordinal: 0, self.details(1))
        }
        for number in 0..<20_000 as Range<UInt64> {
            let key = memory.key(Sample.session(number), BreakNumber(rawValue: 1))
            memory.remember(key, ordinal: 0, self.details(1), at: Sample.t0)
            if number % 16 == 15 { memory.answered(memory.close(), isDurable: true) }
        }
        let kept = (0..<20_000 as Range<UInt64>).count { known($0) == .durable }
        #expect((3_000...4_096).contains(kept))
        #expect((19_900..<20_000 as Range<UInt64>).count { known($0) == .durable } >= 90, "the newest are there")
        #expect(memory.displacedCount > 10_000)
    }

    @Test func `nothing that is known gives its place away while there may be more places`() {
        // At the limit a fifth that shares four places displaces one. Of 2^22 places 3,000 come near it once in 10^9 times.
        var memory = RecentOutcomes(outcomesMax: 1 << 22)
        let numbers = 0..<3_000 as Range<UInt64>
        for number in numbers {
            let key = memory.key(Sample.session(number), BreakNumber(rawValue: 1))
            memory.remember(key, ordinal: 0, self.details(1), at: Sample.t0)
        }
        #expect(memory.displacedCount == 0)
        #expect(
            numbers.allSatisfy { number in
                let key = memory.key(Sample.session(number), BreakNumber(rawValue: 1))
                return memory.known(key, ordinal: 0, self.details(1)) == .waits(group: memory.gathering)
            }
        )
    }

    @Test func `old entries free their places before the limit is reached`() {
        var memory = RecentOutcomes(outcomesMax: 1_024)
        for number in 0..<8_192 as Range<UInt64> {
            let key = memory.key(Sample.session(number), BreakNumber(rawValue: 1))
            memory.remember(key, ordinal: 0, self.details(1), at: Sample.at(Double(number)))
            memory.answered(memory.close(), isDurable: true)
        }
        #expect(memory.displacedCount < 2_000)
    }

    @Test func `sessions, breaks, advertisements and what happened are told apart`() {
        var memory = RecentOutcomes(outcomesMax: 1 << 16)
        for session in 0..<8 as Range<UInt64> {
            for number in 0..<8 as Range<UInt64> {
                let key = memory.key(Sample.session(session), BreakNumber(rawValue: number))
                for ordinal in 0..<8 as Range<UInt32> {
                    #expect(memory.known(key, ordinal: ordinal, self.details(ordinal)) == .nothing)
                    memory.remember(key, ordinal: ordinal, self.details(ordinal), at: Sample.t0)
                    #expect(
                        memory.known(key, ordinal: ordinal, self.details(ordinal)) == .waits(group: memory.gathering)
                    )
                    #expect(memory.known(key, ordinal: ordinal, self.details(ordinal + 1)) == .differs)
                }
            }
        }
    }

    @Test(arguments: [(0, 0), (3, 0), (4, 4), (5, 4), (1_000, 512), (1_024, 1_024)])
    func `its limit is a power of two`(asked: Int, got: Int) {
        #expect(RecentOutcomes(outcomesMax: asked).outcomesMax == got)
    }
}
