#!/usr/bin/env bash
# What `cmake --install` puts where: unit, configuration, plugin and documents agree on the places, and the README's
# commands for a real fabric do what it says, in a root directory of their own.
set -euo pipefail

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
wrong() {
  echo "install_test: $1" >&2
  exit 1
}

DESTDIR=$root cmake --install "$HEDDLE_BUILD" > /dev/null
unit=$(find "$root" -name heddled.service)
[ -n "$unit" ] || wrong 'no unit is installed'
read -r daemon _ config < <(sed -n 's/^ExecStart=//p' "$unit")
[ -x "$root$daemon" ] || wrong "the unit starts $daemon, which is not installed"
[ -f "$root$config" ] || wrong "the unit reads $config, which is not installed"
"$root$daemon" --check-config --config "$root$config" > /dev/null
cmp "$root$config" <("$root$daemon" --print-config) || wrong "$config is not what the daemon says the defaults are"
"$root$daemon" --version | grep -qE '^heddled [0-9]+\.[0-9]+\.[0-9]+( \(commit [0-9a-f]{12}(, modified)?\))?$' ||
  wrong "heddled --version says $("$root$daemon" --version)"

# Where the build was configured as the README says.
if [ "$daemon" = /usr/sbin/heddled ]; then
  for page in heddled.8 heddle.1 heddle-top.1; do
    [ -f "$root/usr/share/man/man${page##*.}/$page" ] || wrong "no manual $page"
    ! grep -o '/[a-z]*/heddle/heddle.toml' "$root/usr/share/man/man${page##*.}/$page" | grep -vqxF "$config" ||
      wrong "$page names another configuration than $config"
  done
  library=$(sed -n 's/.*usual library path (.\(.*\).).*/\1/p' "$HEDDLE_SOURCE/docs/opensm.md")
  [ -f "$root$library/libheddle-opensm.so" ] || wrong "docs/opensm.md says $library: $(find "$root" -name '*.so')"
fi

# Its commands, as far as they go without a booted system.
cp -r --parents /etc/passwd /etc/group "$root"
systemd-sysusers --root="$root"
systemd-tmpfiles --root="$root" --create --prefix=/run/heddle --prefix=/var/lib/heddle
for directory in /run/heddle /var/lib/heddle; do
  [ -d "$root$directory" ] || wrong "no $directory"
done
systemctl --root="$root" enable heddled 2> /dev/null
[ -L "$root/etc/systemd/system/multi-user.target.wants/heddled.service" ] || wrong 'the unit cannot be enabled'

# Another prefix would tear them apart.
! said=$(DESTDIR=$root cmake --install "$HEDDLE_BUILD" --prefix /elsewhere 2>&1) || wrong 'another prefix was taken'
grep -q 'CMAKE_INSTALL_PREFIX=/elsewhere' <<< "$said" || wrong "another prefix is not explained: $said"
