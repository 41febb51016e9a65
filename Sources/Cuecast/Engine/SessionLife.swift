// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How a session ends: what becomes of the readers of events, and what `start` throws.
enum SessionEnding: Hashable, Sendable {
    /// The app stopped it: its events end.
    case stopped
    /// Another session follows: readers of events get those of that session too.
    case replaced
    /// It could not begin: `start` throws the error, and readers of events wait for the next session.
    case failed(CuecastError)
}

/// Where a listening session is between the reading of its file and its end.
///
/// ```
/// reading ──begin──→ running ──stop──→ stopping ──coreStopped──→ closing ──fileClosed, closed──→ freeing ──freed──→ over
///    │  ╰─────────── begin, stop was asked ──↗  │                   │                              ↑
///    ╰── fileInUse, limitReached ───────────────┴── limitReached ───┴──────────────────────────────╯
/// ```
/// It decides and does nothing: each method tells the engine what to do. An event that comes too late changes nothing.
/// Each session is freed once: exactly one call answers that it is to be freed.
///
/// `Call` is what the app does before the session begins.
enum SessionLife<Call: Sendable>: Sendable {
    /// A session that has not begun.
    struct Reading: Sendable {
        /// The app's calls meanwhile, in their order.
        var calls: [Call] = []
        /// Whether `start` has not returned yet.
        var isStartAwaited = true
        /// The end that the app asked for, if it did.
        var ending: SessionEnding?
    }

    /// The parts of a begun session that others hold and have to release before it is over.
    struct Holdings: Hashable, Sendable {
        /// The numbers of the connections that have not said yet that they are closed.
        var connections: Set<Int> = []
        var isFileHeld = true

        var missing: [StopShortfall] {
            (self.connections.isEmpty ? [] : [.transport]) + (self.isFileHeld ? [.storage] : [])
        }
    }

    /// The journal reads its file.
    case reading(Reading)
    case running(Holdings)
    /// The app has asked for the end: the core tells what is known of open advertisements.
    case stopping(SessionEnding, Holdings)
    /// The core has stopped: connections and the file are waited for.
    case closing(SessionEnding, Holdings)
    /// Nothing is waited for, and the engine frees what belongs to the session.
    case freeing(SessionEnding)
    case over

    /// A session whose file is read now.
    init() { self = .reading(Reading()) }

    // MARK: Questions

    var isOver: Bool { if case .over = self { true } else { false } }

    /// Whether the file is the session's: the journal must be closed when the app drops the client.
    var isFileHeld: Bool {
        switch self {
        case .reading, .running, .stopping: true
        case .closing(_, let holdings): holdings.isFileHeld
        case .freeing, .over: false
        }
    }

    /// The state of the connection as far as it is known without a core.
    var connectionState: ConnectionState {
        switch self {
        case .reading(let reading): reading.ending == nil ? .idle : .stopping
        case .running, .stopping, .closing, .freeing: .stopping
        case .over: .stopped
        }
    }

    // MARK: Beginning

    /// `start` has waited long enough.
    ///
    /// - Returns: Whether it is to return now, before the session has begun.
    mutating func startWaitOver() -> Bool {
        guard case .reading(var reading) = self, reading.isStartAwaited else { return false }
        reading.isStartAwaited = false
        self = .reading(reading)
        return true
    }

    /// The app calls: before the session begins the call waits; of more than `callsMax` the latest are dropped.
    ///
    /// - Returns: Whether the session keeps the call from the core.
    mutating func keeps(_ call: Call, callsMax: Int) -> Bool {
        guard case .reading(var reading) = self else { return false }
        // An array that the state still held would be copied for each call.
        self = .over
        if reading.calls.count < callsMax { reading.calls.append(call) }
        self = .reading(reading)
        return true
    }

    /// The core's first step.
    enum Beginning: Sendable {
        /// It starts, and then makes up for the calls in their order.
        case start([Call])
        /// It stops: what the app did before is of no use.
        case stop
    }

    /// The file was read, or the session goes on without it.
    ///
    /// - Returns: What the core does first; `nil`: the session has begun or ended before.
    mutating func begin() -> Beginning? {
        guard case .reading(let reading) = self else { return nil }
        if let ending = reading.ending {
            self = .stopping(ending, Holdings())
            return .stop
        }
        self = .running(Holdings())
        return .start(reading.calls)
    }

    /// Another client has the file.
    ///
    /// - Returns: Whether the session is to be freed, because `start` throws the error; otherwise it goes on without a file.
    mutating func fileInUse(_ error: CuecastError) -> Bool {
        guard case .reading(let reading) = self, reading.isStartAwaited else { return false }
        self = .freeing(.failed(error))
        return true
    }

    // MARK: Connections

    /// A connection is about to be made.
    mutating func connecting(_ attempt: Int) {
        self.changeConnections { $0.insert(attempt) }
    }

    /// A connection said that it is closed.
    ///
    /// - Returns: Whether the session is to be freed.
    mutating func closed(_ attempt: Int) -> Bool {
        self.changeConnections { $0.remove(attempt) }
        return self.freesWhatIsClosed()
    }

    // MARK: Ending

    /// The app asks for the end.
    ///
    /// - Returns: Whether it is the first time: the limit counts from now, and the core is to stop.
    mutating func stop(_ ending: SessionEnding) -> Bool {
        switch self {
        case .reading(var reading) where reading.ending == nil:
            reading.ending = ending
            self = .reading(reading)
        case .running(let holdings): self = .stopping(ending, holdings)
        case .reading, .stopping, .closing, .freeing, .over: return false
        }
        return true
    }

    /// The core decides nothing more.
    ///
    /// - Returns: Whether the session is to be freed.
    mutating func coreStopped() -> Bool {
        switch self {
        case .running(let holdings): self = .closing(.stopped, holdings)
        case .stopping(let ending, let holdings): self = .closing(ending, holdings)
        case .reading, .closing, .freeing, .over: return false
        }
        return self.freesWhatIsClosed()
    }

    /// The journal has let go of the file.
    ///
    /// - Returns: Whether the session is to be freed.
    mutating func fileClosed() -> Bool {
        guard case .closing(let ending, var holdings) = self else { return false }
        holdings.isFileHeld = false
        self = .closing(ending, holdings)
        return self.freesWhatIsClosed()
    }

    /// A session that its limit ends.
    struct Shortfall: Hashable, Sendable {
        let missing: [StopShortfall]
        /// Whether the file is still being read: the journal is to be closed after that.
        let isReading: Bool
    }

    /// The session has had all the time that stopping may take.
    ///
    /// - Returns: What is not waited for any longer, where the session is to be freed; `nil`: it is not.
    mutating func limitReached() -> Shortfall? {
        switch self {
        case .reading(let reading):
            guard let ending = reading.ending else { return nil }
            self = .freeing(ending)
            return Shortfall(missing: [.storage], isReading: true)
        case .stopping(let ending, let holdings), .closing(let ending, let holdings):
            self = .freeing(ending)
            return Shortfall(missing: holdings.missing, isReading: false)
        case .running, .freeing, .over: return nil
        }
    }

    /// The session's resources are released.
    ///
    /// - Returns: How it ended; `nil`: it was not being freed.
    mutating func freed() -> SessionEnding? {
        guard case .freeing(let ending) = self else { return nil }
        self = .over
        return ending
    }

    private mutating func changeConnections(_ change: (inout Set<Int>) -> Void) {
        switch self {
        case .running(var holdings):
            change(&holdings.connections)
            self = .running(holdings)
        case .stopping(let ending, var holdings):
            change(&holdings.connections)
            self = .stopping(ending, holdings)
        case .closing(let ending, var holdings):
            change(&holdings.connections)
            self = .closing(ending, holdings)
        case .reading, .freeing, .over: break
        }
    }

    private mutating func freesWhatIsClosed() -> Bool {
        guard case .closing(let ending, let holdings) = self, holdings.missing.isEmpty else { return false }
        self = .freeing(ending)
        return true
    }
}

extension SessionLife: Equatable where Call: Equatable {}

extension SessionLife.Reading: Equatable where Call: Equatable {}

extension SessionLife.Beginning: Equatable where Call: Equatable {}
