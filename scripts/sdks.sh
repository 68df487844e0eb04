#!/usr/bin/env bash
# The platforms' own SDKs, unmodified, for the tests of channels: pywa, python-telegram-bot, slack_sdk, twilio, botbuilder-schema.
#
#   scripts/sdks.sh install          fetch them into the cache, once
#   scripts/sdks.sh run COMMAND …    run COMMAND with MUNSHI_TEST_SDKS set to `PACKAGES PROGRAM`: scripts/sdks/check.py asks them
set -euo pipefail

packages=(pywa==4.5.0 python-telegram-bot==22.8 slack_sdk==3.47.0 twilio==9.13.0 botbuilder-schema==4.17.1)
. "$(dirname "$0")/cache.sh"
# Some bring compiled parts, so they belong to one Python.
python=$(python3 -c 'import sys; print(f"{sys.version_info.major}.{sys.version_info.minor}")' 2>/dev/null || true)
home=$cache/platform-sdks-1-python$python

install() {
  [ -e "$home/.complete" ] && return
  echo "Installing ${home##*/} into $cache" >&2
  need python3 python3
  python3 -m pip --version >/dev/null 2>&1 || need pip3 python3-pip
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$home.XXXXXX")
  python3 -m pip install --quiet --root-user-action=ignore --target "$partial" "${packages[@]}" >&2 ||
    { rm -rf "$partial"; echo "error: ${home##*/} can't be installed" >&2; exit 1; }
  touch "$partial/.complete"
  chmod -R a+rX "$partial"
  # Another run may have been faster; its folder is as good.
  mv -T "$partial" "$home" 2>/dev/null || { rm -rf "$partial"; [ -e "$home/.complete" ]; }
}

case "${1:-}" in
install) install ;;
run)
  shift
  install
  MUNSHI_TEST_SDKS="$home $(cd "$(dirname "$0")" && pwd)/sdks/check.py"
  export MUNSHI_TEST_SDKS
  exec "$@"
  ;;
*)
  echo "usage: scripts/sdks.sh install | run COMMAND …" >&2
  exit 2
  ;;
esac
