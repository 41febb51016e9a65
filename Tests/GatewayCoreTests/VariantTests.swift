// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import TestSupport
import Testing

/// Breaks with several lists of ads: who gets which, what is recorded, and what changes them.
@Suite(.suiteLimit)
struct VariantTests {
    typealias Condition = AudienceVariant.Condition

    private static func variant(
        _ name: String,
        _ conditions: [Condition],
        _ seconds: [Double],
        prefix: String
    ) -> AudienceVariant {
        let ads = Sample.advertisements(seconds).enumerated()
            .map { index, ad in
                var ad = ad
                ad.id = Sample.advertisementID("\(prefix)\(index)")
                return ad
            }
        return AudienceVariant(name: name, conditions: conditions, advertisements: ads)
    }

    private static let cars = Self.variant(
        "cars",
        [Condition(key: "device", values: ["car"])],
        [15, 15],
        prefix: "car"
    )
    private static let abroad = Self.variant(
        "abroad",
        [
            Condition(key: "region", values: ["de", "at"], isNegated: true),
            Condition(key: "device", values: ["phone"]),
        ],
        [30],
        prefix: "far"
    )

    private static func publish(
        _ variants: [AudienceVariant] = [Self.cars, Self.abroad],
        exact: Bool = false
    ) -> BroadcastRequest.Publish {
        var publish = Sample.publish(exact: exact)
        publish.variants = variants
        return publish
    }

    /// `b1` starts at 20, and was announced at 12; attributes count as joins state them.
    private func counter(_ publish: BroadcastRequest.Publish = Self.publish()) -> Counter {
        var counter = Counter {
            $0.audiences = AudiencePolicy(rules: [.init(streams: .every, joinKeys: ["device", "region"])])
        }
        _ = counter.desk.ask(.publish(publish), at: 0)
        counter.desk.tick(at: 12)
        return counter
    }

    private func ask(
        _ counter: inout Counter,
        _ kind: ListenerRequest.Kind,
        by session: UInt64 = 1,
        ticket: [UInt8] = [],
        at seconds: Double = 13
    ) throws -> Counter.Got {
        let request = ListenerRequest(id: 7, session: Sample.session(session), ticket: ticket, kind: kind)
        return try counter.ask(request.encoded(), id: 7, at: Sample.at(seconds))
    }

    /// The ticket of a session that joins with attributes.
    private func join(
        _ counter: inout Counter,
        _ attributes: [String: String],
        by session: UInt64 = 1,
        ticket: [UInt8] = [],
        at seconds: Double = 13
    ) throws -> [UInt8] {
        let join = ListenerRequest.Join(stream: Sample.stream, instance: Counter.instance, attributes: attributes)
        return try #require(try self.ask(&counter, .join(join), by: session, ticket: ticket, at: seconds).joined).ticket
    }

    private func batch(
        _ counter: inout Counter,
        by session: UInt64 = 1,
        ticket: [UInt8] = [],
        at seconds: Double = 13
    ) throws -> ListenerReply.Batch {
        let get = ListenerRequest.Kind.getBatch(.init(key: Sample.key()))
        return try #require(try self.ask(&counter, get, by: session, ticket: ticket, at: seconds).batch)
    }

    // MARK: - Rules

    @Test func `the first variant that fits counts, else default`() {
        let variants = [Self.cars, Self.abroad]
        let table: [([String: String], UInt32)] = [
            ([:], 0), (["device": "car"], 1), (["device": "car", "region": "us"], 1), (["device": "Car"], 0),
            (["device": "phone"], 2), (["device": "phone", "region": "de"], 0),
            (["device": "phone", "region": "us"], 2),
            (["region": "us"], 0),
        ]
        for (attributes, variant) in table { #expect(variants.choose(for: attributes) == variant, "\(attributes)") }
    }

    @Test func `the choice is that of a search by the words of the rule`() {
        var generator = SeededGenerator(for: "variants")
        let texts = ["a", "b", "c", "é", "e\u{301}"]
        for _ in 0..<2_000 {
            let variants = (0..<generator.number(0...6))
                .map { index in
                    let keys = Set((0..<generator.number(1...3)).map { _ in texts[generator.number(0...2)] })
                    let conditions = keys.map { key in
                        Condition(
                            key: key,
                            values: (0..<generator.number(1...3)).map { _ in texts[generator.number(0...4)] },
                            isNegated: generator.number(0...1) == 1
                        )
                    }
                    return AudienceVariant(name: "v\(index)", conditions: conditions, advertisements: [])
                }
            var attributes: [String: String] = [:]
            for key in texts.prefix(3) where generator.number(0...1) == 1 {
                attributes[key] = texts[generator.number(0...4)]
            }
            var expected: UInt32 = 0
            search: for (index, variant) in variants.enumerated() {
                for condition in variant.conditions {
                    var isThere = false
                    for value in condition.values
                    where attributes[condition.key].map({ Array($0.utf8) }) == Array(value.utf8) {
                        isThere = true
                    }
                    if isThere == condition.isNegated { continue search }
                }
                expected = UInt32(index + 1)
                break
            }
            #expect(variants.choose(for: attributes) == expected)
        }
    }

    @Test func `an ordinal says its variant and its place`() {
        for variant in 0..<UInt32(WireLimits.variantsPerBreakMax) {
            for place in [0, 1, WireLimits.advertisementsPerBreakMax - 1, 255] {
                let ordinal = AdOrdinal.of(place, in: variant)
                #expect(AdOrdinal.variant(of: ordinal) == variant && AdOrdinal.place(of: ordinal) == place)
                #expect(variant != 0 || ordinal == UInt32(place), "with one list the ordinal is the place")
            }
        }
        #expect(AdOrdinal.batch(from: AdOrdinal.of(1, in: 2), holds: AdOrdinal.of(1, in: 2)))
        #expect(!AdOrdinal.batch(from: AdOrdinal.of(1, in: 2), holds: AdOrdinal.of(0, in: 2)))
        #expect(!AdOrdinal.batch(from: 0, holds: AdOrdinal.of(0, in: 1)))
        #expect(WireLimits.advertisementsPerBreakMax <= 255, "the place in a delivery has one byte")
    }

    // MARK: - Attributes

    @Test func `only attributes that the policy names reach a ticket`() throws {
        let policy = try AudiencePolicy(text: "radio* token=plan,region join=device,region ; * join=device")
        let said = ["device": "car", "region": "fr", "plan": "gold", "age": "30"]
        func attributes(_ stream: String, _ granted: [String: String] = [:]) -> [String: String] {
            policy.attributes(
                of: ListenerRequest.Join(stream: Sample.stream(stream), instance: 0, attributes: said),
                granted: granted
            )
        }
        #expect(attributes("radio1") == ["device": "car", "region": "fr"], "a plan is taken from tokens only")
        #expect(
            attributes("radio1", ["plan": "free", "region": "de", "device": "tv"])
                == ["plan": "free", "region": "de", "device": "car"],
            "a token goes before the join, and only for its keys"
        )
        #expect(attributes("news", ["plan": "free"]) == ["device": "car"])
        #expect(AudiencePolicy().attributes(of: .init(stream: Sample.stream, instance: 0, attributes: said)) == [:])
    }

    @Test(arguments: [
        ("radio token=a token=b", "token is there twice"), ("radio join=a,", "the keys of join must be different"),
        ("radio join=a,a", "the keys of join must be different"), ("radio device", "'device' is not token= or join="),
        ("radio list=a", "'list=a' is not token= or join="), ("ra*dio join=a", "begins with the streams"),
        ("* join=" + (0...16).map { "k\($0)" }.joined(separator: ","), "the limit attributesMax is 16"),
        ("* join=" + String(repeating: "k", count: 129), "at most 128 bytes"),
        (String(repeating: "a;", count: 1_001), "the limit audienceRulesMax is 1000"),
    ])
    func `a wrong rule is refused with its fault`(text: String, fault: String) {
        let error = #expect(throws: StreamRuleFault.self) { try AudiencePolicy(text: text) }
        #expect(error?.description.contains(fault) == true, "\(error?.description ?? "")")
    }

    @Test func `as many rules, keys and bytes as the limits say are taken`() throws {
        let keys = (0..<16).map { "k\($0)" }.joined(separator: ",")
        #expect(try AudiencePolicy(text: "* join=\(keys)").rules[0].joinKeys.count == 16)
        #expect(try AudiencePolicy(text: "* join=" + String(repeating: "k", count: 128)).rules.count == 1)
        #expect(try AudiencePolicy(text: String(repeating: "a;", count: 1_000)).rules.count == 1_000)
    }

    // MARK: - Batches

    @Test func `each listener gets the ads of its variant, and its delivery and record name it`() throws {
        var counter = self.counter()
        let table: [(attributes: [String: String], ads: [String], variant: UInt32)] = [
            ([:], ["ad0", "ad1", "ad2"], 0), (["device": "car"], ["car0", "car1"], 1),
            (["device": "phone", "region": "us"], ["far0"], 2), (["device": "tv"], ["ad0", "ad1", "ad2"], 0),
        ]
        for (index, row) in table.enumerated() {
            let session = UInt64(index + 1)
            let ticket = try self.join(&counter, row.attributes, by: session)
            // The second request is read in place.
            for _ in 0..<2 {
                let batch = try self.batch(&counter, by: session, ticket: ticket)
                #expect(batch.advertisements.map(\.id.description) == row.ads && batch.skipped == 0)
                let token = try DeliveryToken(bytes: batch.delivery)
                #expect(token.variant == row.variant && token.first == 0)
            }
        }
        let deliveries = try counter.gathered.deliveries
        #expect(deliveries.map(\.variant) == table.map(\.variant))
        #expect(deliveries.map(\.first) == table.map { AdOrdinal.of(0, in: $0.variant) })
        #expect(counter.metrics.value(.deliveredAdvertisements) == 3 + 2 + 1 + 3)
    }

    @Test func `who comes late gets what can still be played of its variant`() throws {
        var counter = self.counter()
        let ticket = try self.join(&counter, ["device": "car"])
        let batch = try self.batch(&counter, ticket: ticket, at: 36)
        #expect(batch.advertisements.map(\.id.description) == ["car1"] && batch.skipped == 1)
        #expect(try counter.gathered.deliveries.map(\.first) == [AdOrdinal.of(1, in: 1)])
    }

    @Test func `a break without variants is as it was: no attribute is looked at`() throws {
        var counter = self.counter(Sample.publish())
        let ticket = try self.join(&counter, ["device": "car"])
        let batch = try self.batch(&counter, ticket: ticket)
        var other = self.counter(Sample.publish())
        #expect(batch == (try self.batch(&other)))
        #expect(try DeliveryToken(bytes: batch.delivery).variant == 0)
    }

    // MARK: - One variant for a session

    @Test func `a session keeps its variant when it joins again with other attributes`() throws {
        var counter = self.counter()
        let ticket = try self.join(&counter, ["device": "car"])
        let again = try self.join(&counter, ["device": "phone", "region": "us"], ticket: ticket, at: 14)
        #expect(try self.batch(&counter, ticket: again).advertisements.count == 2)
        // A gateway that was started anew knows nothing but the keys and the log.
        var restarted = self.counter()
        #expect(try self.batch(&restarted, ticket: again, at: 15).advertisements.count == 2)
        #expect(try self.batch(&restarted, ticket: ticket, at: 15).advertisements.count == 2)
    }

    @Test func `a session that lost its ticket keeps the variant that it was handed`() throws {
        var counter = self.counter()
        let ticket = try self.join(&counter, ["device": "car"])
        _ = try self.batch(&counter, ticket: ticket)
        let other = try self.join(&counter, ["device": "phone", "region": "us"], at: 14)
        #expect(try DeliveryToken(bytes: try self.batch(&counter, ticket: other, at: 15).delivery).variant == 1)
        #expect(try counter.gathered.deliveries.count == 1)
    }

    @Test func `a token that is renewed with other claims changes no variant`() throws {
        var counter = Counter {
            $0.tickets = TicketRule(protectedStreams: [.every], checksTokens: true)
            $0.audiences = AudiencePolicy(rules: [.init(streams: .every, tokenKeys: ["device"])])
        }
        counter.push = .free
        _ = counter.desk.ask(.publish(Self.publish()), at: 0)
        counter.desk.tick(at: 12)
        func ticket(_ device: String, _ earlier: [UInt8], at seconds: Double) throws -> SessionTicket? {
            let join = ListenerRequest.Join(stream: Sample.stream, instance: 0, token: "a.b.c", push: true)
            let request = ListenerRequest(id: 8, session: Sample.session(), ticket: earlier, kind: .join(join))
            let grant = ListenerGrant(
                streams: [.every],
                attributes: ["device": device, "email": "a@example.com"],
                until: Sample.at(seconds + 5)
            )
            let body = try counter.join(request.encoded(), .success(grant), at: Sample.at(seconds))
            guard case .joined(let joined) = body else { return nil }
            return SessionTicket(bytes: joined.ticket)
        }
        let first = try #require(try ticket("car", [], at: 13))
        #expect(first.attributes == ["device": "car"], "what no key names is in no ticket")
        let bytes = try #require(counter.handler.keys.ticket(first))
        // Its time is over: the token is renewed, and says something else.
        let renewed = try #require(try ticket("phone", bytes, at: 30))
        #expect(renewed.attributes == ["device": "car"] && renewed.fetchUntil == Sample.at(35))
        #expect(try ticket("phone", [], at: 31)?.attributes == ["device": "phone"], "a ticket that is not shown")
        var forged = bytes
        forged[forged.count - 1] ^= 1
        #expect(try ticket("phone", forged, at: 31)?.attributes == ["device": "phone"], "a ticket that is not ours")
    }

    // MARK: - Acknowledgements

    @Test func `an outcome is recorded with the ordinal of its variant's ad`() throws {
        var counter = self.counter()
        let ticket = try self.join(&counter, ["device": "car"])
        let delivery = try self.batch(&counter, ticket: ticket).delivery
        for _ in 0..<2 {
            let got = try counter.acknowledge([Counter.played("car1", at: 14)], delivery: delivery, at: 15)
            #expect(got.deferred?.outcomes == 1)
        }
        #expect(try counter.gathered.requests.map(\.ordinals) == [[AdOrdinal.of(1, in: 1)]], "a repeat is known")
    }

    @Test func `an outcome of another variant's ad is refused with the reason, by both readers`() throws {
        var counter = self.counter()
        let ticket = try self.join(&counter, ["device": "car"])
        let delivery = try self.batch(&counter, ticket: ticket).delivery
        for _ in 0..<2 {
            let refusal = try counter.acknowledge([Counter.played("ad0", at: 14)], delivery: delivery, at: 15).refusal
            #expect(refusal?.status == .deliveryInvalid)
            #expect(
                refusal?.sentence
                    == "The advertisement ad0 is one of the variant default, and this delivery is of the variant cars."
            )
            let unknown = try counter.acknowledge([Counter.played("no", at: 14)], delivery: delivery, at: 15).refusal
            #expect(unknown == Refusal(.notFound, "The break b1 has no advertisement no."))
        }
        #expect(try counter.gathered.requests.isEmpty)
    }

    @Test func `a delivery of a variant that the break does not have is refused`() throws {
        var counter = self.counter()
        let number = try #require(counter.desk["b1"]).number
        for (variant, isThere) in [(2, true), (3, false), (.max, false)] as [(UInt32, Bool)] {
            let delivery = Counter.delivery(of: number, variant: variant, at: 13).bytes
            let got = try counter.acknowledge([Counter.played("far0", at: 14)], delivery: delivery, at: 15)
            #expect((got.deferred != nil) == isThere && (got.refusal?.status == .deliveryInvalid) == !isThere)
        }
    }

    @Test func `one id in two variants is two advertisements`() throws {
        var cars = Self.cars
        cars.advertisements[1].id = Sample.advertisementID("ad0")
        var counter = self.counter(Self.publish([cars]))
        let number = try #require(counter.desk["b1"]).number
        for (variant, session) in [(0, 1), (1, 2)] as [(UInt32, UInt64)] {
            let delivery = Counter.delivery(to: Sample.session(session), of: number, variant: variant, at: 13).bytes
            let played = [Counter.played("ad0", at: 14)]
            let got = try counter.acknowledge(played, delivery: delivery, by: Sample.session(session), at: 15)
            #expect(got.deferred != nil)
        }
        #expect(try counter.gathered.requests.map(\.ordinals) == [[0], [AdOrdinal.of(1, in: 1)]])
    }

    // MARK: - Life of a break

    @Test func `a repeat has the same variants, and other ones are a conflict`() {
        var desk = Desk()
        #expect(desk.ask(.publish(Self.publish()), at: 0).word == "silently")
        #expect(desk.ask(.publish(Self.publish()), at: 1).word == "unchanged")
        #expect(
            desk.ask(.publish(Self.publish([Self.cars])), at: 1).refusal?.sentence.contains("another list of variants")
                == true
        )
        var cars = Self.cars
        cars.conditions[0].values = ["truck"]
        #expect(
            desk.ask(.publish(Self.publish([cars, Self.abroad])), at: 1).refusal?.sentence
                .contains("another variant cars") == true
        )
    }

    @Test func `variants change until the announcement, and ads and variants apart`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Self.publish()), at: 0)
        var update = BroadcastRequest.Update(key: Sample.key(), advertisements: Sample.advertisements([5]))
        #expect(desk.ask(.update(update), at: 1).word == "silently")
        #expect(desk["b1"]?.record.variants == [Self.cars, Self.abroad], "the variants stay")
        update = BroadcastRequest.Update(key: Sample.key())
        update.variants = [Self.cars]
        #expect(desk.ask(.update(update), at: 1).word == "silently")
        let each = try #require(desk["b1"])
        #expect(each.record.variants == [Self.cars] && each.record.advertisements.count == 1)
        #expect(each.summary.variants == ["cars"] && each.summary.ordinals == [0, 256, 257])
        #expect(each.info(at: Sample.at(1)).variants.map(\.name) == ["cars"])
        desk.tick(at: 12)
        #expect(desk.ask(.update(update), at: 13).word == "unchanged")
        update.variants = []
        #expect(desk.ask(.update(update), at: 13).refusal?.status == .wrongState)
    }

    @Test func `of an exact break each variant must fit`() {
        var desk = Desk()
        #expect(desk.ask(.publish(Self.publish(exact: true)), at: 0).word == "silently")
        let long = Self.variant("long", [Condition(key: "a", values: ["b"])], [31], prefix: "long")
        var publish = Self.publish([Self.cars, long], exact: true)
        publish.key = Sample.key("b2")
        publish.start = .after(.seconds(100))
        #expect(
            desk.ask(.publish(publish), at: 0).refusal?.sentence.contains("last advertisement of the variant long fits")
                == true
        )
    }

    @Test func `a snapshot keeps variants as they were published and as they are, and condensed ones`() throws {
        var desk = Desk()
        _ = desk.ask(.publish(Self.publish()), at: 0)
        for variants in [[Self.cars, Self.abroad], [Self.abroad], []] {
            var update = BroadcastRequest.Update(key: Sample.key())
            update.variants = variants
            _ = desk.ask(.update(update), at: 1)
            var record = try #require(desk["b1"]).record
            #expect(record.variants == variants)
            #expect(try BoardRecord(decoding: BoardRecord(offset: 1, breaks: [record]).encoded()).breaks == [record])
            record.condensed = true
            record.variants = record.variants.map(\.condensed)
            #expect(try BoardRecord(decoding: BoardRecord(offset: 1, breaks: [record]).encoded()).breaks == [record])
        }
        // The log itself comes to the same board.
        let groups = try desk.log.map { try BreakGroup(decoding: $0.encoded()) }
        #expect(groups == desk.log)
    }

    // MARK: - Signals

    @Test func `a publication with variants joins a signalled break that is not announced yet`() throws {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 100), at: 1)
        var publish = Self.publish()
        publish.start = .at(Sample.at(100))
        #expect(desk.ask(.publish(publish), at: 2).refusal == nil)
        #expect(desk.cued.count == 1 && desk.cued[0].record.variants == [Self.cars, Self.abroad])
    }

    @Test func `where listeners know its ads, a publication with variants is refused, also with the same ads`() throws {
        var desk = Cues.desk()
        _ = desk.ask(Cues.out(at: 100), at: 1)
        desk.tick(at: 95)
        var publish = Self.publish()
        publish.start = .at(Sample.at(100))
        publish.advertisements = desk.cued[0].record.advertisements
        let refusal = desk.ask(.publish(publish), at: 96).refusal
        #expect(refusal?.status == .breakOverlap && refusal?.sentence.contains("listeners know its ads") == true)
        publish.variants = []
        #expect(desk.ask(.publish(publish), at: 96).refusal == nil)
    }

    @Test func `a signal about a published break leaves its variants`() throws {
        var desk = Cues.desk()
        var publish = Self.publish()
        publish.start = .at(Sample.at(100))
        _ = desk.ask(.publish(publish), at: 1)
        #expect(desk.ask(Cues.out(at: 100), at: 2).refusal == nil)
        #expect(desk.cued.count == 1 && desk.cued[0].record.variants == [Self.cars, Self.abroad])
    }
}
