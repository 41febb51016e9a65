// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

extension GatewayConversation {
    enum Effect: Sendable {
        /// Send a join with this proof, by `join`.
        case join(ConnectionMachine.Proof)
        /// The gateway answered a join: what the next run of the app must know has changed.
        case joined
        /// Apply these notices, in order. Those of a snapshot are all open breaks; `isFirst`: no join was answered before.
        case notices([Notice], isSnapshot: Bool, isFirst: Bool)
        /// The reply to a request that was sent by `ask`.
        case answered(RequestTable.Purpose, ListenerReply.Body)
        /// No reply came to it in time.
        case unanswered(RequestTable.Purpose)
        /// The connection that it went to is gone.
        case abandoned(RequestTable.Purpose)
    }
}

extension PositionFollower.Loss {
    var published: PositionLoss {
        switch self {
        case .gap: .gap
        case .epoch: .newEpoch
        case .inconsistentAnswer: .inconsistentAnswer
        }
    }
}

extension ListenerReply.Joined {
    var published: JoinResult {
        switch self.kind {
        case .current: .current
        case .recovered: .recovered(notices: self.notices.count)
        case .snapshot: .snapshot(openBreaks: self.notices.count)
        }
    }
}
