// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Every state of a break with everything that can be asked of it.
@Suite(.suiteLimit)
struct BreakLifecycleTests {
    /// A break `b1` in some state, and the time at which it is looked at, in seconds.
    enum State: String, CaseIterable, Sendable {
        /// Starts at 20, ends at 50, is announced at 12.
        case scheduled
        /// Its announcement is due and not recorded yet.
        case due
        /// Its end is over and it was never announced.
        case overdue
        case announced
        case live
        /// Has no duration: ends at 320 at the latest.
        case openEnded
        /// Its end, set early, is still ahead, at 40.
        case ending
        case ended
        case complete
        /// Held until 1,800.
        case cued
        /// Its hold is over and that is not recorded yet.
        case cuedOverdue
        case notStarted
        /// Starts at 7, ends at 37.
        case punched
        case preStream
        case preStreamOver
        case cancelled
        /// Cancelled before anybody had heard of it.
        case withdrawn
        case expired
    }

    /// The requests about it.
    enum Request: String, CaseIterable, Sendable {
        case same
        case punch
        case start
        case duration
        case advertisements
        case nothingNew
        case endNow
        case endAt20
        case endAt45
        case endAt5000
        case cancel
        /// By 100 s, from the start that it has.
        case postpone
        /// By 100 s to the start that it has: it was done already.
        case postponed
        /// By 100 s from another start.
        case postponeOther
        case announce
        case announceOther
        case expire
        case expireOther
    }

    /// Rows are states, columns requests.
    ///
    /// `a`, `u`, `e`, `c`: the listeners are told that it is available, updated, ended,
    /// cancelled; `s`: it changes and they are not told; `.`: it was so already; `W`: WRONG_STATE, `I`: INVALID,
    /// `C`: CONFLICT.
    private static let table = """
                       same punch start duration advertisements nothingNew endNow endAt20 endAt45 endAt5000 cancel announce announceOther expire expireOther postpone postponed postponeOther
        scheduled      .    W     s     s        s              .          W      W       W       W         s      .        .             .      .      s        .         C
        due            .    W     s     a        a              .          W      W       W       W         s      a        .             .      .      s        .         C
        overdue        .    W     s     a        W              .          W      W       W       W         s      s        .             s      .      s        .         C
        announced      .    W     u     u        W              .          W      W       e       I         c      .        .             .      .      u        .         C
        live           .    W     W     u        W              .          e      W       e       I         c      .        .             .      .      W        .         W
        openEnded      .    W     W     u        W              .          e      W       e       I         c      .        .             .      .      W        .         W
        ending         .    W     W     u        W              .          e      W       I       I         c      .        .             .      .      W        .         W
        ended          .    W     W     W        W              W          .      .       .       .         W      .        .             .      .      W        W         W
        complete       .    W     W     W        W              W          W      W       W       W         W      .        .             .      .      W        W         W
        cued           .    u     W     u        W              .          W      W       W       W         c      .        .             .      .      W        W         W
        cuedOverdue    .    W     W     u        W              .          W      W       W       W         c      .        .             c      .      W        W         W
        notStarted     .    W     W     W        W              W          W      W       W       W         W      .        .             .      .      W        W         W
        punched        .    W     u     u        W              .          W      e       I       I         c      .        .             .      .      u        .         C
        preStream      .    W     I     u        W              .          e      e       e       I         c      .        .             .      .      I        I         I
        preStreamOver  .    W     W     W        W              W          W      W       W       W         W      .        .             .      .      W        W         W
        cancelled      .    W     W     W        W              W          W      W       W       W         .      .        .             .      .      W        W         W
        withdrawn      .    W     W     W        W              W          W      W       W       W         .      .        .             .      .      W        W         W
        expired        .    W     W     W        W              W          W      W       W       W         W      .        .             .      .      W        W         W
        """

    private static let words = [
        "a": "available", "u": "updated", "e": "ended", "c": "cancelled", "s": "silently", ".": "unchanged",
        "W": "WRONG_STATE", "I": "INVALID", "C": "CONFLICT",
    ]

    /// The board with the break in a state, and the time.
    private static func reach(_ state: State) throws -> (desk: Desk, now: Double) {
        var desk = Desk()
        var words: [String] = []
        func did(_ word: String) { words.append(word) }
        switch state {
        case .scheduled, .due, .overdue, .announced, .live, .complete, .ending, .ended, .cancelled, .withdrawn,
            .expired:
            did(desk.ask(.publish(Sample.publish()), at: 0).word)
        case .openEnded: did(desk.ask(.publish(Sample.publish(duration: nil)), at: 0).word)
        case .cued, .cuedOverdue, .notStarted, .punched: did(desk.ask(.publish(Sample.publish(start: nil)), at: 0).word)
        case .preStream, .preStreamOver:
            did(desk.ask(.publish(Sample.publish(start: nil, preStream: true)), at: 0).word)
        }
        let key = Sample.key()
        switch state {
        case .scheduled: return (desk, 1)
        case .due: return (desk, 15)
        case .overdue: return (desk, 60)
        case .withdrawn:
            did(desk.ask(.cancel(key), at: 1).word)
            #expect(words == ["silently", "silently"])
            return (desk, 2)
        case .expired:
            did(desk.tick(at: 60)[0].word)
            #expect(words == ["silently", "silently"])
            return (desk, 61)
        case .announced, .live, .openEnded, .complete, .ending, .ended, .cancelled: did(desk.tick(at: 12)[0].word)
        case .cued, .cuedOverdue, .notStarted, .punched, .preStream, .preStreamOver: break
        }
        switch state {
        case .announced: return (desk, 13)
        case .live, .openEnded: return (desk, 25)
        case .complete: return (desk, 60)
        case .ending:
            did(desk.ask(.end(.init(key: key, at: Sample.at(40))), at: 22).word)
            #expect(words.last == "ended")
            return (desk, 25)
        case .ended:
            did(desk.ask(.end(.init(key: key)), at: 22).word)
            #expect(words.last == "ended")
            return (desk, 25)
        case .cancelled:
            did(desk.ask(.cancel(key), at: 13).word)
            #expect(words.last == "cancelled")
            return (desk, 14)
        case .cued: return (desk, 5)
        case .cuedOverdue, .preStreamOver: return (desk, 1_801)
        case .notStarted:
            did(desk.tick(at: 1_800)[0].word)
            #expect(words.last == "cancelled")
            return (desk, 1_801)
        case .punched:
            did(desk.ask(.punch(.init(key: key, start: .after(.seconds(2)))), at: 5).word)
            #expect(words.last == "updated")
            return (desk, 6)
        case .preStream: return (desk, 5)
        default: throw Refusal(.notFound, "\(state) is not reached")
        }
    }

    /// The entry that a request becomes.
    ///
    /// Made by hand, so that the board decides, and not the planner before it.
    private static func entry(_ request: Request, on board: Board, at seconds: Double) throws -> BreakEntry {
        let now = Sample.at(seconds)
        let key = Sample.key()
        let each = try #require(board[key])
        let window = RequestWindow(from: now, by: now)
        func end(_ at: Double?) -> BreakEntry.Kind { .end(.init(key: key, at: at.map { Sample.at($0) })) }
        func postpone(_ seconds: Int) -> BreakEntry.Kind {
            let from = (each.record.start ?? now) + .seconds(seconds)
            return .postpone(
                .init(
                    request: .init(key: key, by: .seconds(100), from: from),
                    from: from,
                    announce: max(now, from + .seconds(92)),
                    window: window
                )
            )
        }
        let kind: BreakEntry.Kind =
            switch request {
            case .same: .publish(each.record.publish)
            case .punch:
                .punch(.init(key: key, start: .after(.seconds(30))), start: now + .seconds(30))
            case .start:
                .update(
                    .init(
                        request: .init(key: key, start: .after(.seconds(30))),
                        start: now + .seconds(30),
                        announce: now + .seconds(22),
                        window: window
                    )
                )
            case .duration: .update(.init(request: .init(key: key, duration: .seconds(45))))
            case .advertisements:
                .update(.init(request: .init(key: key, advertisements: Sample.advertisements([5]))))
            case .nothingNew:
                .update(.init(request: .init(key: key, advertisements: each.record.advertisements)))
            case .endNow: end(nil)
            case .endAt20: end(20)
            case .endAt45: end(45)
            case .endAt5000: end(5_000)
            case .cancel: .cancel(key)
            case .postpone: postpone(0)
            case .postponed: postpone(-100)
            case .postponeOther: postpone(1)
            case .announce: .announce(key, each.number, window: window)
            case .announceOther: .announce(key, BreakNumber(rawValue: 1), window: window)
            case .expire: .expire(key, each.number)
            case .expireOther: .expire(key, BreakNumber(rawValue: 1))
            }
        return BreakEntry(at: now, kind: kind)
    }

    private static func expected(_ state: State, _ request: Request) throws -> String {
        let rows = Self.table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let column = try #require(rows[0].firstIndex(of: request.rawValue))
        let row = try #require(rows.first { $0[0] == state.rawValue })
        return try #require(Self.words[row[column + 1]])
    }

    @Test(arguments: State.allCases, Request.allCases)
    func `a state and a request have one result`(state: State, request: Request) throws {
        var (desk, now) = try Self.reach(state)
        let before = desk.board
        let entry = try Self.entry(request, on: before, at: now)
        let expected = try Self.expected(state, request)
        #expect(before.trial(of: entry).word == expected, "a trial says what will be")
        #expect(desk.board == before, "a trial changes nothing")

        let result = desk.append([entry])[0]
        #expect(result.word == expected)

        let stream = try #require(desk.board.stream(Sample.stream))
        let old = try #require(before.stream(Sample.stream))
        if case .changed(let each, let notice?) = result {
            #expect(notice.position == Position(epoch: Sample.epoch, sequence: old.sequence + 1))
            #expect(desk.board.position(of: Sample.stream) == notice.position)
            #expect(stream.recent.suffix(.max) == old.recent.suffix(.max) + [notice])
            #expect(each.record.lastNotice == notice)
            #expect(notice.breakID == Sample.id("b1"))
            #expect(notice.start == each.record.start)
            #expect(notice.expires == each.over)
            #expect(notice.sent == entry.at)
            #expect(notice.endMode == each.record.endMode)
            #expect(notice.advertisementCount == each.record.advertisements.count)
        } else {
            #expect(stream.sequence == old.sequence, "only a notice takes a sequence")
            #expect(stream.recent == old.recent)
        }
        switch result {
        case .changed(let each, _): #expect(desk["b1"] == each)
        case .unchanged(let each):
            #expect(desk["b1"] == each)
            #expect(before[Sample.key()] == each)
        case .housekept, .activated, .list: Issue.record("no broadcaster asks for housekeeping, or for an ad list")
        case .refused(let refusal):
            #expect(desk["b1"] == before[Sample.key()])
            #expect(refusal.sentence.contains("b1"))
            #expect(refusal.sentence.hasSuffix("."))
        }
        // A repeated request changes nothing and has no notice.
        let again = desk.append([entry])[0]
        let twice = try #require(desk.board.stream(Sample.stream))
        #expect(twice.sequence == stream.sequence, "\(again)")
    }

    @Test(
        arguments: State.allCases,
        [
            "start", "duration", "pre_stream", "exact", "end_mode", "hold", "list of advertisements",
            "content of advertisement ad1",
        ]
    )
    func `the same id with other content is a conflict that names the field`(state: State, field: String) throws {
        var (desk, now) = try Self.reach(state)
        var publish = try #require(desk["b1"]).record.publish
        switch field {
        case "start": publish.request.start = .at(Sample.at(99))
        case "duration": publish.request.duration = .seconds(31)
        case "pre_stream": publish.request.preStream.toggle()
        case "exact": publish.request.exact.toggle()
        case "end_mode": publish.request.endMode = .finishAd
        case "hold": publish.request.hold = .seconds(77)
        case "list of advertisements": publish.request.advertisements.removeLast()
        default: publish.request.advertisements[1].trackers = []
        }
        let before = try #require(desk.board.stream(Sample.stream))
        // The wire lets no break be held that has a start: compared by the board alone.
        var board = desk.board
        let group = BreakGroup(entries: [BreakEntry(at: Sample.at(now), kind: .publish(publish))])
        let result = board.apply(group, offset: board.offset + 1)[0]
        guard case .refused(let refusal) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(refusal.status == .conflict)
        #expect(refusal.sentence == "The break b1 of the stream radio1 exists already with another \(field).")
        #expect(board.stream(Sample.stream) == before)
        desk.tick(at: now)
    }

    @Test func `a request about an unknown break is not found`() {
        var desk = Desk()
        let key = Sample.key()
        let requests: [BroadcastRequest.Kind] = [
            .punch(.init(key: key)), .update(.init(key: key, duration: .seconds(1))), .end(.init(key: key)),
            .cancel(key), .postpone(.init(key: key, by: .seconds(1), from: Sample.at(5))),
        ]
        for request in requests {
            #expect(desk.ask(request, at: 0).refusal?.status == .notFound)
        }
        _ = desk.ask(.publish(Sample.publish("other")), at: 0)
        for request in requests {
            #expect(desk.ask(request, at: 0).refusal?.status == .notFound)
        }
        #expect(desk.board.streamCount == 1)
        #expect(desk.log.count == 1, "what is refused is not recorded")
    }

    @Test func `a refused request makes no stream and no break`() {
        var board = Board(epoch: Sample.epoch)
        let entry = BreakEntry(at: Sample.t0, kind: .cancel(Sample.key()))
        #expect(board.apply(BreakGroup(entries: [entry]), offset: 1).map(\.word) == ["NOT_FOUND"])
        #expect(board.streamCount == 0)
        #expect(board.offset == 1)
        #expect(board.position(of: Sample.stream) == Position(epoch: Sample.epoch, sequence: 0))
    }
}
