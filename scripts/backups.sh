#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Makes backups under load, restores them, and checks that nothing confirmed before was lost or counted twice.
#
#   scripts/backups.sh               20 rounds
#   scripts/backups.sh --rounds N    so many; CUECAST_SEED=… repeats a run's choices
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

choose_swift_flags
build_products cuecast
CUECAST_BIN="$(built_folder)/cuecast"
export CUECAST_BIN
/usr/bin/python3 Tests/EndToEnd/backups.py "$@"
