// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import GatewayCore
import ServiceLifecycle
import Synchronization

/// Asks all gateways of the log something, over the bus, and answers the questions of the others.
///
/// ```swift
/// questions.register("audit") { body in try await … }
/// let answers = try await questions.ask("audit", body)
/// ```
///
/// The bus may lose everything: a question is repeated, and in the end the answer says which gateways did not answer.
package final class ClusterQuestions: Service {
    /// Why nothing was asked.
    package enum Fault: Error, Hashable, Sendable {
        /// As many questions are open as may be.
        case tooMany
    }

    /// The answers of all gateways, without this one.
    package struct Answers: Sendable {
        /// The answer of a gateway.
        package struct Answer: Sendable {
            /// The run.
            package let gateway: UInt64
            /// Its name for people.
            package let name: String
            package let content: GatewayAnswer.Content
        }

        /// In the order of the runs.
        package var answered: [Answer] = []
        /// The names of those that did not answer.
        package var missing: [String] = []
    }

    /// For so long answers are waited for (3 s).
    static let answersWithin: Duration = .seconds(3)
    /// How often a question is repeated for those that have not answered (500 ms).
    static let repeatAfter: Duration = .milliseconds(500)

    private struct State {
        var open: OpenQuestions
        var kinds: [String: @Sendable ([UInt8]) async throws -> [UInt8]] = [:]
        /// The questions of others that are being answered, by the gateway and the number.
        var underWay: Set<[UInt64]> = []
    }

    private let bus: any GatewayBus
    private let cluster: ClusterHolder
    private let common: CommonParts
    private let within: Duration
    private let underWayMax: Int
    private let state: Mutex<State>
    /// Tells those that wait that an answer came.
    private let news = Mutex<[UInt64: AsyncStream<Void>.Continuation]>([:])

    /// - Parameters:
    ///   - bus: to the other gateways.
    ///   - cluster: knows which there are.
    ///   - within: for so long answers are waited for.
    ///   - underWayMax: the most questions of others that are being answered at one time; further ones are answered when they are repeated.
    ///   - common: the parts that every part uses.
    init(
        bus: any GatewayBus,
        cluster: ClusterHolder,
        within: Duration = ClusterQuestions.answersWithin,
        underWayMax: Int = LimitName.answersUnderWayMax.value,
        common: CommonParts
    ) {
        self.bus = bus
        self.cluster = cluster
        self.within = within
        self.underWayMax = underWayMax
        self.common = common
        self.state = Mutex(State(open: OpenQuestions(own: common.instance)))
    }

    /// Answers questions of a kind from now on.
    ///
    /// - Parameters:
    ///   - kind: of at most `GatewayQuestion.kindBytesMax` bytes.
    ///   - answer: gets the body of a question; what it throws goes to the one that asks, as a sentence.
    package func register(_ kind: String, _ answer: @escaping @Sendable ([UInt8]) async throws -> [UInt8]) {
        self.state.withLock { $0.kinds[kind] = answer }
    }

    /// Asks all other gateways that are alive.
    ///
    /// - Parameters:
    ///   - kind: of the question.
    ///   - body: as the kind has it.
    /// - Returns: the answers that came within 3 s, and the gateways that are missing.
    /// - Throws: `tooMany`.
    package func ask(_ kind: String, _ body: [UInt8]) async throws(Fault) -> Answers {
        let beats = self.cluster.withLock { $0.table.alive }
        let names = Dictionary(beats.map { ($0.gateway, $0.name) }) { first, _ in first }
        guard !beats.isEmpty else { return Answers() }
        let number = UInt64.random(in: 1...UInt64.max)
        let question = self.state.withLock { $0.open.begin(kind, body, to: names.keys, number: number) }
        guard let question else {
            self.common.metrics.count(.limitsHit, .limit(.questionsOpenMax))
            throw .tooMany
        }
        let (news, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.news.withLock { $0[number] = sink }
        await self.wait(for: question, news)
        self.news.withLock { _ = $0.removeValue(forKey: number) }
        let found = self.state.withLock { $0.open.end(number) }
        var answers = Answers()
        answers.answered = found.answered.sorted { $0.key < $1.key }
            .map { Answers.Answer(gateway: $0.key, name: names[$0.key] ?? "", content: $0.value) }
        answers.missing = found.missing.map { names[$0] ?? GatewayBeat.name(of: $0) }
        return answers
    }

    private func wait(for question: GatewayQuestion, _ news: AsyncStream<Void>) async {
        let deadline = ContinuousClock.now + self.within
        let bytes = question.encoded()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in news where self.isComplete(question.number) { return }
            }
            group.addTask {
                // Those that have gone meanwhile answer no more.
                while !self.isComplete(question.number), ContinuousClock.now < deadline {
                    await self.bus.publish(bytes, on: BusSubject.questions)
                    let next = min(Self.repeatAfter, deadline - ContinuousClock.now)
                    guard (try? await Task.sleep(for: max(next, .zero))) != nil else { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func isComplete(_ number: UInt64) -> Bool {
        let alive = self.cluster.withLock { Set($0.table.alive.map(\.gateway)) }
        return self.state.withLock { $0.open.isComplete(number) { alive.contains($0) } }
    }

    package func run() async throws {
        let questions = await self.bus.messages(on: BusSubject.questions)
        let answers = await self.bus.messages(on: BusSubject.answers(to: self.common.instance))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await message in answers { self.take(message) } }
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for await message in questions {
                        guard let question = self.begin(message) else { continue }
                        group.addTask { await self.answer(question) }
                    }
                }
            }
            // Not the end of the messages: the bus may be closed before this service is to end, and a service that ends by itself
            // takes all others with it.
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }

    private func take(_ message: BusMessage) {
        guard let answer = try? GatewayAnswer(decoding: message.bytes) else {
            self.common.metrics.count(.gatewayBeats, .undecodable)
            return
        }
        guard self.state.withLock({ $0.open.take(answer) }) else { return }
        _ = self.news.withLock { $0[answer.number]?.yield() }
    }

    /// - Returns: the question, where this gateway answers it now.
    private func begin(_ message: BusMessage) -> GatewayQuestion? {
        guard let question = try? GatewayQuestion(decoding: message.bytes) else {
            self.common.metrics.count(.gatewayBeats, .undecodable)
            return nil
        }
        guard question.gateway != self.common.instance else { return nil }
        let key = [question.gateway, question.number]
        let isFull = self.state.withLock { state -> Bool? in
            guard !state.underWay.contains(key) else { return nil }
            guard state.underWay.count < self.underWayMax else { return true }
            state.underWay.insert(key)
            return false
        }
        if isFull == true { self.common.metrics.count(.limitsHit, .limit(.answersUnderWayMax)) }
        return isFull == false ? question : nil
    }

    private func answer(_ question: GatewayQuestion) async {
        defer { self.state.withLock { _ = $0.underWay.remove([question.gateway, question.number]) } }
        let content: GatewayAnswer.Content
        if let answer = self.state.withLock({ $0.kinds[question.kind] }) {
            do {
                content = .body(try await answer(question.body))
            } catch {
                content = .refusal("\(error)")
            }
        } else {
            content = .refusal("It does not know this question: its version is another one, or it has no HTTP.")
        }
        let answer = GatewayAnswer(gateway: self.common.instance, number: question.number, content: content)
        await self.bus.publish(answer.encoded(), on: BusSubject.answers(to: question.gateway))
    }
}
