// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The value of a metric's label: from a closed list, so that clients cannot make the table grow.
package struct MetricLabel: Hashable, Sendable {
    package let text: String
    /// The value of the second label, where the metric has two.
    private(set) package var second = ""

    package init(text: String) {
        self.text = text
    }

    package static let none = MetricLabel(text: "")
    package static let join = MetricLabel(text: "join")
    package static let batch = MetricLabel(text: "batch")
    package static let acknowledge = MetricLabel(text: "acknowledge")
    package static let time = MetricLabel(text: "time")
    package static let leave = MetricLabel(text: "leave")
    package static let publish = MetricLabel(text: "publish")
    package static let punch = MetricLabel(text: "punch")
    package static let update = MetricLabel(text: "update")
    package static let end = MetricLabel(text: "end")
    package static let cancel = MetricLabel(text: "cancel")
    package static let postpone = MetricLabel(text: "postpone")
    package static let list = MetricLabel(text: "list")
    package static let signal = MetricLabel(text: "signal")
    package static let putList = MetricLabel(text: "putList")
    package static let removeList = MetricLabel(text: "removeList")
    package static let lists = MetricLabel(text: "lists")
    package static let watchReport = MetricLabel(text: "watchReport")
    package static let undecodable = MetricLabel(text: "undecodable")
    package static let current = MetricLabel(text: "current")
    package static let recovered = MetricLabel(text: "recovered")
    package static let snapshot = MetricLabel(text: "snapshot")
    package static let ahead = MetricLabel(text: "ahead")
    package static let changed = MetricLabel(text: "changed")
    package static let unchanged = MetricLabel(text: "unchanged")
    package static let refused = MetricLabel(text: "refused")
    package static let peerGone = MetricLabel(text: "peer_gone")
    package static let peerSlow = MetricLabel(text: "peer_slow")
    package static let noEnvelope = MetricLabel(text: "no_envelope")
    package static let tooManyFrames = MetricLabel(text: "too_many_frames")
    package static let notSubscription = MetricLabel(text: "not_a_subscription")
    package static let unknownTopic = MetricLabel(text: "unknown_topic")
    package static let protectedTopic = MetricLabel(text: "protected_topic")
    package static let admitted = MetricLabel(text: "admitted")
    package static let unknownKey = MetricLabel(text: "unknown_key")
    package static let granted = MetricLabel(text: "granted")
    package static let noToken = MetricLabel(text: "no_token")
    package static let malformed = MetricLabel(text: "malformed")
    package static let revokedKey = MetricLabel(text: "revoked_key")
    package static let wrongAlgorithm = MetricLabel(text: "wrong_algorithm")
    package static let wrongSignature = MetricLabel(text: "wrong_signature")
    package static let wrongIssuer = MetricLabel(text: "wrong_issuer")
    package static let wrongAudience = MetricLabel(text: "wrong_audience")
    package static let expired = MetricLabel(text: "expired")
    package static let notYetValid = MetricLabel(text: "not_yet_valid")
    package static let scope = MetricLabel(text: "scope")
    package static let host = MetricLabel(text: "host")
    package static let origin = MetricLabel(text: "origin")
    package static let ticket = MetricLabel(text: "ticket")
    package static let expiredKey = MetricLabel(text: "expired_key")
    package static let mechanism = MetricLabel(text: "mechanism")
    package static let authentication = MetricLabel(text: "authentication")
    package static let handshake = MetricLabel(text: "handshake")
    package static let unused = MetricLabel(text: "unused")
    package static let stalled = MetricLabel(text: "stalled")
    package static let slow = MetricLabel(text: "slow")
    package static let replaced = MetricLabel(text: "replaced")
    package static let left = MetricLabel(text: "left")
    package static let stopping = MetricLabel(text: "stopping")
    package static let violation = MetricLabel(text: "violation")
    package static let encryption = MetricLabel(text: "tls")
    package static let encrypted = MetricLabel(text: "tls_at_plain_port")
    package static let done = MetricLabel(text: "done")
    package static let plaintext = MetricLabel(text: "plaintext")
    package static let version = MetricLabel(text: "version")
    package static let cipher = MetricLabel(text: "cipher")
    package static let alert = MetricLabel(text: "alert")
    package static let tooLong = MetricLabel(text: "too_long")
    package static let renegotiation = MetricLabel(text: "renegotiation")
    package static let keyUpdates = MetricLabel(text: "key_updates")
    package static let late = MetricLabel(text: "late")
    package static let gone = MetricLabel(text: "gone")
    package static let proxy = MetricLabel(text: "proxy")
    package static let client = MetricLabel(text: "client")
    package static let balancer = MetricLabel(text: "balancer")
    package static let untrusted = MetricLabel(text: "untrusted")
    package static let noSignature = MetricLabel(text: "no_signature")
    package static let family = MetricLabel(text: "family")
    package static let checksum = MetricLabel(text: "checksum")
    package static let unencrypted = MetricLabel(text: "unencrypted")
    package static let notices = MetricLabel(text: "notices")
    package static let listeners = MetricLabel(text: "listeners")
    package static let requests = MetricLabel(text: "requests")
    package static let broadcast = MetricLabel(text: "broadcast")
    package static let webSocket = MetricLabel(text: "websocket")
    package static let events = MetricLabel(text: "events")
    package static let upgrade = MetricLabel(text: "upgrade")
    package static let noUpgrade = MetricLabel(text: "no_upgrade")
    package static let subprotocol = MetricLabel(text: "subprotocol")
    package static let path = MetricLabel(text: "path")
    package static let kept = MetricLabel(text: "kept")
    package static let lost = MetricLabel(text: "lost")
    package static let made = MetricLabel(text: "made")
    package static let failed = MetricLabel(text: "failed")
    package static let http = MetricLabel(text: "http")
    package static let changes = MetricLabel(text: "changes")
    package static let refusals = MetricLabel(text: "refusals")
    package static let unread = MetricLabel(text: "unread")
    package static let unreadable = MetricLabel(text: "unreadable")
    package static let frames = MetricLabel(text: "frames")
    package static let sockets = MetricLabel(text: "sockets")
    package static let log = MetricLabel(text: "log")
    package static let board = MetricLabel(text: "board")
    package static let played = MetricLabel(text: "played")
    package static let ignored = MetricLabel(text: "ignored")

    package static let traced = MetricLabel(text: "traced")
    package static let notSampled = MetricLabel(text: "not_sampled")
    package static let leftOut = MetricLabel(text: "left_out")
    package static let overLimit = MetricLabel(text: "over_limit")
    package static let sent = MetricLabel(text: "sent")
    package static let taken = MetricLabel(text: "taken")
    package static let passedOver = MetricLabel(text: "passed_over")
    package static let invalid = MetricLabel(text: "invalid")
    package static let forged = MetricLabel(text: "forged")
    package static let otherBreak = MetricLabel(text: "other_break")

    package static let outWithoutIn = MetricLabel(text: "out_without_in")
    package static let inWithoutOut = MetricLabel(text: "in_without_out")
    package static let secondOut = MetricLabel(text: "second_out")
    package static let unusable = MetricLabel(text: "unusable")

    /// The sources of signals for which there is no room: no source can have this name.
    package static let otherSources = "(other)"

    /// A source of signals and a result; the caller bounds how many sources there are.
    package static func source(_ source: String, _ result: MetricLabel) -> MetricLabel {
        var label = MetricLabel(text: source)
        label.second = result.text
        return label
    }

    package static func status(_ status: StatusCode) -> MetricLabel { MetricLabel(text: status.name) }
    package static func lane(_ lane: Lane) -> MetricLabel { MetricLabel(text: lane.description) }
    package static func alarm(_ alarm: Alarm) -> MetricLabel { MetricLabel(text: alarm.rawValue) }
    package static func limit(_ name: LimitName) -> MetricLabel { MetricLabel(text: name.rawValue) }
}

extension TrackingKind {
    package var metricLabel: MetricLabel { MetricLabel(text: self.event) }
}
