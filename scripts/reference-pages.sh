#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Makes the tables of docs/reference from the declarations in the code: keys of the configuration, limits, metrics, alarms, exit
# codes and status codes.
#
#   scripts/reference-pages.sh            writes the pages anew
#   scripts/reference-pages.sh --check    writes nothing; fails and names the pages that are not current
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

case "${1:-}" in
    "" | --check) ;;
    *) fail 64 "unknown option '$1'; there is --check" ;;
esac
choose_swift_flags
build_products cuecast
"$(built_folder)/cuecast" reference-pages docs/reference "$@"
