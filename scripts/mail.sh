#!/usr/bin/env bash
# A mail server (aiosmtpd) with mailboxes for the tests of channels; it misbehaves as the recipient's name says.
#
#   scripts/mail.sh install          fetch it into the cache, once
#   scripts/mail.sh run COMMAND …    start it on free loopback ports, run COMMAND with MUNSHI_TEST_MAIL set to
#                                    `PLAIN_PORT STARTTLS_PORT TLS_PORT MAILBOXES CERTIFICATE LOGIN PASSWORD`, stop it
set -euo pipefail

package=aiosmtpd==1.4.6
parts=(atpublic==7.0.0 attrs==26.1.0)
. "$(dirname "$0")/cache.sh"
home=$cache/${package/==/-}

install() {
  [ -e "$home/.complete" ] && return
  echo "Installing ${home##*/} into $cache" >&2
  need python3 python3
  need openssl openssl
  python3 -m pip --version >/dev/null 2>&1 || need pip3 python3-pip
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$home.XXXXXX")
  python3 -m pip install --quiet --root-user-action=ignore --no-deps --target "$partial" "$package" "${parts[@]}" >&2 ||
    { rm -rf "$partial"; echo "error: ${home##*/} can't be installed" >&2; exit 1; }
  touch "$partial/.complete"
  chmod -R a+rX "$partial"
  # Another run may have been faster; its folder is as good.
  mv -T "$partial" "$home" 2>/dev/null || { rm -rf "$partial"; [ -e "$home/.complete" ]; }
}

# An authority of the test's own, and a certificate for this machine signed by it.
certify() {
  local new=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
  openssl req -x509 "${new[@]}" -keyout "$folder/ca.key" -out "$folder/ca.pem" -subj "/CN=munshi tests" -days 2
  openssl req "${new[@]}" -keyout "$folder/key.pem" -out "$folder/request.pem" -subj "/CN=localhost"
  printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n' >"$folder/extensions"
  openssl x509 -req -in "$folder/request.pem" -CA "$folder/ca.pem" -CAkey "$folder/ca.key" -CAcreateserial -days 2 \
    -extfile "$folder/extensions" -out "$folder/certificate.pem"
}

start() {
  folder=$(mktemp -d "${TMPDIR:-/tmp}/munshi-mail.XXXXXX")
  server=
  trap '[ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; } || true; rm -rf "$folder"' EXIT
  mkdir "$folder/boxes"
  certify 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
  PYTHONPATH=$home python3 -B "$(dirname "$0")/mail/server.py" "$folder" >"$folder/address" 2>"$folder/log" &
  server=$!
  for _ in $(seq 1200); do
    [ -s "$folder/address" ] && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$folder/log" >&2
  echo "error: the mail server did not start" >&2
  exit 1
}

case "${1:-}" in
install) install ;;
run)
  shift
  install
  start
  MUNSHI_TEST_MAIL=$(head -n 1 "$folder/address") "$@"
  ;;
*)
  echo "usage: scripts/mail.sh install | run COMMAND …" >&2
  exit 2
  ;;
esac
