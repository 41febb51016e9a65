// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The views of the page, and the way between them: the address says which one is shown.

import "./break-page.js";
import "./day.js";
import "./lists.js";
import { addressOf, readAddress } from "./address.js";
import { $, draw, onDraw, state, titleOfView } from "./model.js";
import { mark } from "./plots.js";
import { choose } from "./stream.js";

/// Shows the view of an address. The focus goes to its title if a person went there.
function show(place, isFirst) {
  const before = `${state.view} ${state.pageBreak} ${state.list}`;
  Object.assign(state, { view: place.view, day: place.day, pageBreak: place.pageBreak, list: place.list });
  if (place.stream && place.stream !== state.chosen) choose(place.stream, false);
  drawView();
  draw();
  if (isFirst || before === `${state.view} ${state.pageBreak} ${state.list}`) return;
  const title = titleOfView();
  scrollTo(0, 0);
  if (matchMedia("(max-width: 899px)").matches) title.closest(".panel").scrollIntoView({ block: "start" });
  title.focus({ preventScroll: true });
}

addEventListener("hashchange", () => {
  const place = readAddress(location.hash);
  if (place) show(place, false);
});

/// Shows the view of the address with which the page was opened; gives whether it names a stream.
export function showFirst() {
  const place = readAddress(location.hash) ?? { view: "now", stream: "", day: "", pageBreak: "", list: "" };
  show(place, true);
  return Boolean(place.stream);
}

function drawView() {
  mark($("main"), "data-view", state.view);
  for (const [view, address] of [
    ["now", addressOf({ view: "now", stream: state.chosen })], ["day", addressOf({ view: "day", stream: state.chosen })], ["lists", addressOf({ view: "lists" })],
  ]) {
    const link = $(`view-${view}`);
    mark(link, "href", address);
    mark(link, "aria-current", state.view === view ? "page" : null);
  }
}

/// The words of the view for the title of the window.
export function viewWords() {
  return { now: [state.chosen], day: [state.chosen, "day"], break: [`${state.chosen}/${state.pageBreak}`], lists: [state.list, "ad lists"] }[state.view].filter(Boolean);
}

onDraw(drawView);
