#!/usr/bin/env bash
# A real browser for tests and pictures: Chromium with its driver, fonts for Indic scripts, and axe-core.
#
#   scripts/browser.sh install          install the packages (Debian) and fetch axe-core into the cache, once
#   scripts/browser.sh run COMMAND …    start the driver on a free loopback port, run COMMAND with MUNSHI_TEST_BROWSER (its
#                                       address) and MUNSHI_TEST_AXE (axe-core's file) set, stop it
set -euo pipefail

axe=axe-core-4.11.0
. "$(dirname "$0")/cache.sh"
axe_home=$cache/$axe

install() {
  if ! command -v chromedriver >/dev/null || ! command -v chromium >/dev/null || [ -z "$(fc-list :lang=ta family 2>/dev/null)" ]; then
    if [ "$(id -u)" != 0 ]; then
      echo "error: a browser is needed: apt-get install chromium chromium-driver fonts-noto-core" >&2
      exit 1
    fi
    apt-get update -q >&2
    apt-get install -y -q chromium chromium-driver fonts-noto-core >&2
  fi
  [ -e "$axe_home/.complete" ] && return
  echo "Fetching $axe into $cache" >&2
  need npm npm
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$axe_home.XXXXXX")
  (cd "$partial" && npm pack --silent "${axe%-*}@${axe##*-}" >/dev/null && tar -xzf "$axe.tgz" package/axe.min.js) ||
    { rm -rf "$partial"; echo "error: $axe can't be fetched" >&2; exit 1; }
  touch "$partial/.complete"
  chmod -R a+rX "$partial"
  # Another run may have been faster; its folder is as good.
  mv -T "$partial" "$axe_home" 2>/dev/null || { rm -rf "$partial"; [ -e "$axe_home/.complete" ]; }
}

start() {
  log=$(mktemp "${TMPDIR:-/tmp}/munshi-browser.XXXXXX")
  chromedriver --port=0 >"$log" 2>&1 &
  process=$!
  trap stop EXIT
  local port=
  for _ in $(seq 1200); do
    port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$log")
    [ -n "$port" ] && break
    kill -0 "$process" 2>/dev/null || { cat "$log" >&2; echo "error: the browser's driver did not start" >&2; exit 1; }
    sleep 0.1
  done
  [ -n "$port" ] || { cat "$log" >&2; echo "error: the browser's driver did not start in two minutes" >&2; exit 1; }
  export MUNSHI_TEST_BROWSER=127.0.0.1:$port MUNSHI_TEST_AXE=$axe_home/package/axe.min.js
}

stop() {
  kill "$process" 2>/dev/null || true
  wait "$process" 2>/dev/null || true
  rm -f "$log"
}

case "${1:-}" in
  install) install ;;
  run)
    shift
    install
    start
    "$@"
    ;;
  *)
    echo "usage: scripts/browser.sh install | run COMMAND …" >&2
    exit 2
    ;;
esac
