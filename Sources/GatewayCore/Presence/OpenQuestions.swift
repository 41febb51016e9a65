// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The questions of this gateway that are not answered by all yet.
///
/// It knows no bus and no clock: questions and answers go in, and what is complete comes out.
package struct OpenQuestions: Sendable {
    /// The answers to a question.
    package struct Answers: Hashable, Sendable {
        /// By the run of the gateway.
        package var answered: [UInt64: GatewayAnswer.Content] = [:]
        /// The runs of those that have not answered, in their order.
        package var missing: [UInt64] = []

        package init() {}
    }

    private struct Open {
        let question: GatewayQuestion
        var expected: Set<UInt64>
        var answers: [UInt64: GatewayAnswer.Content] = [:]
    }

    /// The most questions that are open at one time.
    package static let questionsOpenMax = LimitName.questionsOpenMax.value

    private let own: UInt64
    private var open: [UInt64: Open] = [:]

    /// - Parameter own: the run of this gateway.
    package init(own: UInt64) { self.own = own }

    /// Begins a question.
    ///
    /// - Parameters:
    ///   - kind: of the question.
    ///   - body: as the kind has it.
    ///   - gateways: the runs of those that are expected to answer.
    ///   - number: not 0, and of no question that is open.
    /// - Returns: the question; `nil`: too many are open.
    package mutating func begin(
        _ kind: String,
        _ body: [UInt8],
        to gateways: some Sequence<UInt64>,
        number: UInt64
    ) -> GatewayQuestion? {
        guard self.open.count < Self.questionsOpenMax, self.open[number] == nil else { return nil }
        let question = GatewayQuestion(gateway: self.own, number: number, kind: kind, body: body)
        self.open[number] = Open(question: question, expected: Set(gateways))
        return question
    }

    /// Takes an answer: the first one of a gateway counts.
    ///
    /// - Parameter answer: as it came.
    /// - Returns: whether it is news: of a question that is open, and of a gateway that is expected.
    package mutating func take(_ answer: GatewayAnswer) -> Bool {
        guard let open = self.open[answer.number], open.expected.contains(answer.gateway),
            open.answers[answer.gateway] == nil
        else { return false }
        self.open[answer.number]?.answers[answer.gateway] = answer.content
        return true
    }

    /// Whether all have answered that are expected and still alive.
    ///
    /// - Parameters:
    ///   - number: of the question.
    ///   - isAlive: whether a gateway can still answer.
    /// - Returns: whether nothing is waited for any more.
    package func isComplete(_ number: UInt64, isAlive: (UInt64) -> Bool) -> Bool {
        guard let open = self.open[number] else { return true }
        return open.expected.allSatisfy { open.answers[$0] != nil || !isAlive($0) }
    }

    /// Ends a question.
    ///
    /// - Parameter number: of the question.
    /// - Returns: the answers, and the gateways that are missing.
    package mutating func end(_ number: UInt64) -> Answers {
        var answers = Answers()
        guard let open = self.open.removeValue(forKey: number) else { return answers }
        answers.answered = open.answers
        answers.missing = open.expected.subtracting(open.answers.keys).sorted()
        return answers
    }
}
