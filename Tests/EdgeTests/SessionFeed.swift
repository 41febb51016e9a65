// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ZMTP

/// The events of a session, with the bytes that they refer to.
enum Heard: Hashable {
    case greeted
    case ready
    case frame([UInt8], more: Bool)
    case ping([UInt8])
    case pong
    case subscribe([UInt8])
    case cancel([UInt8])
    case failed(ZMTPError)

    init?(_ event: Session.Event, in bytes: [UInt8]) {
        switch event {
        case .needsMore: return nil
        case .greeted: self = .greeted
        case .ready: self = .ready
        case .frame(let body, let more): self = .frame(Array(bytes[body]), more: more)
        case .ping(let context): self = .ping(Array(bytes[context]))
        case .pong: self = .pong
        case .subscribe(let topic): self = .subscribe(Array(bytes[topic]))
        case .cancel(let topic): self = .cancel(Array(bytes[topic]))
        case .failed(let error): self = .failed(error)
        }
    }
}

extension Session {
    /// Takes in a part of the peer's bytes, keeping in `kept` what is not whole.
    mutating func hear(_ part: some Collection<UInt8>, kept: inout [UInt8]) -> [Heard] {
        kept += part
        var heard: [Heard] = []
        var offset = 0
        while let event = Heard(self.next(in: kept.span, at: &offset), in: kept) {
            heard.append(event)
            if case .failed = event { break }
        }
        kept.removeFirst(offset)
        return heard
    }

    /// Takes in all of the peer's bytes at once.
    mutating func hear(_ bytes: [UInt8]) -> [Heard] {
        var kept: [UInt8] = []
        return self.hear(bytes, kept: &kept)
    }
}

/// The bytes of a peer until the handshake is done.
func opening(of type: SocketType, minor: UInt8 = 0) -> [UInt8] {
    let session = Session(type, minor: minor)
    return session.greeting + session.ready()
}
