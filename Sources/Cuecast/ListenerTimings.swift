// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How long a client waits for what.
///
/// The defaults suit a player; tests shorten them (`@_spi(Tuning) import Cuecast`).
@_spi(Tuning) public struct ListenerTimings: Hashable, Sendable {
    /// How long a connection may take to be made; 10 s.
    public var connectTimeout: Duration = .seconds(10)
    /// How long the proof that the subscription is in effect may take once connected, where there is one; 5 s.
    ///
    /// A second connection is made within it.
    public var subscriptionTimeout: Duration = .seconds(5)
    /// After what time a request without a reply is asked again; 5 s.
    public var requestTimeout: Duration = .seconds(5)
    /// The longest wait before the first try again; 250 ms.
    ///
    /// The wait is random, and its limit doubles with each failure.
    public var retryDelayFirst: Duration = .milliseconds(250)
    /// The limit that the wait between tries grows to; 30 s.
    public var retryDelayMax: Duration = .seconds(30)
    /// How long `start()` waits for advertisements that play before the stream; 2 s.
    public var preStreamWait: Duration = .seconds(2)
    /// How long stopping may spend on telling the gateway what is still to be told; 700 ms, at most 900 ms.
    public var stopWait: Duration = .milliseconds(700)
    /// After what time since `stop()` a client is stopped in any case; 950 ms.
    ///
    /// Also where the transport has not said that its connection is closed, or the disk has not taken what was to be
    /// written: an event says so (``ListenerEvent/stoppedWithout(_:)``).
    public var stopLimit: Duration = .milliseconds(950)
    /// How long `start()` waits for the file of the session to be read; 1 s.
    ///
    /// Then it returns, and the session begins by itself once the file is read.
    public var storageWait: Duration = .seconds(1)
    /// How much before its end an advertisement counts as played when the app asks for the next one; 1 s.
    public var playedToleranceBeforeEnd: Duration = .seconds(1)
    /// How long after its end an advertisement without a report still keeps others waiting; 10 s.
    public var handOutGrace: Duration = .seconds(10)
    /// How long after that its outcome is given up as unknown; 15 min.
    public var outcomeUnknownAfter: Duration = .seconds(900)
    /// How often the gateway's clock is asked for at least; 60 s.
    public var clockSampleInterval: Duration = .seconds(60)
    /// Above what error the gateway's clock is asked for sooner; 25 ms.
    public var clockErrorMax: Duration = .milliseconds(25)

    /// How long after it was last alive the session of an app that was ended without stopping the client goes on when the
    /// app starts again; 10 min.
    public var sessionResumeMax: Duration = .seconds(600)
    /// How long an outcome that the gateway does not confirm is kept and told again; 7 days.
    ///
    /// The gateway takes outcomes for a day more.
    public var outboxAgeMax: Duration = .seconds(7 * 86_400)

    /// The defaults.
    public init() {}
}
