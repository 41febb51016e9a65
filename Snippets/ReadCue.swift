// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Reads a cue of SCTE-35, prints what it means, and writes it again.
import AdFormats

let section = try SpliceInfoSection(text: "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=")
for signal in section.signals { print(signal) }  // break of event 1207959695: begins at 21514.559089 s …
let bytes = try section.encoded()  // the same bytes as before
