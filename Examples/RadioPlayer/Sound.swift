// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Something that is heard: by a program that plays it, or, without one, only as time that passes.
///
/// Time goes on while it is muted, as on the air: it is heard again from where it is by then.
final class Sound {
    /// The name of one run of the program.
    struct Run: Hashable, Sendable {
        let sound: Int
        let number: Int
    }

    /// How a run of the program ended that was not stopped.
    enum End: Equatable {
        /// It played to the end.
        case done
        /// The program could not play it.
        case failed
    }

    /// How soon a program may end before it counts as one that cannot play a sound over and over.
    private let shortestLoop: Duration

    let number: Int
    private let address: String?
    private let program: PlayerProgram?
    private let loops: Bool
    private let ended: @Sendable (Run, _ isDone: Bool) -> Void
    private var running: RunningProgram?
    private var runs = 0
    /// The run whose end is awaited; `nil`: nothing is playing.
    private var awaited: Run?
    private var runBegan = ContinuousClock.now
    /// When it would have begun had it never paused, and where the program begins by that.
    private var began = ContinuousClock.now
    private var offset = ContinuousClock.now
    private var pausedAt: ContinuousClock.Instant?

    /// A sound that begins now, muted.
    ///
    /// - Parameters:
    ///   - number: tells it from others.
    ///   - address: a URL or the path of a file; `nil`: nothing to play.
    ///   - program: what plays it; `nil`: nothing.
    ///   - loops: whether it begins again at its end.
    ///   - shortestLoop: how soon its end counts as a failure, where it would begin again.
    ///   - ended: is told, from any thread, when a run of the program is over.
    init(
        number: Int,
        address: String?,
        program: PlayerProgram?,
        loops: Bool,
        shortestLoop: Duration = .seconds(1),
        ended: @escaping @Sendable (Run, _ isDone: Bool) -> Void
    ) {
        self.number = number
        self.address = address
        self.program = address.flatMap { address in program.flatMap { $0.canPlay(address) ? $0 : nil } }
        self.loops = loops
        self.shortestLoop = shortestLoop
        self.ended = ended
    }

    /// Whether a program plays it, when it is heard.
    var isReal: Bool { self.program != nil }

    /// How long it has lasted, pauses not counted.
    var elapsed: Duration { self.began.duration(to: self.pausedAt ?? .now) }

    /// Mutes it, or lets it be heard from where it is by now.
    func setHeard(_ isHeard: Bool) {
        if !isHeard {
            self.running?.stop()
            self.running = nil
            self.awaited = nil
        } else if self.running == nil {
            self.play()
        }
    }

    /// Pauses it, or lets it go on.
    ///
    /// - Returns: For how long it was paused, where it goes on.
    @discardableResult
    func setPaused(_ paused: Bool) -> Duration {
        self.running?.setPaused(paused)
        guard !paused else {
            self.pausedAt = self.pausedAt ?? .now
            return .zero
        }
        guard let pausedAt = self.pausedAt.take() else { return .zero }
        let pause = pausedAt.duration(to: .now)
        self.began += pause
        self.offset += pause
        return pause
    }

    /// A run of a program is over.
    ///
    /// - Returns: How this sound ended; `nil`: it goes on, or was stopped, or the run is another sound's.
    func runEnded(_ run: Run, isDone: Bool) -> End? {
        guard run == self.awaited else { return nil }
        self.awaited = nil
        self.running = nil
        guard isDone else { return .failed }
        guard self.loops else { return .done }
        guard self.runBegan.duration(to: .now) >= self.shortestLoop else { return .failed }
        self.offset = .now
        self.play()
        return nil
    }

    private func play() {
        guard let address = self.address, let program = self.program else { return }
        self.runs += 1
        let run = Run(sound: self.number, number: self.runs)
        let ended = self.ended
        self.runBegan = .now
        self.awaited = run
        do {
            self.running = try RunningProgram(program, playing: address, from: self.offset.duration(to: .now)) {
                isDone in
                ended(run, isDone)
            }
            if self.pausedAt != nil { self.running?.setPaused(true) }
        } catch {
            // It could not even start: the ad was not heard.
            self.running = nil
            ended(run, false)
        }
    }
}
