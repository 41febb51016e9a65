// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// Does one operation of a hot path many times, so that a counter of instructions can be held against it.
///
/// `Microbenchmarks OPERATION COUNT...` prints for each count how long one took, and without arguments the operations, one a line.
/// What gates are the instructions and allocations that `Benchmarks/instructions.py` counts.
@main
struct Microbenchmarks {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let counts = arguments.dropFirst().compactMap { Int($0) }
        guard let operation = arguments.first.flatMap({ Operation(rawValue: $0) }), !counts.isEmpty,
            counts.count == arguments.count - 1, counts.allSatisfy({ $0 >= 0 })
        else {
            for operation in Operation.allCases { print(operation.rawValue) }
            return
        }
        let bench = try Bench(operation)
        for count in counts {
            let start = ContinuousClock.now
            try bench.measuredRounds(operation, count)
            print("\(operation.rawValue): \((ContinuousClock.now - start) / max(1, count)) each")
        }
    }
}

/// A hot path.
enum Operation: String, CaseIterable {
    case encodeNotice = "encode-notice"
    case decodeRequest = "decode-request"
    case answerBatch = "answer-batch"
    case acknowledge
    case repeated = "repeat"
    case signDelivery = "sign-delivery"
    case checkDelivery = "check-delivery"
    case checkTicket = "check-ticket"
    case project
    case update
    case updateGroup = "update-group"
    case publishAtNone = "publish-at-0"
    case publishAtMany = "publish-at-100000"
    case listAtMany = "list-at-100000"
    case choose = "choose-of-500"
    case chooseExactly = "choose-exactly-of-500"
}

/// Prepares the data of the operations before any of them is counted.
struct Bench {
    /// As many requests as a group of acknowledgements has at most.
    private static let group = 1_000
    /// As many updates as a group has while a burst of 500 goes through a gateway.
    private static let updatesInGroup = 25

    private let workload: Workload
    private let choosing = ChoosingWork()
    private let batchRequests: [[UInt8]]
    private let acknowledgements: [[UInt8]]
    /// The board for publications and lists: making one with a hundred thousand breaks takes longer than all rounds.
    private let board: Board

    init(_ operation: Operation) throws {
        let workload = try Workload()
        self.workload = workload
        self.batchRequests = (0..<Self.group).map { workload.batchRequest($0) }
        self.acknowledgements = try (0..<Self.group).map { try workload.acknowledgement($0) }
        self.board =
            switch operation {
            case .publishAtMany, .listAtMany: try Workload.crowd()
            default: Board(epoch: Workload.epoch)
            }
    }

    /// The counter of instructions finds it by its name.
    @inline(never)
    func measuredRounds(_ operation: Operation, _ count: Int) throws {
        switch operation {
        case .encodeNotice: self.encodeNotice(count)
        case .decodeRequest: try self.decodeRequest(count)
        case .answerBatch: self.answerBatch(count)
        case .acknowledge: self.acknowledge(count)
        case .repeated: self.answerRepeats(count)
        case .signDelivery: self.signDelivery(count)
        case .checkDelivery: self.checkDelivery(count)
        case .checkTicket: self.checkTicket(count)
        case .project: try self.project(count)
        case .update: try self.update(count, inGroupsOf: 1)
        case .updateGroup: try self.update(count, inGroupsOf: Self.updatesInGroup)
        case .publishAtNone, .publishAtMany: try self.publish(count)
        case .listAtMany: self.list(count)
        case .choose: self.choosing.choose(count, isExact: false)
        case .chooseExactly: self.choosing.choose(count, isExact: true)
        }
    }

    private func encodeNotice(_ count: Int) {
        guard let notice = self.workload.board[self.workload.key]?.record.lastNotice else { return }
        var bytes = 0
        for _ in 0..<count { bytes += NoticeFrame.notice(notice, stream: self.workload.stream).encoded().count }
        precondition(count == 0 || bytes > 0, "a notice has bytes")
    }

    private func decodeRequest(_ count: Int) throws {
        for index in 0..<count { _ = try ListenerRequest(decoding: self.batchRequests[index % Self.group]) }
    }

    private func answerBatch(_ count: Int) {
        var handler = self.workload.handler()
        let peer = PeerFacts(transport: "zeromq")
        for index in 0..<count {
            let answer = handler.handle(self.batchRequests[index % Self.group], from: peer, at: Workload.now).answer
            guard case .now(let reply) = answer, reply.tail.count > 100 else { preconditionFailure("no batch") }
            guard index % Self.group == Self.group - 1 else { continue }
            _ = handler.answered(handler.takeGroup().number, isDurable: true)
        }
    }

    /// Accepts, closes a group of a thousand, and makes the replies.
    private func acknowledge(_ count: Int) {
        var handler = self.workload.handler()
        let peer = PeerFacts(transport: "zeromq")
        var deferred: [ListenerRequestHandler.Deferred] = []
        for index in 0..<count {
            let answer = handler.handle(self.acknowledgements[index % Self.group], from: peer, at: Workload.now).answer
            guard case .afterGroup(let each) = answer else { preconditionFailure("not accepted: \(answer)") }
            deferred.append(each)
            guard index % Self.group == Self.group - 1 else { continue }
            let (number, group) = handler.takeGroup()
            precondition(group.encoded().count > 100 * Self.group, "a group holds its requests")
            for each in deferred { _ = handler.finish(each, isDurable: true, at: Workload.now) }
            // As if it had failed: what is forgotten is accepted again in the next round.
            _ = handler.answered(number, isDurable: false)
            deferred.removeAll(keepingCapacity: true)
        }
    }

    /// Answers acknowledgements that are durable already.
    private func answerRepeats(_ count: Int) {
        var handler = self.workload.handler()
        let peer = PeerFacts(transport: "zeromq")
        for request in self.acknowledgements { _ = handler.handle(request, from: peer, at: Workload.now) }
        _ = handler.answered(handler.takeGroup().number, isDurable: true)
        for index in 0..<count {
            let answer = handler.handle(self.acknowledgements[index % Self.group], from: peer, at: Workload.now).answer
            guard case .now = answer else { preconditionFailure("not known: \(answer)") }
        }
    }

    private func signDelivery(_ count: Int) {
        for index in 0..<count {
            let delivery = self.delivery(index)
            precondition(delivery.bytes.count == DeliveryToken.byteCount, "a delivery has bytes")
        }
    }

    private func delivery(_ index: Int) -> DeliveryToken {
        MessageKeys.fixed.delivery(
            to: self.workload.session(index),
            of: self.workload.number,
            first: 0,
            at: Workload.now
        )
    }

    /// Reads a delivery and finds that it is true.
    private func checkDelivery(_ count: Int) {
        let bytes = self.delivery(1).bytes
        let keys = MessageKeys.fixed
        for _ in 0..<count {
            guard let delivery = DeliveryToken(bytes.span, at: bytes.indices), keys.fault(of: delivery) == nil else {
                preconditionFailure("a delivery is true")
            }
        }
    }

    /// Decides about the ticket of a listener to a stream that asks for one.
    private func checkTicket(_ count: Int) {
        let keys = MessageKeys.fixed
        let session = self.workload.session(1)
        let ticket = SessionTicket(
            session: session,
            stream: self.workload.stream,
            fetchUntil: Workload.now,
            acknowledgeUntil: Workload.now,
            subject: "listener-4711@example",
            attributes: ["device": "phone", "region": "de-by"]
        )
        guard let bytes = keys.ticket(ticket) else { preconditionFailure("a ticket has bytes") }
        for _ in 0..<count {
            let head = try? TicketRule.check(
                bytes,
                at: bytes.indices,
                of: session,
                on: self.workload.stream,
                isProtected: true,
                for: .fetch,
                keys,
                at: Workload.now
            )
            precondition(head != nil, "a ticket is true")
        }
    }

    /// Turns a group of a thousand acknowledgements, as the log holds it, into rows; counted per acknowledgement.
    private func project(_ count: Int) throws {
        var handler = self.workload.handler()
        let peer = PeerFacts(transport: "zeromq")
        for request in self.acknowledgements { _ = handler.handle(request, from: peer, at: Workload.now) }
        let record = LoggedRecord(offset: 1, bytes: handler.takeGroup().group.encoded())
        for _ in 0..<(count / Self.group) {
            let posting = try LedgerPosting(record)
            precondition(posting.outcomes.count == Self.group * Workload.advertisementsInBreak, "rows are missing")
        }
    }

    /// Decides about an update of a break and applies it to the board, as often as a burst of them does.
    private func update(_ count: Int, inGroupsOf size: Int) throws {
        let planner = BroadcastPlanner(policy: BreakPolicy())
        let updates = (0..<Self.group).map { self.workload.update($0) }
        var board = self.workload.board
        for first in stride(from: 0, to: count, by: size) {
            let entries = try (first..<min(count, first + size))
                .map { index in
                    let request = try BroadcastRequest(decoding: updates[index % Self.group])
                    let plan = planner.plan(request, by: .anybody, on: board, at: Workload.now, listeners: 9_000)
                    guard case .append(let entry) = plan else { preconditionFailure("not planned: \(plan)") }
                    return entry
                }
            let served = board
            let results = board.apply(BreakGroup(entries: entries), offset: board.offset + 1)
            for result in results {
                guard case .changed(_, _?) = result else { preconditionFailure("no notice: \(result)") }
            }
            _ = served.offset
        }
    }

    /// Decides about a break, writes and reads its record, applies it, and has its timer wait; the board it is published on
    /// stays as large as it is.
    private func publish(_ count: Int) throws {
        let planner = BroadcastPlanner(policy: BreakPolicy())
        let timers = BreakTimers(policy: BreakPolicy())
        let requests = try (0..<Self.group).map { try Workload.publish($0) }
        var queue = TimerQueue(self.board)
        for index in 0..<count {
            let request = try BroadcastRequest(decoding: requests[index % Self.group])
            let plan = planner.plan(request, by: .anybody, on: self.board, at: Workload.now, listeners: 100)
            guard case .append(let entry) = plan else { preconditionFailure("not planned: \(plan)") }
            var next = self.board
            let group = try BreakGroup(decoding: BreakGroup(entries: [entry]).encoded())
            let results = next.apply(group, offset: self.board.offset + 1)
            guard case .changed(let each, nil)? = results.first else { preconditionFailure("not kept: \(results)") }
            queue.note(each)
            let due = queue.due(on: next, at: Workload.now, timers: timers) { _ in 100 }
            precondition(due.isEmpty && queue.next != nil, "nothing is due yet")
        }
    }

    /// A page from the middle of the list of all breaks.
    private func list(_ count: Int) {
        let mark = self.board.sortedStreams[self.board.streamCount / 2].sortedBreaks.first.map { BreakMark($0) }
        for _ in 0..<count {
            var infos: [BreakInfo] = []
            self.board.scan(after: mark) { each in
                infos.append(each.info(at: Workload.now))
                return infos.count < 100
            }
            precondition(infos.count == 100, "a page is full")
        }
    }
}
