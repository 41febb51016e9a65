#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Proves that the gateway does without libnats where the trait JetStream is off: builds it, and the tests of the log on JetStream, where
# <nats/nats.h> is an error, runs it, and checks that it is not linked against libnats.
#
#   scripts/check-without-nats.sh                                 must pass
#   CUECAST_TRAITS=JetStream scripts/check-without-nats.sh        must fail: the trait is on
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

flags=(--scratch-path "$scratch-without-nats" --disable-index-store -Xcc "-I$PWD/scripts/no-nats")
if [ -n "${CUECAST_TRAITS:-}" ]; then flags+=(--traits "$CUECAST_TRAITS"); else flags+=(--disable-default-traits); fi
swift build "${flags[@]}" --target JetStreamLogTests
swift build "${flags[@]}" --product cuecast
gateway="$(swift build "${flags[@]}" --show-bin-path)/cuecast"
"$gateway" --version
if readelf --dynamic --wide "$gateway" | grep -i "libnats"; then fail 1 "the gateway is linked against libnats"; fi
echo "check-without-nats: the gateway builds and runs without libnats"
