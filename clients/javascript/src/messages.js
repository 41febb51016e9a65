// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// DO NOT EDIT: made by scripts/generate-javascript from proto/cuecast/v1.
//
// Each message is a list of [number, name, type, flags]. A type is a letter of wire.js, the words of an enumeration by number, or the
// table of another message. Flags: 1 where a field may be absent, 2 where it is repeated, 3 where it is repeated and absent where empty.

export const Position = [
  [1, "epoch", "f"],
  [2, "sequence", "l"],
];

export const Join = [
  [1, "stream", "s"],
  [2, "last", Position, 1],
  [3, "instance", "f"],
  [4, "token", "s"],
  [5, "delayMs", "u"],
  [6, "delayMaxMs", "u"],
  [7, "attributes", "m"],
  [8, "client", "s"],
  [9, "push", "?"],
];

export const GetBatch = [
  [1, "stream", "s"],
  [2, "breakId", "s"],
  [3, "delayMs", "u"],
  [4, "delayMaxMs", "u"],
];

export const OutcomeKind = [, "played", "ignored", "failed"];

export const Evidence = [, "reported", "inferred"];

export const IgnoreReason = [, "user", "expired", "overlap", "muted", "cancelled", "endedEarly", "skippedOver", "notStarted"];

export const Outcome = [
  [1, "advertisementId", "s"],
  [2, "kind", OutcomeKind, 1],
  [3, "evidence", Evidence, 1],
  [4, "reason", IgnoreReason, 1],
  [5, "heardMs", "u"],
  [6, "quartiles", "u"],
  [7, "muted", "?"],
  [8, "vastError", "u"],
  [9, "occurredUs", "i"],
  [10, "clicked", "?"],
];

export const Acknowledge = [
  [1, "stream", "s"],
  [2, "breakId", "s"],
  [3, "delivery", "b"],
  [4, "outcomes", Outcome, 2],
];

export const GetTime = [
];

export const Leave = [
  [1, "stream", "s"],
];

export const Request = [
  [1, "requestId", "l"],
  [2, "session", "b"],
  [3, "ticket", "b"],
  [10, "join", Join, 1],
  [11, "getBatch", GetBatch, 1],
  [12, "acknowledge", Acknowledge, 1],
  [13, "getTime", GetTime, 1],
  [14, "leave", Leave, 1],
];

export const StatusCode = [, "ok", "invalid", "unsupported", "tooLarge", "notFound", "conflict", "breakOverlap", "startInPast", "tooFarAhead", "leadTimeTooShort", "wrongState", "tooLate", "breakTooOld", "deliveryInvalid", "notAllowed", "rateLimited", "limitReached", "draining", "unavailable", "revisionConflict"];

export const JoinKind = [, "current", "recovered", "snapshot"];

export const NoticeKind = [, "available", "updated", "ended", "cancelled", "head"];

export const RequestWindow = [
  [1, "fromUs", "i"],
  [2, "byUs", "i"],
];

export const EndMode = [, "cut", "finishAd"];

export const CancelReason = [, "broadcaster", "notStarted"];

export const Move = [
  [1, "withinMs", "u"],
  [2, "addresses", "s", 2],
];

export const Notice = [
  [1, "position", Position, 1],
  [2, "kind", NoticeKind, 1],
  [3, "breakId", "s"],
  [4, "startUs", "i", 1],
  [5, "durationMs", "u", 1],
  [6, "window", RequestWindow, 1],
  [7, "expiresUs", "i"],
  [8, "advertisementCount", "u"],
  [9, "sentUs", "i"],
  [10, "preStream", "?"],
  [11, "endMode", EndMode, 1],
  [12, "cancelReason", CancelReason, 1],
  [13, "exact", "?"],
  [14, "trace", "b"],
  [15, "move", Move, 1],
];

export const Joined = [
  [1, "kind", JoinKind, 1],
  [2, "head", Position, 1],
  [3, "notices", Notice, 2],
  [4, "instance", "f"],
  [5, "headIntervalMs", "u"],
  [6, "leaseMs", "u"],
  [7, "ticket", "b"],
  [8, "pushed", "?"],
  [9, "alternatives", "s", 2],
];

export const MediaFile = [
  [1, "url", "s"],
  [2, "type", "s"],
  [3, "bitrateKbps", "u", 1],
  [4, "width", "u", 1],
  [5, "height", "u", 1],
  [6, "codec", "s", 1],
  [7, "streaming", "?"],
];

export const Banner = [
  [1, "imageUrl", "s"],
  [2, "targetUrl", "s", 1],
  [3, "width", "u", 1],
  [4, "height", "u", 1],
  [5, "alternativeText", "s", 1],
  [6, "type", "s", 1],
];

export const Tracker = [
  [1, "event", "s"],
  [2, "url", "s"],
  [3, "offsetMs", "u", 1],
];

export const UniversalID = [
  [1, "registry", "s"],
  [2, "value", "s"],
];

export const VerificationResource = [
  [1, "url", "s"],
  [2, "apiFramework", "s", 1],
  [3, "executable", "?", 1],
  [4, "type", "s", 1],
  [5, "browserOptional", "?", 1],
];

export const Verification = [
  [1, "vendor", "s", 1],
  [2, "resources", VerificationResource, 2],
  [3, "parameters", "s", 1],
  [4, "trackers", Tracker, 3],
];

export const Icon = [
  [1, "program", "s", 1],
  [2, "imageUrl", "s"],
  [3, "type", "s", 1],
  [4, "width", "u", 1],
  [5, "height", "u", 1],
  [6, "xPosition", "s", 1],
  [7, "yPosition", "s", 1],
  [8, "offsetMs", "u", 1],
  [9, "durationMs", "u", 1],
  [10, "alternativeText", "s", 1],
  [11, "targetUrl", "s", 1],
  [12, "trackers", Tracker, 3],
];

export const CaptionFile = [
  [1, "url", "s"],
  [2, "type", "s", 1],
  [3, "language", "s", 1],
];

export const Advertisement = [
  [1, "id", "s"],
  [2, "title", "s"],
  [3, "description", "s"],
  [4, "advertiser", "s"],
  [5, "durationMs", "u"],
  [6, "skipOffsetMs", "u", 1],
  [7, "media", MediaFile, 2],
  [8, "clickThroughUrl", "s", 1],
  [9, "banner", Banner, 1],
  [10, "trackers", Tracker, 2],
  [11, "universalIds", UniversalID, 3],
  [12, "adServingId", "s", 1],
  [13, "verifications", Verification, 3],
  [14, "icons", Icon, 3],
  [15, "captions", CaptionFile, 3],
  [16, "mezzanines", MediaFile, 3],
];

export const Batch = [
  [1, "delivery", "b"],
  [2, "startUs", "i", 1],
  [3, "durationMs", "u", 1],
  [4, "skipped", "u"],
  [5, "endMode", EndMode, 1],
  [6, "exact", "?"],
  [7, "advertisements", Advertisement, 2],
];

export const Acknowledged = [
  [1, "recorded", "u"],
];

export const Reply = [
  [1, "requestId", "l"],
  [2, "status", StatusCode, 1],
  [3, "message", "s"],
  [4, "retry", "?"],
  [5, "retryAfterMs", "u"],
  [6, "gatewayUs", "i"],
  [10, "joined", Joined, 1],
  [11, "batch", Batch, 1],
  [12, "acknowledged", Acknowledged, 1],
];
