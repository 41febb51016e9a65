#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Fault rounds: three gateways on three servers of NATS, each in a network namespace of its own, with faults at random moments under
# publishing and acknowledging. A checker reads what clients were told: nothing confirmed is lost, nothing is counted twice, no
# position has two meanings, and all gateways come to the same boards and books.
#
#   scripts/jepsen.sh                    200 rounds, for about an hour
#   scripts/jepsen.sh --rounds N         so many; --seed S or CUECAST_SEED=S repeats a run's choices
#   scripts/jepsen.sh --faults A,B,…     some kinds of faults only; --help lists them
#   scripts/jepsen.sh --short            ten rounds, as `make test` has them
#
# Needs root, or a system that gives its users namespaces. Without them there are faults of processes only; with --network the run is
# refused instead.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

choose_swift_flags
build_products cuecast
CUECAST_BIN="$(built_folder)/cuecast"
export CUECAST_BIN
exec /usr/bin/python3 Tests/Faults/run.py "$@"
