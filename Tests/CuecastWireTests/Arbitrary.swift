// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport

// Random values of everything that crosses a socket, within the rules of the wire.

extension SeededGenerator {
    private mutating func text(_ alphabet: [Character], _ counts: ClosedRange<Int>) -> String {
        String(self.list(counts) { $0.pick(alphabet) })
    }

    /// An id as broadcasters may choose it; `.` and `..` are none.
    private mutating func chosenID() -> String {
        let text = self.text(Array("ABCXYZabcxyz0189._-"), 1...64)
        return [".", ".."].contains(text) ? "a" + text : text
    }

    mutating func streamID() -> StreamID {
        let text = self.chosenID()
        return must { () throws(WireError) in try StreamID(text) }
    }

    mutating func breakID() -> BreakID {
        let text = self.chosenID()
        return must { () throws(WireError) in try BreakID(text) }
    }

    mutating func key() -> BreakKey { BreakKey(stream: self.streamID(), id: self.breakID()) }

    mutating func advertisementID() -> AdvertisementID {
        must { () throws(WireError) in try AdvertisementID(self.text(Array("abz019 /-_äß€𝄞"), 1...32)) }
    }

    mutating func session() -> SessionID { SessionID(high: self.number(0...UInt64.max), low: self.next()) }

    /// With any code: what is read does not depend on it.
    mutating func signedDelivery() -> DeliveryToken {
        let code = AuthenticationCode(high: self.next(), low: self.next())
        return DeliveryToken(
            session: self.session(),
            breakNumber: BreakNumber(rawValue: self.number(0...UInt64.max)),
            variant: self.number(0...UInt32.max),
            first: self.number(0...UInt8.max),
            issued: self.timestamp(),
            key: KeyID(rawValue: self.number(0...UInt32.max))
        ) { _ in code }
    }

    mutating func delivery() -> DeliveryToken {
        if self.number(0...1) == 1 { return self.signedDelivery() }
        return DeliveryToken(
            session: self.session(),
            breakNumber: BreakNumber(rawValue: self.number(0...UInt64.max)),
            variant: self.number(0...UInt32.max)
        )
    }

    mutating func words() -> String { self.text(Array("abz019 \n\täß€𝄞\"\\<>,;"), 0...40) }

    mutating func url() -> String {
        self.pick(["http://", "https://", "HTTPS://"])
            + self.text(Array("abz019.-_/?&=[]{}%"), 1...40)
            .replacingLeadingSeparators()
    }

    mutating func timestamp() -> Timestamp { Timestamp(microseconds: self.number(Int64.min...Int64.max)) }

    mutating func milliseconds(_ range: ClosedRange<UInt32> = 0...UInt32.max) -> Duration {
        .milliseconds(self.number(range))
    }

    mutating func position() -> Position {
        Position(epoch: self.number(0...UInt64.max), sequence: self.number(0...UInt64.max))
    }

    mutating func window() -> RequestWindow { RequestWindow(from: self.timestamp(), by: self.timestamp()) }

    mutating func notice(_ kind: Notice.Kind? = nil, position: Position? = nil) -> Notice {
        let kind = kind ?? self.pick(Notice.Kind.allCases)
        var notice = Notice(
            position: position ?? self.position(),
            kind: kind,
            breakID: kind == .head ? nil : self.breakID(),
            start: self.maybe { $0.timestamp() },
            duration: self.maybe { $0.milliseconds() },
            window: self.maybe { $0.window() },
            expires: self.timestamp(),
            advertisementCount: Int(self.number(0...UInt32.max)),
            sent: self.timestamp(),
            preStream: self.bool(),
            exact: self.bool(),
            endMode: self.pick(EndMode.allCases),
            cancelReason: self.maybe { $0.pick(CancelReason.allCases) },
            trace: self.maybe { $0.trace() }
        )
        if kind == .head { notice.move = self.maybe { $0.move() } }
        return notice
    }

    mutating func move() -> Move {
        Move(
            within: self.milliseconds(0...WireLimits.moveMillisecondsMax),
            addresses: self.addresses(atMost: WireLimits.alternativesMax)
        )
    }

    /// No address comes twice.
    mutating func addresses(atMost most: Int) -> [PlayerAddress] {
        let schemes = PlayerAddress.Scheme.allCases
        return (0..<self.number(0...UInt32(most)))
            .compactMap { PlayerAddress("\(self.pick(schemes))://gw-\($0):\(self.number(UInt16(1)...UInt16.max))") }
    }

    mutating func trace() -> TraceContext {
        guard
            let trace = TraceContext(
                traceHigh: self.number(0...UInt64.max),
                traceLow: self.number(1...UInt64.max),
                span: self.number(1...UInt64.max)
            )
        else { preconditionFailure("the numbers are not zero") }
        return trace
    }

    mutating func noticeFrame() -> NoticeFrame {
        self.number(0...9) == 0
            ? .tick(SyncTick(instance: self.next(), counter: self.number(0...UInt64.max)))
            : .notice(self.notice(), stream: self.streamID())
    }

    mutating func advertisement(id: AdvertisementID? = nil) -> AdvertisementContent {
        var content = AdvertisementContent(
            id: id ?? self.advertisementID(),
            title: self.words(),
            text: self.words(),
            advertiser: self.words(),
            duration: self.milliseconds(1...WireLimits.advertisementDurationMillisecondsMax),
            skipOffset: self.maybe { $0.milliseconds() },
            media: self.list(1...3) {
                AdvertisementContent.MediaFile(
                    url: $0.url(),
                    type: $0.words(),
                    bitrateKilobitsPerSecond: $0.number(0...UInt32.max),
                    width: $0.number(0...UInt32.max),
                    height: $0.number(0...UInt32.max),
                    codec: $0.words(),
                    streaming: $0.bool()
                )
            },
            clickThroughURL: self.maybe { $0.url() } ?? "",
            banner: self.maybe {
                AdvertisementContent.Banner(
                    imageURL: $0.url(),
                    targetURL: $0.maybe { $0.url() } ?? "",
                    width: $0.number(0...UInt32.max),
                    height: $0.number(0...UInt32.max),
                    alternativeText: $0.words(),
                    type: $0.words()
                )
            },
            trackers: self.list(0...3) { $0.tracker() }
        )
        if self.bool() { content.supplements = self.supplements() }
        return content
    }

    mutating func tracker() -> AdvertisementContent.Tracker {
        AdvertisementContent.Tracker(
            event: "e" + self.words(),
            url: self.url(),
            offset: self.maybe { $0.milliseconds() }
        )
    }

    mutating func supplements() -> AdvertisementContent.Supplements {
        var supplements = AdvertisementContent.Supplements()
        supplements.universalIDs = self.list(0...2) { .init(registry: $0.words(), value: "v" + $0.words()) }
        supplements.adServingID = self.words()
        supplements.verifications = self.list(0...2) { random in
            var verification = AdvertisementContent.Verification(
                resources: random.list(1...2) { random in
                    var resource = AdvertisementContent.Verification.Resource(url: random.url())
                    resource.apiFramework = random.words()
                    resource.isExecutable = random.bool()
                    resource.type = random.words()
                    resource.isBrowserOptional = random.bool()
                    return resource
                }
            )
            verification.vendor = random.words()
            verification.parameters = random.words()
            verification.trackers = random.list(0...2) { $0.tracker() }
            return verification
        }
        supplements.icons = self.list(0...2) { random in
            var icon = AdvertisementContent.Icon(imageURL: random.url())
            icon.program = random.words()
            icon.type = random.words()
            (icon.width, icon.height) = (random.number(0...UInt32.max), random.number(0...UInt32.max))
            icon.xPosition = random.pick(["", "left", "right", "0", "99999"])
            icon.yPosition = random.pick(["", "top", "bottom", "17"])
            icon.offset = random.maybe { $0.milliseconds() }
            icon.duration = random.maybe { $0.milliseconds() }
            icon.alternativeText = random.words()
            icon.targetURL = random.maybe { $0.url() } ?? ""
            icon.trackers = random.list(0...2) { $0.tracker() }
            return icon
        }
        supplements.captions = self.list(0...2) { .init(url: $0.url(), type: $0.words(), language: $0.words()) }
        supplements.mezzanines = self.list(0...2) {
            .init(url: $0.url(), type: $0.words(), width: $0.number(0...UInt32.max))
        }
        return supplements
    }

    /// A list with no id twice.
    mutating func advertisements(_ counts: ClosedRange<Int> = 1...4) -> [AdvertisementContent] {
        let ids = Set(self.list(counts) { $0.advertisementID() }).sorted { $0.description < $1.description }
        return ids.map { self.advertisement(id: $0) }
    }

    mutating func delay() -> ListenerDelay {
        ListenerDelay(
            now: self.milliseconds(0...WireLimits.delayMillisecondsMax),
            max: self.milliseconds(0...WireLimits.delayMillisecondsMax)
        )
    }

    mutating func outcome() -> Outcome {
        let kind = self.pick(Outcome.Kind.allCases)
        return Outcome(
            advertisementID: self.advertisementID(),
            kind: kind,
            evidence: self.pick(Outcome.Evidence.allCases),
            reason: kind == .ignored ? self.pick(Outcome.Reason.allCases) : nil,
            heard: self.milliseconds(0...WireLimits.advertisementDurationMillisecondsMax),
            quartiles: self.number(0...4),
            muted: self.bool(),
            vastError: self.number(0...999),
            occurred: self.timestamp(),
            clicked: self.bool()
        )
    }

    mutating func listenerRequest() -> ListenerRequest {
        let kind: ListenerRequest.Kind =
            switch self.number(0...4) {
            case 0:
                .join(
                    ListenerRequest.Join(
                        stream: self.streamID(),
                        last: self.maybe { $0.position() },
                        instance: self.number(0...UInt64.max),
                        token: self.words(),
                        delay: self.delay(),
                        attributes: Dictionary(
                            self.list(0...4) { ($0.words(), $0.words()) },
                            uniquingKeysWith: { first, _ in first }
                        ),
                        client: self.words(),
                        push: self.bool()
                    )
                )
            case 1: .getBatch(ListenerRequest.GetBatch(key: self.key(), delay: self.delay()))
            case 2:
                .acknowledge(
                    ListenerRequest.Acknowledge(
                        key: self.key(),
                        delivery: self.bytes(0...WireLimits.deliveryBytesMax),
                        outcomes: self.list(1...5) { $0.outcome() }
                    )
                )
            case 3: .getTime
            default: .leave(self.streamID())
            }
        return ListenerRequest(
            id: self.number(0...UInt64.max),
            session: self.session(),
            ticket: self.bytes(0...WireLimits.ticketBytesMax),
            kind: kind
        )
    }

    mutating func refusal() -> Refusal {
        Refusal(
            self.pick(StatusCode.allCases.filter { $0 != .ok }),
            self.words(),
            retryAfter: self.milliseconds()
        )
    }

    mutating func batch() -> ListenerReply.Batch {
        ListenerReply.Batch(
            delivery: self.bytes(0...WireLimits.deliveryBytesMax),
            start: self.maybe { $0.timestamp() },
            duration: self.maybe { $0.milliseconds() },
            skipped: Int(self.number(0...UInt32.max)),
            endMode: self.pick(EndMode.allCases),
            exact: self.bool(),
            advertisements: self.advertisements()
        )
    }

    mutating func listenerReply() -> ListenerReply {
        let body: ListenerReply.Body =
            switch self.number(0...4) {
            case 0:
                .joined(
                    ListenerReply.Joined(
                        kind: self.pick(ListenerReply.Joined.Kind.allCases),
                        head: self.position(),
                        notices: self.list(0...5) { $0.notice() },
                        instance: self.next(),
                        headInterval: self.milliseconds(),
                        lease: self.milliseconds(),
                        ticket: self.bytes(0...WireLimits.ticketBytesMax),
                        pushed: self.bool(),
                        alternatives: self.addresses(atMost: WireLimits.alternativesMax)
                    )
                )
            case 1: .batch(self.batch())
            case 2: .acknowledged(recorded: Int(self.number(0...UInt32.max)))
            case 3: .done
            default: .refused(self.refusal())
            }
        return ListenerReply(requestID: self.number(0...UInt64.max), gatewayTime: self.timestamp(), body: body)
    }
}

extension String {
    /// A host must follow the scheme.
    fileprivate func replacingLeadingSeparators() -> String { "h" + self }
}

/// The output of a generator keeps the rules; if not, the generator is wrong.
func must<T>(_ make: () throws(WireError) -> T) -> T {
    do {
        return try make()
    } catch {
        preconditionFailure("the generator broke a rule: \(error)")
    }
}
