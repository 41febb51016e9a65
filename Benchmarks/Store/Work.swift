// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Records of acknowledgements as a log holds them, the same rows as `baselines/rows.h` makes.
///
/// Breaks are on air a few at a time, each with the same number of sessions, which acknowledge three advertisements each with
/// one request. Requests of the breaks on air come in turn, their sessions in no order: session ids are random.
struct Work {
    static let outcomesPerRequest = 3
    private static let breaksOnAir = 8
    private static let sessionsPerBreak = 9_000

    /// The number of the first break that nothing was made for.
    private(set) var nextBreak: UInt64
    /// How many requests were made.
    private(set) var requests = 0
    private var inWave = 0

    init(nextBreak: UInt64) {
        self.nextBreak = nextBreak
    }

    /// Leaves the breaks on air, so that what follows is about others.
    mutating func beginBreaks() {
        guard self.inWave > 0 else { return }
        self.nextBreak += UInt64(Self.breaksOnAir)
        self.inWave = 0
    }

    /// Everything of one break, for a fill.
    mutating func wave(_ offset: UInt64) -> LoggedRecord {
        var group = GatheredGroup()
        for session in 0..<Self.sessionsPerBreak { self.add(self.nextBreak, session, to: &group) }
        self.nextBreak += 1
        self.requests += Self.sessionsPerBreak
        return LoggedRecord(offset: offset, bytes: group.encoded())
    }

    /// The next requests, in turn of the breaks on air.
    mutating func group(_ offset: UInt64, requests: Int) -> LoggedRecord {
        var group = GatheredGroup()
        for _ in 0..<requests {
            let number = self.nextBreak + UInt64(self.inWave % Self.breaksOnAir)
            self.add(number, self.inWave / Self.breaksOnAir, to: &group)
            self.inWave += 1
            self.requests += 1
            if self.inWave == Self.breaksOnAir * Self.sessionsPerBreak { self.beginBreaks() }
        }
        return LoggedRecord(offset: offset, bytes: group.encoded())
    }

    private func add(_ number: UInt64, _ index: Int, to group: inout GatheredGroup) {
        let high = Self.mixed(Self.mixed(number << 32 ^ UInt64(index)))
        let low = Self.mixed(high)
        let session = SessionID(high: high.byteSwapped, low: low.byteSwapped)
        let choice = Self.mixed(low)
        let at = Timestamp(microseconds: 1_790_000_000_000_000 + Int64(number) * 1_000_000 + Int64(index))
        let outcomes = (0..<Self.outcomesPerRequest)
            .compactMap { ordinal -> Outcome? in
                guard let id = try? AdvertisementID("campaign-4711-spot-\(ordinal)") else { return nil }
                let percent = (choice >> UInt64(16 * ordinal) & 0xFFFF) * 100 / 65_536
                let kind: Outcome.Kind = percent < 70 ? .played : percent < 95 ? .ignored : .failed
                return Outcome(
                    advertisementID: id,
                    kind: kind,
                    reason: kind == .ignored ? .user : nil,
                    heard: kind == .played ? .seconds(30) : .zero,
                    quartiles: kind == .played ? 4 : 0,
                    vastError: kind == .failed ? 400 : 0,
                    occurred: at
                )
            }
        guard let stream = try? StreamID("radio-example-1"), let id = try? BreakID("break-\(number)") else { return }
        let request = ListenerRequest(
            id: UInt64(index + 1),
            session: session,
            kind: .acknowledge(
                ListenerRequest.Acknowledge(
                    key: BreakKey(stream: stream, id: id),
                    delivery: DeliveryToken(session: session, breakNumber: BreakNumber(rawValue: number)).bytes,
                    outcomes: outcomes
                )
            )
        )
        group.accept(
            request.encoded(),
            received: at,
            breakNumber: BreakNumber(rawValue: number),
            ordinals: (0..<UInt32(Self.outcomesPerRequest)).map { $0 }
        )
    }

    /// splitmix64.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
