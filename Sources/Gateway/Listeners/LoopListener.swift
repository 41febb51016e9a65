// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Edge
import GatewayCore
import GatewayDocuments
import SystemSupport

/// A reader of notices whose connection a loop of the edge serves.
///
/// The hub knows why it ends; the loop writes what it gets, and tells when its peer has gone.
final class LoopListener: EventListener {
    private let reader: NoticeReader
    private let hub: NoticeHub

    /// - Parameters:
    ///   - reader: handed over.
    ///   - hub: knows it.
    init(_ reader: NoticeReader, of hub: NoticeHub) {
        self.reader = reader
        self.hub = hub
    }

    var stream: StreamID { self.reader.stream }
    var address: PeerAddress { self.reader.address }

    func begin(_ connection: EventConnection) -> EventBeginning {
        guard let begun = self.reader.begin(connection) else { return .ended(self.lastEvent) }
        self.hub.moveToLoop(self.reader)
        return .events(begun.notices.map { $0.encoded(ListenerEventText.notice) }, last: begun.last)
    }

    func lost(_ reason: EdgeClosing?) {
        self.reader.leaveLoop()
        self.hub.end(self.reader, NoticeReaderEnd(reason))
    }

    func dropped() -> [UInt8] {
        self.hub.end(self.reader, .stopping)
        return self.lastEvent
    }

    private var lastEvent: [UInt8] { ListenerEventText.end(self.reader.end ?? .stopping) }
}

extension NoticeReaderEnd {
    /// - Parameter closing: why a loop closed the connection; `nil`: its peer is gone.
    fileprivate init(_ closing: EdgeClosing?) {
        self =
            switch closing {
            case .stalled: .stalled
            case .slow, .memory: .slow
            default: .gone
            }
    }
}
