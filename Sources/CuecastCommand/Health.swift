// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import GatewayDocuments

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a gateway whether it is ready, for checks of containers and scripts.",
        discussion: """
            Exits with 0 when the gateway takes requests, 1 when it does not (and says what is missing), and 69 when it does not \
            answer in time. Alarms are printed and change nothing. With --live it only asks whether the process lives.

            A gateway that stops is not ready, and lives until it is gone.

            Example: cuecast health --gateway 127.0.0.1 --timeout 2s
            """
    )

    @Flag(help: "Ask whether the process lives, not whether it takes requests.")
    var live = false

    @Option(help: "How long to wait for the answer, for instance 2s. (default: 5s)", transform: DurationArgument.read)
    var timeout: DurationArgument?

    private var timeoutDuration: Duration { self.timeout?.duration ?? .seconds(5) }

    @Flag(help: "Print nothing on standard output: the exit code says it.")
    var quiet = false

    @OptionGroup var output: OutputOptions

    @Option(
        help: """
            The gateway's configuration file: its key http says where to ask, where no option or variable does, and its dataDir whom to \
            believe.
            """
    )
    var config: String?

    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var trust: TrustOptions

    func validate() throws {
        guard self.timeoutDuration > .zero else { throw ValidationError("--timeout must be more than 0.") }
    }

    /// The output for programs.
    private struct Printed: Encodable {
        let healthy: Bool
        let address: String
        let status: Int
        var missing: [String]?
        var alarms: [RaisedAlarm]?
        var sentence: String?
    }

    func run() async throws {
        let endpoint = try await self.endpoint()
        var limits = HTTPExchange.Limits()
        limits.silenceMax = self.timeoutDuration
        limits.exchangeMax = self.timeoutDuration
        limits.answerBytesMax = 1_048_576
        let answer: HTTPExchange.Answer
        do throws(HTTPExchange.Failure) {
            answer = try await HTTPExchange.get(self.live ? "/healthz" : "/readyz", at: endpoint, limits: limits)
        } catch {
            complain("the gateway does not answer at \(endpoint): \(error)")
            throw CommandExit.unavailable
        }
        var printed = Printed(healthy: answer.status == 200, address: endpoint.description, status: answer.status)
        let decoder = JSONDecoder()
        if self.live, let document = try? decoder.decode(LifeDocument.self, from: answer.body) {
            printed.sentence = document.sentence
        } else if !self.live, let document = try? decoder.decode(ReadinessDocument.self, from: answer.body) {
            printed.missing = document.missing
            printed.alarms = document.alarms
        } else {
            // Another program answers.
            complain("what answers at \(endpoint) is not a gateway: HTTP status \(answer.status)")
            throw CommandExit.unavailable
        }
        if self.output.isJSON {
            if !self.quiet { try CommandOutput.say(json: printed) }
        } else if !self.quiet {
            CommandOutput.say(self.text(of: printed))
        }
        if !printed.healthy { throw CommandExit.checkFailed }
    }

    private func text(of printed: Printed) -> String {
        guard !self.live else {
            return printed.healthy ? "alive" : "failed: \(printed.sentence ?? "it does not say why")"
        }
        let missing = printed.missing ?? []
        var lines = [printed.healthy ? "ready" : "not ready: missing \(missing.joined(separator: ", "))"]
        for alarm in printed.alarms ?? [] {
            lines.append("alarm \(alarm.alarm): \(alarm.sentence)")
        }
        return lines.joined(separator: "\n")
    }

    /// Where to ask, and how.
    private func endpoint() async throws -> HTTPEndpoint {
        var address = try self.gateway.httpAddress
        var trust = self.trust
        if let config {
            let configuration = try await self.configuration(config)
            if trust.dataDir == nil { trust.dataDir = configuration.dataDirectory }
            if !self.gateway.isHTTPNamed { address = try Self.address(of: configuration) }
        }
        guard let address else { throw ValidationError("Health comes over HTTP, and its address is 'none'.") }
        do throws(HTTPEndpoint.Fault) {
            return try trust.endpoint(address, isNamed: self.gateway.isHTTPNamed || self.config != nil)
        } catch {
            complain("\(error)")
            throw CommandExit.badData
        }
    }

    private func configuration(_ file: String) async throws -> GatewayConfiguration {
        do {
            return try await GatewayConfiguration.read(
                flags: [:],
                environment: ProcessInfo.processInfo.environment,
                file: file
            )
        } catch let faults as ConfigurationFaults {
            for fault in faults.faults { complain("the configuration is wrong: \(fault)") }
            throw CommandExit.badData
        }
    }

    /// Where a gateway of a configuration is asked; `nil`: nowhere.
    private static func address(of configuration: GatewayConfiguration) throws -> HTTPAddress? {
        guard let http = configuration.http else { return nil }
        do throws(NetworkAddress.Fault) {
            let address = try NetworkAddress(hostAndPort: http, for: .bind)
            return HTTPAddress(configuration.encryptsHTTP ? .https : .http, address)
        } catch {
            throw ValidationError("The key http is '\(http)': \(error)")
        }
    }
}
