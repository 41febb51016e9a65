// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Synchronization

/// Decides about broadcasters' requests as a gateway does, by the planner and a board, at once and without a log.
final class SignalDesk: Sendable {
    private struct State {
        var board = Board(epoch: 7)
        var offset: UInt64 = 0
        var now = Parts.now
    }

    private let planner: BroadcastPlanner
    private let state = Mutex(State())

    /// A desk with one ad list, which fills the breaks of every stream.
    init() throws {
        var policy = BreakPolicy()
        policy.announceAhead = .seconds(5)
        self.planner = BroadcastPlanner(policy: policy, cues: try CuePolicy(text: "* list=spots"))
        let ad = AdvertisementContent(
            id: AdvertisementID(unchecked: "a"),
            title: "A",
            duration: .seconds(30),
            media: [AdvertisementContent.MediaFile(url: "https://cdn.example.com/a.mp3", type: "audio/mpeg")]
        )
        let list = BroadcastRequest.PutList(name: try AdListName("spots"), advertisements: [ad])
        _ = self.answer(CheckedBroadcastRequest(BroadcastRequest(id: 1, kind: .putList(list))), by: .anybody)
    }

    var board: Board { self.state.withLock(\.board) }
    var now: Timestamp { self.state.withLock(\.now) }

    func advance(by duration: Duration) { self.state.withLock { $0.now = $0.now + duration } }

    func answer(_ request: CheckedBroadcastRequest, by principal: BroadcastPrincipal) -> BroadcastReply {
        self.state.withLock { state in
            let body = self.body(request, by: principal, &state)
            return BroadcastReply(requestID: request.asked.id, gatewayTime: state.now, changed: true, body: body)
        }
    }

    private func body(
        _ request: CheckedBroadcastRequest,
        by principal: BroadcastPrincipal,
        _ state: inout State
    ) -> BroadcastReply.Body {
        let read: BroadcastRequest
        switch request.read {
        case .success(let request): read = request
        case .failure(let error): return .refused(Refusal(error))
        }
        let now = state.now
        switch self.planner.plan(read, by: principal, on: state.board, at: now, listeners: 0) {
        case .answer(let body): return body
        case .append(let entry):
            state.offset += 1
            switch state.board.apply(BreakGroup(entries: [entry]), offset: state.offset)[0] {
            case .changed(let each, _), .unchanged(let each): return .break(each.info(at: now))
            case .list(let list, _): return .adList(list.info, [])
            case .refused(let refusal): return .refused(refusal)
            case .housekept, .activated: return .refused(Refusal(.unavailable, "This is not asked."))
            }
        }
    }
}
