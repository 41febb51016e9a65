// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of asking one ad server again and again.
package struct AdServerGateLimits: Hashable, Sendable {
    /// So many failures in a row, and a server is not asked for a while.
    package var adServerFailuresMax = 5
    /// How long it is not asked then.
    package var adServerPause: Duration = .seconds(60)
    /// The most requests to one server in a second, and at once.
    package var adServerRequestsPerSecondMax = 20
    /// The most servers that are remembered; the one that was asked longest ago is forgotten.
    package var adServersMax = 256
    /// The most questions at a time, but for those of one break: at the rate of one server the last of them waits 1 s.
    package var questionsAtOnceMax = 40

    package init() {}

    /// Takes the breaks that are asked about at a time from the beginning of a list.
    ///
    /// - Parameters:
    ///   - rest: the list.
    ///   - questions: how many questions there are about a break.
    /// - Returns: at least one break, unless the list is empty.
    package func next<Break>(_ rest: inout ArraySlice<Break>, questions: (Break) -> Int) -> [Break] {
        var part: [Break] = []
        var count = 0
        while let each = rest.first, part.isEmpty || count + questions(each) <= self.questionsAtOnceMax {
            part.append(each)
            count += questions(each)
            rest.removeFirst()
        }
        return part
    }
}

/// Decides whether an ad server is asked: not more often than it bears, and not while it fails (a circuit breaker).
///
/// After the pause one request is let through. If it fails too, the next pause begins.
package struct AdServerGate: Sendable {
    /// The answer to a request that is to be made.
    package enum Admission: Hashable, Sendable {
        case ask
        /// Ask after this time: others were asked just now.
        case wait(Duration)
        /// Do not ask: the server failed, and is left alone for this time yet.
        case paused(Duration)
    }

    private struct Server {
        var failures = 0
        var pausedUntil: Duration?
        /// The earliest moment of the next request, when all that were allowed came evenly.
        var next: Duration = .zero
        var asked: Duration = .zero
    }

    private let limits: AdServerGateLimits
    private var servers: [String: Server] = [:]

    package init(limits: AdServerGateLimits = AdServerGateLimits()) { self.limits = limits }

    /// Whether a server is asked now.
    ///
    /// - Parameters:
    ///   - server: its name and port.
    ///   - now: a time that only grows.
    /// - Returns: whether to ask, and how long to wait otherwise.
    package mutating func admission(to server: String, at now: Duration) -> Admission {
        var known = self.servers[server] ?? Server()
        if let until = known.pausedUntil {
            guard until <= now else { return .paused(until - now) }
            // One request finds out; others wait for it.
            known.pausedUntil = now + self.limits.adServerPause
        }
        let step = Duration.seconds(1) / max(self.limits.adServerRequestsPerSecondMax, 1)
        // A second's requests may come at once.
        let wait = known.next - now - .seconds(1) + step
        guard wait <= .zero else { return .wait(wait) }
        known.next = max(known.next, now) + step
        known.asked = now
        self.makeRoom(for: server)
        self.servers[server] = known
        return .ask
    }

    /// Takes the result of a request.
    ///
    /// - Parameters:
    ///   - server: its name and port.
    ///   - worked: whether it answered, with ads or without.
    ///   - now: a time that only grows.
    /// - Returns: whether a pause begins with it.
    package mutating func ended(_ server: String, worked: Bool, at now: Duration) -> Bool {
        guard var known = self.servers[server] else { return false }
        known.failures = worked ? 0 : known.failures + 1
        let pauses = known.failures >= self.limits.adServerFailuresMax
        known.pausedUntil = pauses ? now + self.limits.adServerPause : nil
        self.servers[server] = known
        return pauses
    }

    private mutating func makeRoom(for server: String) {
        guard self.servers[server] == nil, self.servers.count >= self.limits.adServersMax,
            let oldest = self.servers.min(by: { ($0.value.asked, $0.key) < ($1.value.asked, $1.key) })
        else { return }
        self.servers[oldest.key] = nil
    }
}
