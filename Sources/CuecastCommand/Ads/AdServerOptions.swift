// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import AdServers
import ArgumentParser
import CommandSupport
import CueWatching
import Foundation

/// How ad servers are asked.
struct AdServerOptions: ParsableArguments {
    @Option(
        help: "How long finding the ads may take in all, with every wrapper and redirect: at most 60s.",
        transform: DurationArgument.read
    )
    var adServerTime = DurationArgument(AdServerLimits().resolutionTimeMax)

    @Option(help: "How long each address of an ad server's host is tried.", transform: DurationArgument.read)
    var adServerConnectTime = DurationArgument(AdServerLimits().connectTimeMax)

    @Option(help: "The file of certificates (PEM) that ad servers' are checked against; otherwise the system's.")
    var adServerCaFile: String?

    @Option(
        help:
            "The most that the break lasts, for the macro [BREAKMAXDURATION]. (default: --duration, where there is one)",
        transform: DurationArgument.read
    )
    var breakDuration: DurationArgument?

    @Flag(help: "Call the Error addresses of the ads that are left, with the VAST error code.")
    var reportErrors = false

    // Those of HostOptions. As a group in this group they would cost a debug build a multiple of the time: the parser checks every
    // level of groups several times for each level above.
    @Flag(help: HostOptions.allowPrivateHelp)
    var allowPrivate = false

    @Option(help: HostOptions.allowHostHelp)
    var allowHost: [String] = []

    /// The longest time that may be asked for.
    private static let timeMax: Duration = .seconds(60)

    func validate() throws {
        guard self.adServerTime.duration > .zero, self.adServerTime.duration <= Self.timeMax else {
            throw ValidationError("--ad-server-time must be more than 0s and at most 60s.")
        }
        guard self.adServerConnectTime.duration > .zero, self.adServerConnectTime.duration <= Self.timeMax else {
            throw ValidationError("--ad-server-connect-time must be more than 0s and at most 60s.")
        }
    }

    /// Refuses an address that is none of an ad server.
    static func check(_ address: String, of option: String) throws {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased() ?? ""),
            url.host()?.isEmpty == false,
            !address.unicodeScalars.contains(where: { $0.value < 0x21 || $0.value == 0x7F })
        else {
            throw ValidationError("\(option): '\(address)' is no address of an ad server: write http://… or https://…")
        }
        let bytesMax = AdFormatLimits().urlBytesMax
        guard address.utf8.count <= bytesMax else {
            throw ValidationError("\(option): the address has more than \(bytesMax) bytes (urlBytesMax).")
        }
    }

    /// Finds the ads.
    ///
    /// - Parameters:
    ///   - resolver: with the first address, or the first document.
    ///   - breakDuration: how long the break lasts at most, unless an option says so.
    /// - Returns: the ads, which may be none.
    /// - Throws: an exit code; the reason is told before.
    func resolve(_ resolver: VASTResolver, breakDuration: Duration? = nil) async throws -> AdServerReport {
        try await self.client().resolve(resolver, breakDuration: self.breakDuration?.duration ?? breakDuration)
    }

    /// Calls the `Error` addresses, where that is wanted, and tells what came of it.
    ///
    /// - Parameter report: the result with the addresses.
    /// - Returns: the outcome; `nil`: it is not wanted.
    /// - Throws: an exit code; the reason is told before.
    @discardableResult
    func reportErrors(of report: AdServerReport) async throws -> AdServerClient.Calls? {
        guard self.reportErrors else { return nil }
        let calls = try await self.client().report(report.resolution.errorURLs)
        for each in calls.failures { complain("an Error address was not called: \(each)") }
        if calls.pastLimit > 0 {
            complain("\(calls.pastLimit) Error addresses were not called: they are past the limit errorCallsMax")
        }
        if calls.called > 0 { complain("called \(calls.called) Error addresses") }
        return calls
    }

    /// Asks ad servers by these options.
    ///
    /// - Throws: an exit code; the reason is told before.
    func client() throws -> AdServerClient {
        var limits = AdServerLimits()
        limits.resolutionTimeMax = self.adServerTime.duration
        limits.connectTimeMax = self.adServerConnectTime.duration
        let userAgent = "cuecast/\(CuecastVersion.text)"
        do {
            let roots = try self.adServerCaFile.map { try HTTPEndpoint.certificates($0) }
            let fetcher = try AdServerFetcher(
                hosts: HostRule(allowsPrivate: self.allowPrivate, allowedHosts: self.allowHost),
                limits: limits,
                userAgent: userAgent,
                roots: roots
            )
            return AdServerClient(fetcher, limits: limits, userAgent: userAgent)
        } catch {
            complain("\(error)")
            throw CommandExit.badData
        }
    }
}
