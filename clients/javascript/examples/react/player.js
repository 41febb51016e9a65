// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A player in React, written without JSX so that a browser runs it as it is.
import { createElement as h } from "react";
import { createRoot } from "react-dom/client";
import { useCuecast } from "./useCuecast.js";

const parameters = new URLSearchParams(location.search);

function Player({ gateway, webSocket, stream }) {
  const { state, reason, ad, heardMs, maySkip, start, skip, stop } = useCuecast({ gateway, webSocket, stream });
  const isOn = !["stopped", "refused", "ended"].includes(state);
  return h("main", null,
    h("p", { id: "state", role: "status" }, reason && state !== "listening" ? `${state}: ${reason}` : state),
    h("button", { id: "toggle", onClick: isOn ? stop : start }, isOn ? "Stop" : "Listen"),
    ad && h("section", { id: "break", "aria-label": "Advertisement" },
      h("h2", null, ad.title || "Advertisement"),
      h("progress", { max: ad.durationMs, value: heardMs }),
      h("button", { id: "skip", onClick: skip, disabled: !maySkip }, "Skip")));
}

createRoot(document.querySelector("#root")).render(h(Player, {
  gateway: parameters.get("gateway") ?? undefined, webSocket: parameters.get("webSocket") ?? undefined, stream: parameters.get("stream") ?? "radio1",
}));
