// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Reads a VAST document, and prints its ads and what was skipped.
import AdFormats
import Foundation

let file = URL(filePath: "Examples/two-ads.vast.xml")
let batch = try VAST.read(Data(contentsOf: file))
for ad in batch.ads { print(ad.id, ad.title, ad.durationMilliseconds) }
for skipped in batch.skipped { print(skipped) }  // Ad 2 “Click & win” on line 40 plays only with “VPAID”, …
