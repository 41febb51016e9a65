// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

export interface ListenerOptions {
  /** The gateway's origin over HTTP, for instance "https://gateway.example"; the page's own where nothing is said. */
  gateway?: string;
  /** The address of the gateway's WebSocket; `/listen` of `gateway` where nothing is said; null: never. */
  webSocket?: string | null;
  /** Whether server-sent events of `gateway` are used where WebSocket does not work; true unless only `webSocket` is given. */
  fallback?: boolean;
  /** The id of the stream: 1 to 64 characters of A-Z a-z 0-9 . _ - */
  stream: string;
  /** A token, or a function that gives one, for a stream that asks for it. The function is asked with each connection. */
  token?: string | (() => string | Promise<string>);
  /** The audio or video element that plays ads; one is made where none is given. */
  media?: HTMLMediaElement | null;
  /** Where the session survives a reload: sessionStorage where nothing is said; null: nowhere. */
  storage?: Storage | null;
  /** Whether one page of the browser plays a stream at a time (the others listen and wait), or all; "one" where nothing is said. */
  tabs?: "one" | "all";
}

export interface RequestWindow {
  fromUs: number;
  byUs: number;
}

/** What changed about a break. Times are microseconds since 1970 by the gateway's clock. */
export interface Notice {
  /** EPOCH:SEQUENCE. */
  position: string;
  /** Undefined: of a kind that is newer than this library. */
  kind?: "available" | "updated" | "ended" | "cancelled";
  breakId: string;
  /** Absent while the break is cued. */
  startUs?: number;
  durationMs?: number;
  window?: RequestWindow;
  expiresUs: number;
  advertisementCount: number;
  sentUs: number;
  preStream: boolean;
  exact: boolean;
  endMode?: "cut" | "finishAd";
  cancelReason?: "broadcaster" | "notStarted";
  /** In the form of `traceparent`, where the gateway traces. */
  trace?: string;
  /** Only in heads, which the library keeps to itself: the gateway asks to go on at another one. */
  move?: { withinMs: number; addresses: string[] };
}

export interface MediaFile {
  url: string;
  type: string;
  bitrateKbps?: number;
  width?: number;
  height?: number;
  codec?: string;
  streaming: boolean;
}

export interface Banner {
  imageUrl: string;
  targetUrl?: string;
  width?: number;
  height?: number;
  alternativeText?: string;
  type?: string;
}

export interface Tracker {
  event: string;
  url: string;
  offsetMs?: number;
}

/** A name of the creative that is the same in all systems. */
export interface UniversalID {
  registry: string;
  value: string;
}

/** Code that measures for others (VAST 4.3 section 3.16); the page decides whether it runs any. */
export interface Verification {
  vendor?: string;
  resources: VerificationResource[];
  parameters?: string;
  /** The event verificationNotExecuted. */
  trackers?: Tracker[];
}

export interface VerificationResource {
  url: string;
  apiFramework?: string;
  executable?: boolean;
  type?: string;
  browserOptional?: boolean;
}

/** An icon of an industry programme (VAST 4.3 section 3.11). */
export interface Icon {
  program?: string;
  imageUrl: string;
  type?: string;
  width?: number;
  height?: number;
  /** Pixels, "left" or "right". */
  xPosition?: string;
  /** Pixels, "top" or "bottom". */
  yPosition?: string;
  offsetMs?: number;
  durationMs?: number;
  alternativeText?: string;
  targetUrl?: string;
  /** The events iconView and iconClick. */
  trackers?: Tracker[];
}

export interface CaptionFile {
  url: string;
  type?: string;
  language?: string;
}

export interface Advertisement {
  id: string;
  title: string;
  description: string;
  advertiser: string;
  durationMs: number;
  /** From when on it may be skipped; absent: never. */
  skipOffsetMs?: number;
  media: MediaFile[];
  clickThroughUrl?: string;
  banner?: Banner;
  trackers: Tracker[];
  universalIds?: UniversalID[];
  adServingId?: string;
  verifications?: Verification[];
  icons?: Icon[];
  captions?: CaptionFile[];
  mezzanines?: MediaFile[];
}

export type IgnoreReason = "user" | "expired" | "overlap" | "muted" | "cancelled" | "endedEarly" | "skippedOver" | "notStarted";

/** What became of an ad. */
export interface Outcome {
  advertisementId: string;
  kind: "played" | "ignored" | "failed";
  /** "inferred": the page ended while the ad played. */
  evidence?: "reported" | "inferred";
  reason?: IgnoreReason;
  heardMs?: number;
  /** 0 to 4; 4: it was heard to its end. */
  quartiles?: number;
  muted?: boolean;
  /** VAST 4.3, section 2.3.6.3. */
  vastError?: number;
  occurredUs: number;
}

export type ListenerState = "stopped" | "connecting" | "listening" | "waiting" | "refused" | "ended";

/** An ad that plays or follows, with its place in its break. */
export interface QueuedAd {
  breakId: string;
  ad: Advertisement;
  number: number;
  count: number;
}

/** The events of a listener: the type of each one's `detail`. */
export interface ListenerEvents {
  /** `reason`, of "waiting" and "refused": a sentence for people; of "listening": "current", "recovered" or "snapshot". */
  state: { state: ListenerState; reason?: string };
  notice: { notice: Notice };
  /** The ads of a break are here. */
  break: { id: string; startUs?: number; count: number };
  ad: QueuedAd;
  progress: { ad: Advertisement; heardMs: number; durationMs: number };
  outcome: { breakId: string; outcome: Outcome };
  /** The gateway has recorded outcomes durably. */
  acknowledged: { breakId: string; count: number };
  /** A break is over for this listener. */
  over: { id: string };
  /** Whether this page is the one that plays has changed. */
  plays: { plays: boolean };
  /** Something that a developer should know: a sentence. */
  problem: { sentence: string };
}

/**
 * A listener of one stream: hears notices, fetches batches, plays ads, and says what became of them.
 *
 * ```js
 * const listener = new CuecastListener({ gateway: "https://gateway.example", stream: "radio1" });
 * listener.addEventListener("ad", (event) => show(event.detail.ad));
 * button.onclick = () => listener.start();  // browsers play nothing before a click
 * ```
 */
export class CuecastListener extends EventTarget {
  constructor(options: ListenerOptions);

  /** Begins to listen, and to play; does nothing while it does. Once listening has ended for good, it begins again. */
  start(): void;
  /** Ends listening: what plays is ignored, what is not acknowledged yet goes out, and the session leaves. */
  stop(): Promise<void>;
  /** Skips the ad that plays, where it may be skipped by now; false: it may not. */
  skip(): boolean;

  readonly state: ListenerState;
  readonly stream: string;
  readonly media: HTMLMediaElement | null;
  /** 32 hexadecimal digits; null before listening has begun. */
  readonly session: string | null;
  /** Whether this page plays; another one of the browser does where it is false. */
  readonly plays: boolean;
  /** What plays now; null: nothing. */
  readonly current: QueuedAd | null;
  /** What follows. */
  readonly queue: readonly QueuedAd[];
  /** Whether the ad that plays may be skipped now. */
  readonly maySkip: boolean;
  /** The last position of the stream that was applied. */
  readonly position: string | null;
  /** How many outcomes wait for the gateway. */
  readonly unacknowledged: number;
  /** The gateway's clock, in milliseconds since 1970. */
  readonly gatewayNow: number;
  /** How far `gatewayNow` may be from the truth, in milliseconds; Infinity: it is not known. */
  readonly gatewayErrorMs: number;
  /** How it is connected, or tries to. */
  readonly transport: "webSocket" | "events";

  addEventListener<Name extends keyof ListenerEvents>(
    type: Name,
    listener: (event: CustomEvent<ListenerEvents[Name]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
}

/** The version of this library. */
export const VERSION: string;

/** The instant of a request window at which a session asks for a break, in microseconds. */
export function requestInstant(window: RequestWindow, sessionHex: string, breakId: string): number;
