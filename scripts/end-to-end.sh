#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Runs the end-to-end tests: the real binary as a process, real TCP, a real SQLite folder, on ports that the system chooses.
#
#   scripts/end-to-end.sh                              all of them, some classes at a time
#   scripts/end-to-end.sh EndToEnd.test_a_cued_break…  one test
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

choose_swift_flags
CUECAST_BIN="$(built_folder)/cuecast"
export CUECAST_BIN
# Debian's Python has the Debian packages zmq and protobuf; another one on PATH may not.
if [ "$#" -eq 0 ]; then
    /usr/bin/python3 Tests/EndToEnd/all.py
else
    /usr/bin/python3 Tests/EndToEnd/test_end_to_end.py "$@"
fi
