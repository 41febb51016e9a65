// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The replacement in the books for a session that is forgotten: another sixteen bytes for each of its breaks.
///
/// They are derived from a key that is drawn for one session and thrown away when all is done. Without the key it is impossible to
/// tell which session it was, or that two breaks had the same listener. With the key the same break always gets the same name,
/// however often it is done, also after a crash, so that the log and the ledger agree in the end.
package struct SessionPseudonyms: Hashable, Sendable {
    /// The sessions to forget.
    package let session: SessionID
    private let high: SipHash
    private let low: SipHash
    private let words: [UInt64]

    /// Draws a key.
    package init(of session: SessionID) {
        self.init(of: session, words: (0..<4).map { _ in .random(in: 0 ... .max) })
    }

    private init(of session: SessionID, words: [UInt64]) {
        self.session = session
        self.words = words
        self.high = SipHash(key: words[0], words[1])
        self.low = SipHash(key: words[2], words[3])
    }

    /// The names of a session that was found by them.
    ///
    /// - Parameters:
    ///   - session: the session that they are of.
    ///   - names: say what replaces it.
    package init(of session: SessionID, _ names: ForgettingNames) { self.init(of: session, words: names.words) }

    /// The same names, without the session.
    package var names: ForgettingNames { ForgettingNames(of: self.session, words: self.words) }

    /// The name of the session in a break from now on.
    package subscript(number: BreakNumber) -> SessionID {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number.rawValue >> UInt64(8 * $0)) }
        return SessionID(high: self.high(bytes), low: self.low(bytes))
    }

    /// For the file that says what has to be done again after a crash.
    package var text: String {
        (["\(self.session)"] + self.words.map { String($0, radix: 16) }).joined(separator: " ") + "\n"
    }

    /// Reads what `text` wrote; `nil`: it is something else.
    package init?(text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 5, let session = SessionID(digits: String(words[0])) else { return nil }
        let numbers = words.dropFirst().compactMap { UInt64($0, radix: 16) }
        guard numbers.count == 4 else { return nil }
        self.init(of: session, words: numbers)
    }
}

extension AcknowledgementGroup {
    /// The group with other names in the place of a session.
    ///
    /// The counts of the session become theirs. The proofs of its deliveries are left out: they were checked before they came into
    /// the log, and a reader that has the keys could tell from them which session it was.
    ///
    /// - Parameter names: the sessions, and their replacements.
    /// - Returns: the group; `nil`: the session is not in it.
    /// - Throws: where a recorded request cannot be read.
    package func forgetting(_ names: SessionPseudonyms) throws(WireError) -> AcknowledgementGroup? {
        var group = self
        var isChanged = false
        for index in group.deliveries.indices where group.deliveries[index].session == names.session {
            group.deliveries[index].session = names[group.deliveries[index].breakNumber]
            isChanged = true
        }
        for index in group.requests.indices {
            var request = try ListenerRequest(decoding: group.requests[index].request)
            guard request.session == names.session else { continue }
            let number = group.requests[index].breakNumber
            request.session = names[number]
            request.ticket = []
            if case .acknowledge(var acknowledge) = request.kind {
                acknowledge.delivery = DeliveryToken(session: names[number], breakNumber: number).bytes
                request.kind = .acknowledge(acknowledge)
            }
            group.requests[index].request = request.encoded()
            isChanged = true
        }
        return isChanged ? group : nil
    }
}
