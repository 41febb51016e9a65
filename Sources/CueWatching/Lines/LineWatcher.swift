// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import NIOCore

/// The bounds of a ``LineWatcher``.
package struct LineWatcherLimits: Hashable, Sendable {
    /// The most connections at a time; one more is closed at once.
    package var connectionsMax = 16
    /// How long nothing may come on a connection; then it is closed, and its place is free (1 h).
    package var connectionIdleMax: Duration = .seconds(3_600)
    /// How long a kind of trouble with connections is not told again (10 min).
    package var complaintPeriod: Duration = .seconds(600)
    /// How often a file is looked at.
    package var fileLookInterval: Duration = .milliseconds(250)

    /// The default limits.
    package init() {}
}

/// Watches lines of an automation system: on a TCP port, or in a file that it writes.
package struct LineWatcher: Sendable {
    private static let bytesAtATime = 65_536

    private let lines: LineReader
    private let say: @Sendable (String) -> Void
    private let clock: WatchClock
    private let limits: LineWatcherLimits

    /// A watcher that does nothing yet.
    ///
    /// - Parameters:
    ///   - signals: Makes signals of lines.
    ///   - sender: Takes what is seen.
    ///   - say: Takes sentences about connections and files.
    ///   - watched: Is told when a line comes; `nil`: that is not told.
    ///   - clock: The time.
    ///   - limits: The bounds.
    package init(
        _ signals: LineSignals,
        sender: SignalSender,
        say: @escaping @Sendable (String) -> Void,
        watched: WatchedSource? = nil,
        clock: WatchClock = .system,
        limits: LineWatcherLimits = LineWatcherLimits()
    ) {
        self.lines = LineReader(signals, sender: sender, watched: watched)
        self.say = say
        self.clock = clock
        self.limits = limits
    }

    // MARK: - A port

    /// Takes connections until the task is cancelled.
    ///
    /// - Parameter server: The open port.
    package func run(_ server: LineServer) async {
        let places = ConnectionPlaces(max: self.limits.connectionsMax)
        let complaints = Complaints(self.limits.complaintPeriod, clock: self.clock, say: self.say)
        do {
            try await server.channel.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in connections {
                        guard await places.take() else {
                            await complaints.tell(
                                .refusedConnection,
                                "A connection is refused: \(self.limits.connectionsMax) are open (connectionsMax)."
                            )
                            // Closes it.
                            try? await connection.executeThenClose { _ in }
                            continue
                        }
                        group.addTask {
                            await self.read(connection, complaints)
                            await places.give()
                        }
                    }
                }
            }
        } catch {
            if !Task.isCancelled { self.say("The port cannot be listened at any more: \(error)") }
        }
    }

    private func read(_ connection: NIOAsyncChannel<Arrival, Never>, _ complaints: Complaints) async {
        var splitter = LineSplitter()
        do {
            try await connection.executeThenClose { inbound in
                for try await arrival in inbound {
                    guard case .bytes(let bytes, let moment) = arrival else {
                        let longest = self.limits.connectionIdleMax.inSecondsText
                        await complaints.tell(
                            .idleConnection,
                            "A connection is closed: nothing came for \(longest) (connectionIdleMax)."
                        )
                        return
                    }
                    await self.lines.take(splitter.take(bytes), atMilliseconds: moment)
                }
            }
        } catch {
            if !Task.isCancelled { await complaints.tell(.failedConnection, "A connection failed: \(error)") }
        }
        await self.finish(&splitter)
    }

    /// Takes a last line that has no end.
    private func finish(_ splitter: inout LineSplitter) async {
        if let last = splitter.finish() { await self.lines.take([last], atMilliseconds: self.clock.now()) }
    }

    // MARK: - A file

    /// Follows a file until the task is cancelled: what is written behind its end counts.
    ///
    /// A file that is cut, or another one of the same name, is read from its beginning. A file that could not be read for a while, or
    /// that was away, is read on from its place: its lines are not new.
    ///
    /// - Parameter path: The file; it need not be there yet.
    package func follow(_ path: String) async {
        var followed: FollowedFile?
        var splitter = LineSplitter()
        var isFirst = true
        var wasMissing = false
        var isBroken = false
        while !Task.isCancelled {
            do throws(CueRefusal) {
                if let file = followed, isBroken || file.isReplaced {
                    // What was written to it last is still there.
                    if !isBroken {
                        do throws(CueRefusal) {
                            try await self.read(file, &splitter)
                        } catch {
                            isBroken = true
                            self.say(error.sentence)
                        }
                    }
                    // It stays open until there is another one: it may come back.
                    let next = try FollowedFile(path, fromEnd: false)
                    if next.isSame(as: file) { next.goOn(from: file) } else { await self.finish(&splitter) }
                    file.close()
                    followed = next
                }
                isBroken = false
                if followed == nil { followed = try FollowedFile(path, fromEnd: isFirst && !wasMissing) }
                isFirst = false
                if let file = followed { try await self.read(file, &splitter) }
                wasMissing = false
            } catch {
                if !wasMissing { self.say("\(error.sentence) The watch waits for it.") }
                wasMissing = true
                // Where only the path is away, its file can still be read.
                if followed?.isReplaced == false { isBroken = true }
            }
            guard (try? await self.clock.sleep(self.limits.fileLookInterval)) != nil else { break }
        }
        followed?.close()
    }

    private func read(_ file: FollowedFile, _ splitter: inout LineSplitter) async throws(CueRefusal) {
        if file.isCut {
            file.rewind()
            await self.finish(&splitter)
        }
        while !Task.isCancelled {
            let bytes = try await ByteFile.read(file.descriptor, Self.bytesAtATime, name: file.path)
            guard !bytes.isEmpty else { return }
            await self.lines.take(splitter.take(bytes), atMilliseconds: self.clock.now())
        }
    }
}

/// Makes signals of the lines of all connections, one line after the other.
private actor LineReader {
    private var signals: LineSignals
    private let sender: SignalSender
    private let watched: WatchedSource?

    init(_ signals: LineSignals, sender: SignalSender, watched: WatchedSource?) {
        self.signals = signals
        self.sender = sender
        self.watched = watched
    }

    func take(_ pieces: [LineSplitter.Piece], atMilliseconds now: Int) async {
        if !pieces.isEmpty { self.watched?.heard(atMilliseconds: now) }
        // All at once, so that those of another connection do not come between.
        let seen = pieces.map { self.signals.observation(of: $0, atMilliseconds: now) }
        for each in seen { await self.sender.take(each) }
    }
}

/// Tells trouble with connections.
private actor Complaints {
    private var complaints: RareComplaints
    private let clock: WatchClock
    private let say: @Sendable (String) -> Void

    init(_ period: Duration, clock: WatchClock, say: @escaping @Sendable (String) -> Void) {
        self.complaints = RareComplaints(period: period)
        self.clock = clock
        self.say = say
    }

    func tell(_ kind: RareComplaints.Kind, _ sentence: String) {
        if let said = self.complaints.sentence(kind, sentence, atMilliseconds: self.clock.now()) { self.say(said) }
    }
}

/// Counts connections.
private actor ConnectionPlaces {
    private var free: Int

    init(max: Int) { self.free = max }

    func take() -> Bool {
        guard self.free > 0 else { return false }
        self.free -= 1
        return true
    }

    func give() { self.free += 1 }
}
