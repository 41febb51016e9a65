// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import GatewayCore
internal import SystemSupport

extension EdgeLoop {
    /// Closes a connection because of what its peer did or did not do.
    func close(_ index: Int, _ reason: EdgeClosing) {
        let (address, label) = (self.connections.slots[index].address, self.label(of: index))
        self.connections.slots[index].events?.listener.lost(reason)
        self.noteUpgradeEnd(index, reason)
        self.noteHeaderEnd(index, reason)
        self.noteSessionEnd(index, reason)
        self.endWebSocket(index, reason)
        self.close(index)
        self.count(reason, peer: address, on: label)
    }

    func count(_ reason: EdgeClosing, peer: PeerAddress, on label: MetricLabel) {
        self.metrics.count(.connectionsClosed, reason.metricLabel)
        if let limit = reason.limit { self.metrics.count(.limitsHit, .limit(limit)) }
        self.delegate.report(.closed(reason, peer: peer, on: label))
    }

    /// Ends a connection; its slot is free for another one.
    func close(_ index: Int) {
        guard self.connections.slots[index].phase != .free else { return }
        self.answers.forget(index)
        while let subscription = self.connections.slots[index].subscriptions.last {
            self.unsubscribe(index, subscription.stream)
        }
        self.endTicks(index)
        self.noteUpgradeEnd(index, nil)
        self.noteHeaderEnd(index, nil)
        self.noteSessionEnd(index, nil)
        self.endWebSocket(index, nil)
        self.endSession(index)
        System.close(self.connections.slots[index].descriptor)
        let address = self.connections.slots[index].address
        if self.connections.slots[index].shared != nil { self.shared.leave(address, at: self.now) }
        self.hold(-self.connections.slots[index].bytesHeld)
        let (label, events) = (self.label(of: index), self.connections.slots[index].events)
        self.connections.remove(index)
        guard let events else { return self.shared.counting.ended(on: label) }
        // It counts for as long as its listener is kept.
        events.listener.lost(nil)
    }

    func label(of index: Int) -> MetricLabel {
        self.connections.slots[index].events != nil
            ? .events : self.shared.endpoints[Int(self.connections.slots[index].endpoint)].label
    }

    /// Ends the subscriptions to streams that a connection may not hear any more; a joined session loses its connection.
    ///
    /// A listener that another server accepted is looked at where its leases are.
    func lookAtRules(_ index: Int) {
        guard self.connections.slots[index].events == nil else { return }
        for each in self.connections.slots[index].subscriptions
        where !self.delegate.mayHear(each.stream.id, each.session, each.proof) {
            guard each.session == nil else { return self.close(index, .expired) }
            self.unsubscribe(index, each.stream)
        }
    }

    /// So many bytes more are kept for connections, or less.
    func hold(_ change: Int) {
        guard change != 0 else { return }
        self.shared.hold(change, in: self.number)
        if change > 0 { self.boundBytes() }
    }

    /// Closes the connections with the most waiting bytes while all together hold too much.
    ///
    /// Where the connections of another loop hold more than those of this one, that loop closes them.
    func boundBytes() {
        while let loop = self.shared.whoHoldsTooMuch() {
            guard loop == self.number else { return self.shared.inboxes[loop].boundBytes() }
            guard
                let largest = self.connections.places.max(by: {
                    self.connections.slots[$0].bytesHeld < self.connections.slots[$1].bytesHeld
                }),
                self.connections.slots[largest].bytesHeld > 0
            else { return }
            self.close(largest, .memory)
        }
    }
}
