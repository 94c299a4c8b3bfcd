#!/usr/bin/env bash
# The unit is well formed, with each of its drop-ins too, hardened to an exposure of at most 1.5, and its user, groups and
# directories are understood.
set -euo pipefail

unit=$(mktemp -d)
trap 'rm -rf "$unit"' EXIT
# The binary and the manual are not installed here: stand-ins for what only an installation has.
sed -e "s|^ExecStart=[^ ]*|ExecStart=$HEDDLE_BUILD/daemon/app/heddled|" -e '/^Documentation=/d' \
  "$HEDDLE_BUILD/systemd/heddled.service" > "$unit/heddled.service"

systemd-analyze verify --man=no "$unit/heddled.service"
systemd-analyze security --offline=yes --threshold=15 "$unit/heddled.service" | tail -n 1
# What tells OpenSM of new tables in a file.
cp "$HEDDLE_SOURCE/systemd/heddle-opensm-lfts.path" "$HEDDLE_SOURCE/systemd/heddle-opensm-lfts.service" "$unit/"
systemd-analyze verify --man=no "$unit/heddle-opensm-lfts.path" "$unit/heddle-opensm-lfts.service"
# A daemon a rail: the same, with a configuration, sockets and state of its own.
sed -e "s|^ExecStart=[^ ]*|ExecStart=$HEDDLE_BUILD/daemon/app/heddled|" -e '/^Documentation=/d' \
  "$HEDDLE_BUILD/systemd/heddled@.service" > "$unit/heddled@.service"
systemd-analyze verify --man=no "$unit/heddled@rail1.service"
systemd-analyze security --offline=yes --threshold=15 "$unit/heddled@.service" > /dev/null
own=$({ diff "$unit/heddled.service" "$unit/heddled@.service" || true; } | sed -n 's/^> \([A-Za-z]*\)=.*/\1/p' | sort | xargs)
[ "$own" = 'Description ExecStart RuntimeDirectory StateDirectory' ]
# What a host runs.
sed -e "s|^ExecStart=[^ ]*|ExecStart=$HEDDLE_BUILD/tools/agent/heddle-agent|" -e '/^Documentation=/d' \
  "$HEDDLE_BUILD/systemd/heddle-agent.service" > "$unit/heddle-agent.service"
systemd-analyze verify --man=no "$unit/heddle-agent.service"
systemd-analyze security --offline=yes --threshold=15 "$unit/heddle-agent.service" | tail -n 1
mkdir "$unit/heddled.service.d"
for drop_in in "$HEDDLE_SOURCE"/systemd/heddled.service.d/*.conf; do
  cp "$drop_in" "$unit/heddled.service.d/"
  systemd-analyze verify --man=no "$unit/heddled.service"
  systemd-analyze security --offline=yes --threshold=15 "$unit/heddled.service" > /dev/null
  rm "$unit/heddled.service.d/"*
done
# And with all of them.
cp "$HEDDLE_SOURCE"/systemd/heddled.service.d/*.conf "$unit/heddled.service.d/"
systemd-analyze verify --man=no "$unit/heddled.service"
systemd-analyze security --offline=yes --threshold=15 "$unit/heddled.service" > /dev/null
rm "$unit/heddled.service.d/"*

# OpenSM is ordered before the daemon, for each of its ports, and both wait for what they need.
cp /lib/systemd/system/opensm@.service "$unit/" 2> /dev/null || printf '[Service]\nExecStart=/bin/true\n' > "$unit/opensm@.service"
sed -i -e 's|^ExecStart=.*|ExecStart=/bin/true|' -e '/^Documentation=/d' "$unit/opensm@.service"
mkdir "$unit/opensm@.service.d"
cp "$HEDDLE_SOURCE/systemd/opensm.service.d/heddle.conf" "$unit/opensm@.service.d/"
systemd-analyze verify --man=no "$unit/opensm@mlx5_0.service"
grep -q '^Before=heddled.service$' "$unit/opensm@.service.d/heddle.conf"
grep -q '^After=modprobe@ib_umad.service$' "$unit/heddled.service"

# A fault ends the daemon, and not its neighbours.
grep -q '^MemoryMax=' "$unit/heddled.service"

# The longest orderly stop (daemon/core/regulation.cc) ends before systemd loses its patience.
longest=$(sed -n 's/.*longest_stop = std::chrono::seconds{\([0-9]*\)}.*/\1/p' "$HEDDLE_SOURCE/daemon/core/regulation.cc")
patience=$(sed -n 's/^TimeoutStopSec=\([0-9]*\)$/\1/p' "$unit/heddled.service")
[ "$patience" -ge $((longest + 15)) ]
systemd-sysusers --dry-run "$HEDDLE_SOURCE/systemd/heddle.sysusers" > /dev/null

mkdir "$unit/root"
cp -r --parents /etc/passwd /etc/group "$unit/root"
systemd-sysusers --root="$unit/root" "$HEDDLE_SOURCE/systemd/heddle.sysusers"
systemd-sysusers --root="$unit/root" "$HEDDLE_SOURCE/systemd/heddle-agent.sysusers"
systemd-tmpfiles --root="$unit/root" --create "$HEDDLE_SOURCE/systemd/heddle.tmpfiles"
# The devices belong to a group of their own that has no members: whoever may use the command line may not send MADs.
grep -q '^heddle-umad:[^:]*:[0-9]*:$' "$unit/root/etc/group"
grep -q '^heddle-agent-umad:[^:]*:[0-9]*:$' "$unit/root/etc/group"
grep -q '^SupplementaryGroups=heddle-umad$' "$unit/heddled.service"
grep -q 'GROUP="heddle-umad"' "$HEDDLE_SOURCE/systemd/60-heddle.rules"
if grep -q 'GROUP="heddle"' "$HEDDLE_SOURCE/systemd/60-heddle.rules"; then exit 1; fi
[ -d "$unit/root/var/lib/heddle" ] && [ -d "$unit/root/run/heddle" ]
