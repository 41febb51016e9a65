// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Draws the state: a pure function, so that a test can say what a listener sees.
enum Screen {
    /// The least and the most columns that are used; a wider terminal stays empty on the right.
    static let columns = 40...100

    /// The lines of the screen, none longer than `width`.
    static func lines(_ state: PlayerState, width: Int) -> [String] {
        let width = min(max(width, Self.columns.lowerBound), Self.columns.upperBound)
        var lines = [
            Self.sides("Cuecast radio player · \(state.stream)", state.connection, width),
            String(repeating: "─", count: width),
            Self.sides("♪ \(state.programme)", Self.programmeStatus(state), width),
            Self.sides(
                "  \(state.elapsed.clockText), \(Self.delayText(state.delay))",
                state.sound ?? "no sound",
                width
            ),
            "",
            Self.nextBreak(state.nextBreak),
            "",
        ]
        lines += state.playing.map { Self.advertisement($0, isMuted: state.isMuted, width) } ?? ["  no advertisement"]
        let tally = state.tally
        lines += [
            "",
            "played \(tally.played) · ignored \(tally.ignored) · failed \(tally.failed) · unconfirmed \(tally.unconfirmed)",
            state.message,
            "",
            Key.allCases.map { "\($0.rawValue) \($0.help)" }.joined(separator: "  "),
        ]
        return lines.map { Self.fitted($0, width) }
    }

    private static func programmeStatus(_ state: PlayerState) -> String {
        if state.playing != nil { return "muted for the break" }
        if state.isPaused { return "paused" }
        return state.isMuted ? "muted" : "on air"
    }

    private static func delayText(_ delay: Duration) -> String {
        delay == .zero ? "live" : "\(delay.countdownSeconds) s behind live"
    }

    private static func nextBreak(_ next: PlayerState.NextBreak?) -> String {
        guard let next else { return "Next break: none announced" }
        let time = next.countdown.map { "in \(max(0, $0.countdownSeconds)) s" } ?? "held until it is started"
        let count = next.advertisementCount == 1 ? "1 advertisement" : "\(next.advertisementCount) advertisements"
        return "Next break: \(next.id) \(time), \(count)\(next.isReady ? ", loaded" : "")"
    }

    private static func advertisement(_ playing: PlayerState.Playing, isMuted: Bool, _ width: Int) -> [String] {
        let left = max(.zero, playing.length - playing.heard).countdownSeconds
        let mark = playing.isPaused ? "‖" : "▶"
        var title = playing.title.isEmpty ? "(no title)" : playing.title
        if !playing.advertiser.isEmpty { title += " — \(playing.advertiser)" }
        var lines = [
            Self.sides(
                "\(mark) Advertisement \(playing.index) of \(playing.count)\(isMuted ? " (muted)" : "")",
                "\(left) s left",
                width
            ),
            "  \(title)",
            "  " + Self.bar(playing.heard.share(of: playing.length), width - 4),
        ]
        if let banner = playing.banner { lines += Self.banner(banner, width) }
        if let skipOffset = playing.skipOffset {
            let wait = (skipOffset - playing.heard).countdownSeconds
            lines.append(wait > 0 ? "  may be skipped in \(wait) s" : "  may be skipped: s")
        }
        return lines
    }

    private static func bar(_ share: Double, _ width: Int) -> String {
        let filled = Int(share * Double(width))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }

    private static func banner(_ banner: PlayerState.Banner, _ width: Int) -> [String] {
        let texts =
            [banner.alternativeText ?? "(no text)", banner.imageURL] + (banner.targetURL.map { ["c → \($0)"] } ?? [])
        let inner = width - 6
        let line = String(repeating: "─", count: inner + 2)
        return ["  ┌\(line)┐"] + texts.map { "  │ \(Self.padded($0, inner)) │" } + ["  └\(line)┘"]
    }

    private static func sides(_ left: String, _ right: String, _ width: Int) -> String {
        let right = Self.fitted(right, width / 2)
        return Self.padded(left, width - right.count - 1) + " " + right
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        let text = Self.fitted(text, width)
        return text + String(repeating: " ", count: width - text.count)
    }

    /// The text in one line of at most `width` characters, with nothing in it that a terminal obeys.
    static func fitted(_ text: String, _ width: Int) -> String {
        let plain = String(text.map { $0.unicodeScalars.contains(where: Self.isControl) ? "·" : $0 })
        return plain.count <= width ? plain : plain.prefix(max(0, width - 1)) + "…"
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
