// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An ad without further events for so long after its duration has failed (VAST error 402), unless it is paused.
const OVERTIME_MS = 2_000;
/// A media file that has not begun after so long has failed (VAST error 402).
const LOADING_MAX_MS = 8_000;
/// How much of an ad is heard at most before it is told again: a quarter of it, within these limits. A tab that is killed forgets no more.
const KEEP_MIN_MS = 1_000;
const KEEP_MAX_MS = 5_000;

/// Plays one ad after the other with an audio or video element, and says what becomes of each.
export class AdPlayer {
  #playing = null;

  constructor(media) { this.media = media; }

  /// Whether the ad that plays is heard by now.
  get hasBegun() { return Boolean(this.#playing?.hasBegun); }

  /// How much of it was heard.
  get heardMs() { return Math.round((this.hasBegun ? this.media.currentTime : 0) * 1_000); }

  /// Begins an ad. `on.ended(kind, details)` comes once, unless `stop` comes first; `on.progress(heardMs)` often, and `on.keep()` when more
  /// was heard that must not be forgotten.
  play(ad, on) {
    const file = ad.media.find((each) => this.media?.canPlayType(each.type)) ?? null;
    if (!file) return on.ended("failed", { vastError: 403 });
    const playing = this.#playing = { listeners: new AbortController(), hasBegun: false, keptMs: 0, durationMs: ad.durationMs };
    const end = (kind, details) => { if (this.#playing === playing) on.ended(kind, details); };
    const hear = (name, body) => this.media.addEventListener(name, () => { if (this.#playing === playing) body(); }, { signal: playing.listeners.signal });
    playing.timer = setTimeout(() => { if (!playing.hasBegun) end("failed", { vastError: 402 }); }, LOADING_MAX_MS);
    hear("playing", () => {
      if (playing.hasBegun) return;
      playing.hasBegun = true;
      on.keep();
      clearTimeout(playing.timer);
      this.#watchStall(playing, ad.durationMs, end);
    });
    hear("timeupdate", () => {
      const { heardMs } = this;
      on.progress(heardMs);
      if (heardMs >= ad.durationMs) return end("played");
      if (heardMs - playing.keptMs < Math.min(Math.max(ad.durationMs / 4, KEEP_MIN_MS), KEEP_MAX_MS)) return undefined;
      playing.keptMs = heardMs;
      return on.keep();
    });
    hear("pause", () => { if (playing.hasBegun) on.keep(); });
    hear("ended", () => end("played"));
    hear("error", () => end("failed", { vastError: this.media.error?.code === 2 ? 401 : 405 }));
    this.media.src = file.url;
    // Told to play before the page may: a person has to click first. Media that cannot be played tells it as an event too.
    Promise.resolve(this.media.play()).catch((error) => end("failed", { vastError: error.name === "NotAllowedError" ? 400 : 405 }));
    return undefined;
  }

  stop() {
    if (this.#playing) {
      clearTimeout(this.#playing.timer);
      this.#playing.listeners.abort();
      this.#playing = null;
    }
    this.media?.pause();
  }

  /// Fails an ad whose media has stopped by itself. A paused one may go on, and a slow one is left alone.
  #watchStall(playing, leftMs, end) {
    const before = this.heardMs;
    playing.timer = setTimeout(() => {
      if (this.#playing !== playing) return;
      if (!this.media.paused && this.heardMs <= before) end("failed", { vastError: 402 });
      else this.#watchStall(playing, Math.max(0, playing.durationMs - this.heardMs), end);
    }, leftMs + OVERTIME_MS);
  }
}
