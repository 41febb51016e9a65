#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Formats our Swift files in place, or says what is wrong with them. Generated code is left alone.
#
#   scripts/format.sh          formats
#   scripts/format.sh lint     changes nothing; fails when a rule of .swift-format is broken
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

mapfile -t files < <(our_swift_files)
[ "${#files[@]}" -gt 1 ] || fail 70 "found no Swift files; that cannot be right"
case "${1:-format}" in
    format) swift format format --in-place --parallel "${files[@]}" ;;
    lint) swift format lint --strict --parallel "${files[@]}" ;;
    *) fail 64 "unknown argument '$1'; there is 'lint'" ;;
esac
echo "format: ${#files[@]} files"
