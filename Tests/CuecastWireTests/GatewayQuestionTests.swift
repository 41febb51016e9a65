// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

/// Questions of gateways and their answers as bytes.
@Suite(.suiteLimit)
struct GatewayQuestionTests {
    @Test func `they come as they were sent`() throws {
        let question = GatewayQuestion(gateway: .max, number: 1, kind: "audit", body: [0, 1, 255])
        #expect(try GatewayQuestion(decoding: question.encoded()) == question)
        for content in [.body([]), .body([1, 2]), .refusal("No.")] as [GatewayAnswer.Content] {
            let answer = GatewayAnswer(gateway: 3, number: .max, content: content)
            #expect(try GatewayAnswer(decoding: answer.encoded()) == answer)
        }
    }

    @Test func `what is too long, or says nothing, is refused`() throws {
        func question(_ kind: Int, _ body: Int) -> [UInt8] {
            GatewayQuestion(
                gateway: 1,
                number: 1,
                kind: String(repeating: "k", count: kind),
                body: [UInt8](repeating: 0, count: body)
            )
            .encoded()
        }
        #expect(throws: Never.self) { try GatewayQuestion(decoding: question(GatewayQuestion.kindBytesMax, 1)) }
        #expect(throws: WireError.self) { try GatewayQuestion(decoding: question(GatewayQuestion.kindBytesMax + 1, 1)) }
        let rest = question(1, 20_000).count - 20_000
        #expect(throws: Never.self) {
            try GatewayQuestion(decoding: question(1, GatewayQuestion.questionBytesMax - rest))
        }
        #expect(throws: WireError.self) {
            try GatewayQuestion(decoding: question(1, GatewayQuestion.questionBytesMax - rest + 1))
        }
        for bytes in [[], [1, 2, 3], GatewayQuestion(gateway: 0, number: 1, kind: "", body: []).encoded()] {
            #expect(throws: WireError.self) { try GatewayQuestion(decoding: bytes) }
            #expect(throws: WireError.self) { try GatewayAnswer(decoding: bytes) }
        }
    }

    @Test func `an answer that is too large says so`() throws {
        func answer(_ count: Int) -> GatewayAnswer {
            GatewayAnswer(gateway: 1, number: 1, content: .body([UInt8](repeating: 0, count: count)))
        }
        let rest = answer(1_000_000).encoded().count - 1_000_000
        let largest = answer(GatewayAnswer.answerBytesMax - rest)
        #expect(try GatewayAnswer(decoding: largest.encoded()) == largest)
        let tooLarge = try GatewayAnswer(decoding: answer(GatewayAnswer.answerBytesMax - rest + 1).encoded())
        guard case .refusal(let sentence) = tooLarge.content else {
            Issue.record("no refusal")
            return
        }
        #expect(sentence.contains("\(GatewayAnswer.answerBytesMax)"))
        // A long refusal is cut.
        let long = GatewayAnswer(gateway: 1, number: 1, content: .refusal(String(repeating: "👩‍🚀", count: 1_000)))
        guard case .refusal(let cut) = try GatewayAnswer(decoding: long.encoded()).content else {
            Issue.record("no refusal")
            return
        }
        #expect(!cut.isEmpty && cut.utf8.count <= GatewayAnswer.refusalBytesMax)
    }
}
