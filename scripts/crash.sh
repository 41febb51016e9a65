#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Ends the gateway with kill -9 at random moments under load, and checks that nothing confirmed was lost or counted twice.
#
#   scripts/crash.sh                20 moments
#   scripts/crash.sh --moments N    so many; CUECAST_SEED=… repeats a run's choices
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

choose_swift_flags
build_products cuecast
CUECAST_BIN="$(built_folder)/cuecast"
export CUECAST_BIN
/usr/bin/python3 Tests/EndToEnd/crash.py "$@"
