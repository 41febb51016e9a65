// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The page's requests to the gateway, its events, and its clock.

/// The first retry comes at once; later ones within so long, at random.
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 5_000;
/// The gateway tells how it is once a second: after so long without a word the connection counts as lost.
const SILENCE_MAX_MS = 15_000;
/// How often the gateway's clock is asked for, and how often in a row: the answer that came quickest is believed.
const CLOCK_INTERVAL_MS = 60_000;
const CLOCK_SAMPLES = 3;
/// How long an answer may take.
const ANSWER_MAX_MS = 20_000;

const TOKEN_KEY = "cuecast.token";

/// The gateway did not answer.
export class GatewayGone extends Error {}

/// The gateway refused: its problem document (RFC 9457).
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || `The gateway answered with the status ${status}.`);
    this.status = status;
    this.code = problem.code ?? "";
    this.isRetryable = problem.retryable === true;
  }
}

/// The claims of a token, unverified: only the gateway can verify it. Throws if it is no token.
export function readToken(text) {
  const parts = text.split(".");
  if (parts.length !== 3) throw new TypeError("A token has three parts with dots between.");
  const bytes = Uint8Array.from(atob(parts[1].replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
  const claims = JSON.parse(new TextDecoder().decode(bytes));
  return {
    subject: String(claims.sub ?? ""),
    scopes: String(claims.scope ?? "").split(" ").filter(Boolean),
    expires: Number.isFinite(claims.exp) ? claims.exp * 1_000 : null,
  };
}

/// Whether a pattern of a scope, such as `radio*`, names a stream.
function names(pattern, stream) {
  return pattern.endsWith("*") ? stream.startsWith(pattern.slice(0, -1)) : pattern === stream;
}

/// The gateway that served this page.
///
/// Events (`detail` in brackets): `link` {state, sentence, since}, `opened`, `token` when there is another one, and those of the gateway by their names: `gateway`,
/// `break`, `counts`, `resync` {the document}. States of the link: `connecting`, `live`, `gone`, `locked` (it asks for a token), `refused`.
export class GatewayClient extends EventTarget {
  constructor(base = document.baseURI) {
    super();
    this.base = new URL(".", base);
    this.link = { state: "connecting", sentence: "", since: Date.now() };
    this.offsetMs = 0;
    this.hasClock = false;
    /// Why the token is not taken; empty: it is, or there is none.
    this.tokenProblem = "";
    try { this.token = sessionStorage.getItem(TOKEN_KEY) ?? ""; } catch { this.token = ""; }
    this.#readClaims();
  }

  #source = null;
  /// Whether the events are open, or being opened: reading the clock and getting a ticket come first.
  #isActive = false;
  #streams = [];
  #attempt = 0;
  #turn = 0;
  #retry = null;
  #silence = null;

  // MARK: Requests

  /// Asks, and gives the answer's document. Throws `GatewayGone` or `Refused`.
  ///
  /// - body: becomes JSON; a text goes as it is, with its type among the headers.
  async ask(method, path, { query = {}, body, headers = {}, token = this.token } = {}) {
    const address = new URL(path, this.base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null && value !== "") address.searchParams.set(name, value);
    }
    // "+" for a space is a habit of forms; the gateway reads it as it stands.
    address.search = address.search.replaceAll("+", "%20");
    const request = { method, headers: { Accept: "application/json", ...headers }, cache: "no-store", credentials: "omit" };
    request.signal = AbortSignal.timeout(ANSWER_MAX_MS);
    if (token) request.headers.Authorization = `Bearer ${token}`;
    if (body !== undefined) {
      request.headers["Content-Type"] ??= "application/json";
      request.body = typeof body === "string" ? body : JSON.stringify(body);
    }
    let answer, text;
    try {
      answer = await fetch(address, request);
      text = await answer.text();
    } catch {
      throw new GatewayGone("The gateway does not answer.");
    }
    let document = {};
    const isText = answer.ok && headers.Accept === "text/csv";
    try { document = text && !isText ? JSON.parse(text) : {}; } catch { /* A proxy said something else. */ }
    // Where the next page is, a table says in its head.
    if (isText) return { text, next: /^<([^>]*)>; rel="next"$/.exec(answer.headers.get("Link") ?? "")?.[1] };
    if (!answer.ok) {
      // What stands between may answer for a gateway that is away.
      if ((answer.status === 502 || answer.status === 503 || answer.status === 504) && !document.code) {
        throw new GatewayGone("The gateway does not answer.");
      }
      throw new Refused(answer.status, document);
    }
    return document;
  }

  get(path, query) { return this.ask("GET", path, { query }); }

  // MARK: The token

  /// Takes a token for this tab, or none: it is kept until the tab is closed.
  setToken(token) {
    this.token = token;
    try {
      if (token) sessionStorage.setItem(TOKEN_KEY, token);
      else sessionStorage.removeItem(TOKEN_KEY);
    } catch { /* Then it is forgotten with the next load. */ }
    this.#readClaims();
    this.dispatchEvent(new CustomEvent("token"));
    this.reopen();
  }

  #readClaims() {
    try { this.claims = this.token ? readToken(this.token) : null; } catch { this.claims = null; }
  }

  /// Whether the token says that it may change the breaks of a stream.
  mayPublish(stream) {
    return (this.claims?.scopes ?? []).some((scope) => scope.startsWith("publish:") && names(scope.slice(8), stream));
  }

  /// Whether the token says that it may change the breaks of every stream, and the ad lists.
  mayPublishEverywhere() { return (this.claims?.scopes ?? []).includes("publish:*"); }

  // MARK: The clock

  /// The gateway's clock, in milliseconds since 1970.
  now() { return performance.timeOrigin + performance.now() + this.offsetMs; }

  async #readClock() {
    let best = null;
    for (let sample = 0; sample < CLOCK_SAMPLES; sample += 1) {
      const before = performance.now();
      const { gatewayUs } = await this.get("v1/time");
      const after = performance.now();
      if (best && after - before >= best.took) continue;
      best = { took: after - before, offset: gatewayUs / 1_000 - (performance.timeOrigin + (before + after) / 2) };
    }
    this.offsetMs = best.offset;
    this.hasClock = true;
    this.clockRead = performance.now();
  }

  // MARK: Events

  /// Says which streams are counted; the events begin anew where they are others.
  watch(streams) {
    const sorted = [...new Set(streams)].sort();
    if (this.#isActive && sorted.join() === this.#streams.join()) return;
    this.#streams = sorted;
    this.reopen();
  }

  /// Begins the events anew, at once.
  reopen() {
    this.#close();
    this.#attempt = 0;
    this.#open();
  }

  #close() {
    this.#turn += 1;
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#source?.close();
    this.#source = null;
    this.#isActive = false;
  }

  #tell(state, sentence = "") {
    if (this.link.state === state && this.link.sentence === sentence) return;
    this.link = { state, sentence, since: this.link.state === state ? this.link.since : Date.now() };
    this.dispatchEvent(new CustomEvent("link", { detail: this.link }));
  }

  async #open() {
    const turn = this.#turn;
    this.#isActive = true;
    try {
      if (!this.hasClock || performance.now() - this.clockRead > CLOCK_INTERVAL_MS) await this.#readClock();
      const query = new URLSearchParams();
      if (this.#streams.length) query.set("streams", this.#streams.join(","));
      const ticket = await this.#ticket();
      if (ticket) query.set("ticket", ticket);
      if (turn !== this.#turn) return;
      const address = new URL("v1/events", this.base);
      address.search = query.toString().replaceAll("%2C", ",");
      const source = new EventSource(address);
      this.#source = source;
      source.addEventListener("open", () => { if (turn === this.#turn) this.#opened(turn); });
      // A ticket is for one use: the browser must not try by itself.
      source.addEventListener("error", () => { if (turn === this.#turn) this.#lost(); });
      for (const name of ["gateway", "break", "counts", "resync"]) {
        source.addEventListener(name, (event) => {
          if (turn !== this.#turn) return;
          this.#heard(turn);
          this.dispatchEvent(new CustomEvent(name, { detail: JSON.parse(event.data) }));
        });
      }
    } catch (error) {
      if (turn === this.#turn) this.#failed(error);
    }
  }

  /// A ticket for the events, where the token is good for one; nothing where none is needed.
  async #ticket() {
    this.tokenProblem = "";
    if (!this.token) return null;
    try {
      return (await this.ask("POST", "v1/event-tickets")).ticket;
    } catch (error) {
      // One that is for other things than reading, or has expired, is no hindrance where reading is open.
      if (!(error instanceof Refused) || (error.status !== 401 && error.status !== 403)) throw error;
      if (error.status === 401) this.tokenProblem = error.message;
      return null;
    }
  }

  #opened(turn) {
    this.#attempt = 0;
    this.#tell("live");
    this.#heard(turn);
    this.dispatchEvent(new CustomEvent("opened"));
  }

  #heard(turn) {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => { if (turn === this.#turn) this.#lost(); }, SILENCE_MAX_MS);
    if (performance.now() - this.clockRead > CLOCK_INTERVAL_MS) {
      this.clockRead = performance.now();
      this.#readClock().catch(() => { /* The events tell when it is gone. */ });
    }
  }

  /// The events ended: asks why, because the browser does not tell.
  async #lost() {
    const hadOpened = this.link.state === "live" && this.#attempt === 0;
    this.#close();
    const turn = this.#turn;
    try {
      await this.get("v1/streams", { limit: 1 });
      if (turn !== this.#turn) return;
      if (hadOpened) {
        // It is there: the first try comes at once, without a message.
        this.#attempt = 1;
        return this.#open();
      }
      this.#failed(new Refused(503, { detail: "The gateway answers, and has no room for one more reader of its events." }));
    } catch (error) {
      if (turn === this.#turn) this.#failed(error);
    }
  }

  #failed(error) {
    this.#isActive = false;
    if (error instanceof Refused && error.status === 401) this.#tell("locked", error.message);
    else if (error instanceof Refused && error.status === 403) this.#tell("locked", error.message);
    else if (error instanceof Refused) this.#tell("refused", error.message);
    else this.#tell("gone", "The gateway does not answer.");
    if (!(error instanceof Refused || error instanceof GatewayGone)) console.error(error);
    this.#attempt += 1;
    const most = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(this.#attempt, 10));
    this.#retry = setTimeout(() => this.#open(), most / 2 + Math.random() * most / 2);
  }
}
