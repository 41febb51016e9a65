// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
import GatewayCore

/// Puts other records in the place of those that name sessions which are being forgotten, and erases their messages.
///
/// Each step can be cut off and done again: a record that stands for one is stored before the message is erased, and looked for before
/// it is stored again. Its calls block.
struct LogSweep {
    /// The result of a sweep.
    typealias Swept = LogForgetting.Swept

    private static let messagesPerQuestionMax = 256
    private static let bytesPerQuestionMax = 8 * 1_048_576

    let connection: NATSConnection
    let names: LogNames

    private var stream: String { self.names.forgottenStream }

    /// Puts other records in the place of all that name sessions that are being forgotten.
    ///
    /// - Parameters:
    ///   - orders: the pending ones.
    ///   - progress: told which record of how many was looked at.
    /// - Returns: the number of records that were replaced, and how far it looked.
    /// - Throws: where it has to be done again.
    func run(
        _ orders: [ForgettingOrder],
        progress: (UInt64, UInt64) -> Void
    ) throws(NATSError) -> Swept {
        var swept = Swept()
        for lane in Lane.acknowledgementLanes { try self.sweep(lane, orders, &swept, progress) }
        try self.sweepStandIns(orders, &swept)
        return swept
    }

    /// How many records name a session.
    func count(_ session: SessionID) throws(NATSError) -> Int {
        let order = ForgettingOrder(
            hash: 0,
            number: 0,
            at: Timestamp(microseconds: 0),
            names: SessionPseudonyms(of: session).names
        )
        var streams: [(stream: String, subject: String, filter: String?)] = Lane.acknowledgementLanes.map {
            (self.names.stream(of: $0), self.names.subject(of: $0), nil)
        }
        if try self.connection.hasForgottenStream(self.names) {
            streams.append((self.stream, self.names.forgotten.all, self.names.forgotten.standIns))
        }
        var count = 0
        for (stream, subject, filter) in streams {
            let last = try PatientCall.answered { () throws(NATSError) in
                try self.connection.facts(of: stream, subject: subject).lastSequence
            }
            // Not the first message, which is no record.
            try self.forEachMessage(of: stream, from: 2, through: last, on: filter) { message throws(NATSError) in
                if try self.names(in: message, [order]) != nil { count += 1 }
            }
        }
        return count
    }

    private func sweep(
        _ lane: Lane,
        _ orders: [ForgettingOrder],
        _ swept: inout Swept,
        _ progress: (UInt64, UInt64) -> Void
    ) throws(NATSError) {
        let stream = self.names.stream(of: lane)
        let last = try PatientCall.answered { () throws(NATSError) in
            try self.connection.facts(of: stream, subject: self.names.subject(of: lane)).lastSequence
        }
        let places = LanePlaces(
            try PatientCall.answered { () throws(NATSError) in
                try LogCluster(self.connection, names: self.names).identity()
            },
            of: lane
        )
        swept.heads[lane] = places.offset(of: last)
        // The first message is the record of the identity.
        try self.forEachMessage(of: stream, from: 2, through: last) { found throws(NATSError) in
            progress(found.sequence - 1, last - 1)
            var message = found
            message.time = places.storedFirst(found)
            guard try self.names(in: message, orders) != nil else { return }
            try PatientCall.answered { () throws(NATSError) in
                try self.storeStandIn(for: message, of: lane, orders, &swept)
                try self.connection.erase(message.sequence, of: stream)
            }
            swept.records += 1
        }
    }

    /// Stores the record that stands for one, unless that is there already.
    private func storeStandIn(
        for message: StreamMessage,
        of lane: Lane,
        _ orders: [ForgettingOrder],
        _ swept: inout Swept
    ) throws(NATSError) {
        let subject = self.names.forgotten.standIn(for: message.sequence, of: lane)
        while true {
            // Another session in it may have been forgotten before: then that record goes on.
            let standing = try self.connection.last(on: subject, of: self.stream)
            let base = standing ?? message
            guard let found = try self.names(in: base, orders) else { return }
            do throws(NATSError) {
                swept.note(standIn: try self.store(found, in: base, on: subject, after: standing?.sequence ?? 0))
                return
            } catch {
                guard error.isAnotherSequence else { throw error }
            }
        }
    }

    private func store(
        _ renamed: Renamed,
        in base: StreamMessage,
        on subject: String,
        after last: UInt64
    ) throws(NATSError) -> UInt64 {
        var headers = [
            (StandInHeader.expectedLast, "\(last)"), (StandInHeader.order, "\(max(renamed.number, base.standIn ?? 0))"),
            (StandInHeader.time, base.time),
        ]
        if let append = base.append { headers.append((AppendHeader.name, append)) }
        return try self.connection.store(renamed.group.encoded(), headers: headers, on: subject, in: self.stream)
    }

    /// The group of a record with other names, and the newest order that it follows.
    private typealias Renamed = (group: AcknowledgementGroup, number: UInt64)

    /// The group of a record with other names.
    ///
    /// - Returns: the group; `nil`: it names none of the sessions.
    private func names(
        in message: StreamMessage,
        _ orders: [ForgettingOrder]
    ) throws(NATSError) -> Renamed? {
        guard !message.bytes.isEmpty else { return nil }
        do throws(WireError) {
            let group = try AcknowledgementGroup(decoding: message.bytes)
            let sessions = try group.sessions()
            let found = orders.filter { order in sessions.contains { order.names?.areOf($0) ?? false } }
            guard let number = found.map(\.number).max(),
                let result = try group.forgetting(found.compactMap(\.names))
            else { return nil }
            return (result, number)
        } catch {
            throw .unusable("a record cannot be read (message \(message.sequence)): \(error) Run cuecast verify.")
        }
    }

    /// Records that stand for others may name a session that is forgotten later, and an interrupted sweep may have left older ones.
    private func sweepStandIns(_ orders: [ForgettingOrder], _ swept: inout Swept) throws(NATSError) {
        let last = try PatientCall.answered { () throws(NATSError) in
            try self.connection.facts(of: self.stream, subject: self.names.forgotten.all).lastSequence
        }
        var newest: [String: UInt64] = [:]
        let subjects = self.names.forgotten.standIns
        try self.forEachMessage(of: self.stream, from: 1, through: last, on: subjects) { message throws(NATSError) in
            guard let subject = message.subject else { return }
            swept.note(standIn: message.sequence)
            // The one before this, as it was before the first try: what a try that had no answer leaves must not be erased by the next one.
            let older = newest[subject]
            var isErased = false
            try PatientCall.answered { () throws(NATSError) in
                var base = message
                base.time = try self.connection.last(on: subject, of: self.stream)?.time ?? ""
                if let older { try self.connection.erase(older, of: self.stream) }
                guard let found = try self.names(in: base, orders) else { return }
                do throws(NATSError) {
                    swept.note(standIn: try self.store(found, in: base, on: subject, after: message.sequence))
                } catch {
                    // A newer one is there: it is looked at when reading comes by it.
                    guard error.isAnotherSequence else { throw error }
                }
                try self.connection.erase(message.sequence, of: self.stream)
                isErased = true
            }
            newest[subject] = isErased ? nil : message.sequence
            if isErased { swept.records += 1 }
        }
    }

    /// Reads messages in order, also while the server that answers is behind.
    private func forEachMessage(
        of stream: String,
        from first: UInt64,
        through last: UInt64,
        on subject: String? = nil,
        _ body: (StreamMessage) throws(NATSError) -> Void
    ) throws(NATSError) {
        var next = first
        while next <= last {
            let messages = try PatientCall.answered { () throws(NATSError) in
                try self.connection.messages(
                    from: next,
                    of: stream,
                    messagesMax: Self.messagesPerQuestionMax,
                    bytesMax: Self.bytesPerQuestionMax,
                    on: subject
                )
            }
            for message in messages where message.sequence <= last { try body(message) }
            guard let end = messages.last?.sequence else {
                // No more: a server that is behind is asked for what the leader has.
                guard try self.hasMore(of: stream, from: next, through: last, on: subject) else { return }
                PatientCall.pause()
                continue
            }
            next = end + 1
        }
    }

    /// Whether the leader has more messages than a server gave.
    private func hasMore(
        of stream: String,
        from next: UInt64,
        through last: UInt64,
        on subject: String?
    ) throws(NATSError) -> Bool {
        try PatientCall.answered { () throws(NATSError) in
            if let subject {
                let newest = try self.connection.last(on: subject, of: stream)?.sequence ?? 0
                return (next...last).contains(newest)
            }
            let deleted = try self.connection.deletedSequences(of: stream)
            return (next...last).contains { !deleted.contains($0) }
        }
    }
}

extension NATSConnection {
    /// Whether there is a stream about sessions that are forgotten: a log of an earlier version has none.
    func hasForgottenStream(_ names: LogNames) throws(NATSError) -> Bool {
        do throws(NATSError) {
            _ = try PatientCall.answered { () throws(NATSError) in
                try self.facts(of: names.forgottenStream, subject: names.forgotten.all)
            }
            return true
        } catch {
            guard case .noStream = error else { throw error }
            return false
        }
    }
}
#endif
