// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import { useCallback, useEffect, useRef, useState } from "react";
import { CuecastListener } from "../../index.js";  // in an app: from "cuecast"

const NOTHING = { state: "stopped", reason: undefined, ad: null, heardMs: 0, maySkip: false, plays: false };

/// A listener of one stream as a hook: what it does now, and how it is begun, skipped and stopped.
///
///     const { state, ad, heardMs, maySkip, start, skip, stop } = useCuecast({ gateway: "https://gateway.example", stream: "radio1" });
///
/// `start` belongs into a click: browsers play nothing before. The listener stops when the component goes, or listens to another stream.
export function useCuecast({ gateway, webSocket, stream, token, media }) {
  const listener = useRef(null);
  const [shown, setShown] = useState(NOTHING);

  useEffect(() => {
    const made = new CuecastListener({ gateway, webSocket, stream, token, media });
    const show = (more) => setShown((before) => ({ ...before, ...more }));
    const on = (name, body) => made.addEventListener(name, ({ detail }) => body(detail));
    on("state", ({ state, reason }) => show({ state, reason }));
    on("plays", ({ plays }) => show({ plays }));
    on("ad", ({ ad }) => show({ ad, heardMs: 0, maySkip: made.maySkip }));
    on("progress", ({ heardMs }) => show({ heardMs, maySkip: made.maySkip }));
    on("outcome", () => { if (!made.current) show({ ad: null, maySkip: false }); });
    on("problem", ({ sentence }) => console.info(sentence));
    listener.current = made;
    return () => {
      listener.current = null;
      setShown(NOTHING);
      made.stop();
    };
  }, [gateway, webSocket, stream, token, media]);

  return {
    ...shown,
    start: useCallback(() => listener.current?.start(), []),
    skip: useCallback(() => listener.current?.skip(), []),
    stop: useCallback(() => listener.current?.stop(), []),
  };
}
