// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The page around a listener: what it plays, how long it still takes, and what became of it.
///
/// ?gateway=, ?webSocket= and ?stream= fill the form; what a page shows of a break is its own choice, and this is one.
import { CuecastListener } from "../../index.js";

const element = (id) => document.getElementById(id);
const parameters = new URLSearchParams(location.search);
for (const name of ["gateway", "webSocket", "stream"]) if (parameters.has(name)) element(name).value = parameters.get(name);

const LOG_LINES_MAX = 100;
let listener = null;

function say(text) {
  const line = document.createElement("li");
  line.textContent = text;
  element("log").append(line);
  while (element("log").children.length > LOG_LINES_MAX) element("log").firstChild.remove();
}

const seconds = (milliseconds) => `${Math.max(0, Math.ceil(milliseconds / 1_000))} s`;

/// Banners and links come from ad servers: only what a page may open is opened.
const webAddress = (text) => (/^https?:\/\//.test(text ?? "") ? text : null);

function showAd({ ad, number, count }) {
  element("break").hidden = false;
  element("break-title").textContent = ad.title || "Advertisement";
  element("number").textContent = `Ad ${number} of ${count}${ad.advertiser ? `, by ${ad.advertiser}` : ""}`;
  element("description").textContent = ad.description;
  element("countdown").textContent = seconds(ad.durationMs);
  element("progress").value = 0;
  element("skip").disabled = true;
  element("skip").hidden = ad.skipOffsetMs === undefined;
  const image = webAddress(ad.banner?.imageUrl);
  element("banner").hidden = !image;
  if (image) {
    element("banner-image").src = image;
    element("banner-image").alt = ad.banner.alternativeText ?? ad.title;
    const target = webAddress(ad.banner.targetUrl ?? ad.clickThroughUrl);
    if (target) element("banner").href = target; else element("banner").removeAttribute("href");
  }
  say(`${ad.title || ad.id} begins.`);
}

function listen() {
  listener = new CuecastListener({
    gateway: element("gateway").value, webSocket: element("webSocket").value || undefined, stream: element("stream").value,
    token: element("token").value, media: element("audio"), tabs: parameters.get("tabs") ?? "one",
  });
  const on = (name, body) => listener.addEventListener(name, (event) => body(event.detail));
  on("state", ({ state, reason }) => {
    const words = {
      connecting: "Connecting …", waiting: `${reason} Trying again.`,
      listening: `Listening by ${listener.transport === "webSocket" ? "WebSocket" : "server-sent events"}${listener.plays ? "" : "; another tab plays"}.`,
      stopped: "Not listening.", ended: `Ended: ${reason}.`, refused: `Refused: ${reason}`,
    };
    element("state").textContent = words[state] ?? state;
    if (state === "ended" || state === "refused") element("toggle").textContent = "Listen";
  });
  on("plays", () => { if (listener.state === "listening") element("state").textContent = "Listening; this tab plays."; });
  on("break", ({ id, count }) => say(`The break ${id} has ${count} ${count === 1 ? "ad" : "ads"}.`));
  on("ad", showAd);
  on("progress", ({ ad, heardMs, durationMs }) => {
    element("countdown").textContent = seconds(durationMs - heardMs);
    element("progress").value = Math.min(1, heardMs / durationMs);
    element("skip").disabled = !listener.maySkip;
    if (ad.skipOffsetMs !== undefined && !listener.maySkip) element("skip").textContent = `Skip in ${seconds(ad.skipOffsetMs - heardMs)}`;
    else element("skip").textContent = "Skip";
  });
  on("outcome", ({ outcome }) => {
    say(`${outcome.advertisementId}: ${outcome.kind}${outcome.reason ? ` (${outcome.reason})` : ""}.`);
    element("break").hidden = !listener.current && listener.queue.length === 0;
  });
  on("acknowledged", ({ count }) => say(`${count} recorded by the gateway.`));
  on("problem", ({ sentence }) => say(sentence));
  listener.start();
  // For developers in the browser's console, and for tests.
  window.listener = listener;
}

element("connection").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (element("toggle").textContent === "Listen") {
    element("toggle").textContent = "Stop";
    listen();
  } else {
    element("toggle").textContent = "Listen";
    element("break").hidden = true;
    await listener.stop();
  }
});
element("skip").addEventListener("click", () => listener?.skip());
