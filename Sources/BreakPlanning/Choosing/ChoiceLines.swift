// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import BreakDocuments
internal import CuecastWire
package import GatewayCore

/// A choice as lines for people.
package struct ChoiceLines {
    package let chosen: VariantChoice

    package init(chosen: VariantChoice) { self.chosen = chosen }

    /// The result in one sentence.
    package var summary: String {
        let choice = self.chosen.choice
        let fill = Self.seconds(self.chosen.rules.fillMilliseconds)
        let least = Self.seconds(self.chosen.rules.minimumMilliseconds)
        let count = choice.places.count
        let candidates = self.chosen.candidates.count
        switch choice.emptiness {
        case nil:
            let best =
                choice.limit.map { "the best that was found in \(choice.steps) steps (\($0.rawValue))" }
                ?? "no better filling exists"
            return
                "\(count) of \(candidates) candidates, \(Self.seconds(choice.durationMilliseconds)) of \(fill); \(best)"
        case .noCandidate?: return "none of \(candidates) candidates may play as an ad"
        case .noFilling?:
            return self.chosen.rules.minimumMilliseconds == self.chosen.rules.fillMilliseconds
                ? "nothing: no filling lasts \(fill) exactly" : "nothing: no filling lasts \(least) to \(fill)"
        case .searchEnded?:
            let limit = choice.limit.map { " (\($0.rawValue))" } ?? ""
            return "nothing: none was found in \(choice.steps) steps\(limit)"
        }
    }

    /// Why a candidate plays.
    ///
    /// - Parameter candidate: its place among the candidates.
    /// - Returns: the reason.
    package func sentence(taken candidate: Int) -> String {
        let each = self.chosen.candidates[candidate]
        switch each.role {
        case "opener": return "the opener that goes first"
        case "closer": return "the closer that goes first"
        case "jingle": return "a jingle between two ads"
        default:
            let lock = each.lock.isEmpty ? "" : ", with the lock \(each.lock)"
            return "priority \(each.priority), weight \(each.weight)\(lock)"
        }
    }

    /// Why a candidate was left.
    ///
    /// - Parameter reason: the reason.
    /// - Returns: a sentence for people.
    package func sentence(_ reason: AdChoice.LeftReason) -> String {
        switch reason {
        case .notYet(let from): "it may play from \(Self.time(from)) on"
        case .expired(let until): "it might play until \(Self.time(until))"
        case .outsideDayparts: "it is outside its dayparts in \(self.chosen.timeZone)"
        case .longerThanBreak: "it is longer than the break, with its lock if it has one"
        case .adTooSoon(let at): "it plays \(self.distance(at)) in another break"
        case .advertiserTooSoon(let other, let at): "\(other), of its advertiser, plays \(self.distance(at))"
        case .categoryTooSoon(let code, let other, let at):
            "\(other), of its category \(code), plays \(self.distance(at))"
        case .lockPartnerLeft(let other): "\(other), of its lock, may not play"
        case .otherOpener(let other): "the opener is \(other)"
        case .otherCloser(let other): "the closer is \(other)"
        case .sameAdvertiser(let other): "\(other), of its advertiser, is in the break"
        case .sameCategory(let code, let other): "\(other), of its category \(code), is in the break"
        case .adsFull: "the break has \(self.chosen.rules.adsMax) ads, as many as it may"
        case .jinglesFull: "the break has as many jingles as it may, or as places between two ads"
        case .lowerPriority(let room): "only \(Self.seconds(room)) are left by ads of higher priority"
        case .noRoom(let room):
            "only \(Self.seconds(room)) are left: with it the break is filled worse, or others were drawn before it"
        case .noFilling: "no filling lasts as long as it must"
        case .notSearched: "the search ended before it was tried"
        }
    }

    private func distance(_ milliseconds: Int64) -> String {
        let difference = milliseconds - self.chosen.occasion.milliseconds
        return "\(Self.seconds(Int(abs(difference)))) \(difference < 0 ? "before" : "after")"
    }

    private static func time(_ milliseconds: Int64) -> String {
        Timestamp(microseconds: milliseconds * 1_000).description
    }

    private static func seconds(_ milliseconds: Int) -> String { Duration.milliseconds(milliseconds).inSecondsText }
}
