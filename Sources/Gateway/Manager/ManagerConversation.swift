// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Decides the messages to a service manager and their order; `ServiceManager` sends them.
///
/// `starting → running ⇄ reloading`, and from each of them `→ stopping`, which is the end.
struct ManagerConversation: Equatable, Sendable {
    enum State: Equatable, Sendable {
        case starting
        case running
        case reloading
        case stopping
    }

    private(set) var state = State.starting
    /// The status that was sent last.
    private var status: String?

    /// The gateway takes requests.
    mutating func ready(_ status: String) -> [ManagerMessage] {
        guard self.state == .starting else { return [] }
        self.state = .running
        return [.ready] + self.status(status)
    }

    /// The configuration is read again; before the gateway is ready that is a part of its start.
    mutating func reloadBegan(at monotonic: UInt64, _ status: String) -> [ManagerMessage] {
        guard self.state == .running else { return [] }
        self.state = .reloading
        return [.reloading(since: monotonic)] + self.status(status)
    }

    /// It was read, or refused: either way the gateway runs on.
    mutating func reloadEnded(_ status: String) -> [ManagerMessage] {
        guard self.state == .reloading else { return [] }
        self.state = .running
        return [.ready] + self.status(status)
    }

    /// The gateway begins to stop.
    mutating func stopping(_ status: String, atMost duration: Duration) -> [ManagerMessage] {
        guard self.state != .stopping else { return [] }
        self.state = .stopping
        return [.stopping, .extendTimeout(duration)] + self.status(status)
    }

    /// The status has changed; the same one is not sent again.
    mutating func status(_ status: String) -> [ManagerMessage] {
        guard status != self.status else { return [] }
        self.status = status
        return [.status(status)]
    }

    /// A start or a stop takes long; while the gateway runs there is nothing to extend.
    func needsTime(_ duration: Duration) -> [ManagerMessage] {
        switch self.state {
        case .starting, .stopping: [.extendTimeout(duration)]
        case .running, .reloading: []
        }
    }
}
