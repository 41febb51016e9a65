// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// Questions to all gateways of a log, without a bus.
@Suite(.suiteLimit)
struct OpenQuestionsTests {
    private func answer(_ gateway: UInt64, _ number: UInt64, _ text: String) -> GatewayAnswer {
        GatewayAnswer(gateway: gateway, number: number, content: .body(Array(text.utf8)))
    }

    @Test func `it is complete when all have answered that are alive, and names the others`() throws {
        var open = OpenQuestions(own: 1)
        let begun = open.begin("audit", [7], to: [2, 3, 4], number: 9)
        #expect(begun == GatewayQuestion(gateway: 1, number: 9, kind: "audit", body: [7]))
        let three = open.take(self.answer(3, 9, "three"))
        // A repeat, one that was not asked, and one of another question change nothing.
        let others = [self.answer(3, 9, "other"), self.answer(5, 9, "five"), self.answer(2, 8, "two")]
            .map { open.take($0) }
        #expect(three && others == [false, false, false])
        #expect(!open.isComplete(9) { _ in true })
        #expect(!open.isComplete(9) { $0 != 2 })
        #expect(open.isComplete(9) { $0 == 3 })
        let two = open.take(GatewayAnswer(gateway: 2, number: 9, content: .refusal("No.")))
        let answers = open.end(9)
        #expect(two && answers.answered == [2: .refusal("No."), 3: .body(Array("three".utf8))])
        #expect(answers.missing == [4])
        // It is over.
        let late = open.take(self.answer(4, 9, "late"))
        let again = open.end(9)
        #expect(!late && open.isComplete(9) { _ in true })
        #expect(again == .init())
    }

    @Test func `so many questions are open at one time, and no more`() {
        var open = OpenQuestions(own: 1)
        func begin(_ number: UInt64) -> Bool { open.begin("audit", [], to: [2], number: number) != nil }
        let numbers = 1...UInt64(OpenQuestions.questionsOpenMax)
        let all = numbers.map { begin($0) }
        let further = begin(999)
        #expect(all.allSatisfy { $0 } && !further)
        _ = open.end(5)
        // A number that is taken is none.
        let taken = begin(4)
        let next = begin(999)
        #expect(!taken && next)
    }
}
