#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Kills one of two watchers of a source at a random moment, again and again, and checks that each break is there exactly once.
#
#   scripts/watchers.sh               200 rounds
#   scripts/watchers.sh --rounds N    so many; CUECAST_SEED=… repeats a run's choices
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

choose_swift_flags
build_products cuecast
CUECAST_BIN="$(built_folder)/cuecast"
export CUECAST_BIN
/usr/bin/python3 Tests/EndToEnd/watchers.py "$@"
