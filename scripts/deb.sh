#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Makes the Debian package .build/dist/cuecast_VERSION_ARCH.deb from the release in .build/dist, and checks it with
# lintian. The same release and commit give the same bytes.
#
#   scripts/deb.sh                   makes the package
#   scripts/deb.sh --repack V FILE   makes FILE: the package that is there with another version, for tests of upgrades
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

dist="$scratch/dist"
[ -x "$dist/cuecast" ] || fail 66 "there is no release in $dist; run: make release"
version="$("$dist/cuecast" version | cut -d ' ' -f 2)"
architecture="$(dpkg --print-architecture)"
stage="$scratch/deb"
SOURCE_DATE_EPOCH="$(build_time)"
export SOURCE_DATE_EPOCH
rm -rf -- "$stage"

if [ "${1:-}" = --repack ]; then
    dpkg-deb --raw-extract "$dist/cuecast_${version}_$architecture.deb" "$stage"
    sed -i "s/^Version: .*/Version: $2/" "$stage/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 --build "$stage" "$3" >/dev/null
    exit
fi

noted="$(dpkg-parsechangelog --file deploy/debian/changelog --show-field Version)"
[ "$noted" = "$version" ] || fail 65 "deploy/debian/changelog ends with version $noted, and the binary is $version"
mapfile -t linked < <(sed -nE '/"STATIC_LINK"/{n;s/.*SPDXRef-(.*)".*/\1/p}' "$dist/cuecast.spdx.json" | sort -u)
scripts/check-copyright --package "${linked[@]}" || fail 65 "a licence of what is linked in is missing"

source="$stage/cuecast-$version"
files="$source/files"
mkdir -p "$files"/{bash,zsh,fish,man}
cp -R deploy/debian "$source/debian"
cp deploy/systemd/cuecast.service "$source/debian/cuecast.service"
# Never started by the package: an operator starts one for each source.
cp deploy/systemd/cuecast-watch@.service "$files"
cp "$dist"/{cuecast,cuecast-load,cuecast.spdx.json} "$files"
deploy/debian/make-config "$dist/cuecast" >"$files/cuecast.yaml"
# The binary checks its own configuration before it is packed: nothing but the data directory may differ from the default.
differing="$(diff <("$dist/cuecast" check-config) <("$dist/cuecast" check-config --config "$files/cuecast.yaml") || true)"
[ "$(grep -c '^[<>]' <<<"$differing")" -eq 2 ] && grep -q '^> dataDir: /var/lib/cuecast$' <<<"$differing" ||
    fail 65 "the packaged configuration is not the default with another data directory: $differing"
scripts/make-manuals "$files/man" "$dist/cuecast" "$dist/cuecast-load"
for tool in cuecast cuecast-load; do
    # Bash reads it as part of itself: no first line that names a shell.
    "$dist/$tool" --generate-completion-script bash | sed '1{/^#!/d}' >"$files/bash/$tool"
    "$dist/$tool" --generate-completion-script zsh >"$files/zsh/_$tool"
    "$dist/$tool" --generate-completion-script fish >"$files/fish/$tool.fish"
done

# Debian's tools name, compress and order everything; the build dependencies are debhelper's alone.
(cd "$source" && CUECAST_VERSION="$version" dpkg-buildpackage --build=binary --no-sign >"../build.log" 2>&1) ||
    { cat "$stage/build.log" >&2; fail 70 "dpkg-buildpackage failed"; }
mv "$stage/cuecast_${version}_$architecture.deb" "$dist/"
lintian --fail-on error,warning --tag-display-limit 0 "$dist/cuecast_${version}_$architecture.deb"
(cd "$dist" && sed -i "/ cuecast_/d" SHA256SUMS && sha256sum "cuecast_${version}_$architecture.deb" >>SHA256SUMS)
echo "deb: $dist/cuecast_${version}_$architecture.deb"
