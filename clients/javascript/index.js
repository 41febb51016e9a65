// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A listener of one stream, for pages. docs/players/web.md says how to use it, index.d.ts describes it.
export { CuecastListener, VERSION } from "./src/listener.js";
export { requestInstant } from "./src/slots.js";
