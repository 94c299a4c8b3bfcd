#!/usr/bin/env bash
# The unit is well formed, hardened to an exposure of at most 2.0, and its user and directories are understood.
set -euo pipefail

unit=$(mktemp -d)
trap 'rm -rf "$unit"' EXIT
# The binary and the manual are not installed here: stand-ins for what only an installation has.
sed -e "s|^ExecStart=[^ ]*|ExecStart=$HEDDLE_BUILD/daemon/app/heddled|" -e '/^Documentation=/d' \
  "$HEDDLE_BUILD/systemd/heddled.service" > "$unit/heddled.service"

systemd-analyze verify --man=no "$unit/heddled.service"
systemd-analyze security --offline=yes --threshold=20 "$unit/heddled.service" | tail -n 1
systemd-sysusers --dry-run "$HEDDLE_SOURCE/systemd/heddle.sysusers" > /dev/null

mkdir "$unit/root"
cp -r --parents /etc/passwd /etc/group "$unit/root"
systemd-sysusers --root="$unit/root" "$HEDDLE_SOURCE/systemd/heddle.sysusers"
systemd-tmpfiles --root="$unit/root" --create "$HEDDLE_SOURCE/systemd/heddle.tmpfiles"
[ -d "$unit/root/var/lib/heddle" ] && [ -d "$unit/root/run/heddle" ]
