#!/usr/bin/env bash
# An IMAP server (Debian's dovecot) with a mailbox for whoever asks, for the tests of mails that arrive.
#
#   scripts/imap.sh install          fetch it into the cache, once; nothing is installed on the system
#   scripts/imap.sh run COMMAND …    start it on free loopback ports, run COMMAND with MUNSHI_TEST_IMAP set to
#                                    `PLAIN_PORT TLS_PORT CERTIFICATE PASSWORD`, stop it
set -euo pipefail

packages=(dovecot-core dovecot-imapd libexttextcat-2.0-0 libexttextcat-data liblua5.4-0 libwrap0)
. "$(dirname "$0")/cache.sh"
home=$cache/dovecot

install() {
  [ -e "$home/.complete" ] && return
  echo "Installing ${home##*/} into $cache" >&2
  need python3 python3
  need openssl openssl
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$home.XXXXXX")
  (
    cd "$partial"
    apt-get download -q "${packages[@]}" >&2 || { apt-get update -q >&2 && apt-get download -q "${packages[@]}" >&2; }
    for package in *.deb; do dpkg -x "$package" .; done
    rm -- *.deb
    # Where it looks for its parts is written into it: not on the system, but beside where each of its programs runs.
    python3 -B - <<'PYTHON'
import pathlib

before = b"/usr/lib/dovecot/modules\0"
after = b"./modules\0".ljust(len(before), b"\0")
for file in [*pathlib.Path("usr/lib/dovecot").rglob("*"), *pathlib.Path("usr/bin").iterdir(), *pathlib.Path("usr/sbin").iterdir()]:
    if file.is_file() and not file.is_symlink():
        content = file.read_bytes()
        if before in content:
            file.write_bytes(content.replace(before, after))
PYTHON
  ) || { rm -rf "$partial"; echo "error: ${home##*/} can't be installed" >&2; exit 1; }
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

free_ports() {
  python3 -c 'import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(one.getsockname()[1] for one in sockets))'
}

# Its programs run as whoever runs this; root's as nobody, which dovecot asks for.
configure() {
  local user=$(id -un) group=$(id -gn)
  [ "$(id -u)" != 0 ] || { user=nobody group=nogroup; }
  mkdir -p "$folder/run/login" "$folder/state" "$folder/mails"
  ln -s "$home/usr/lib/dovecot/modules" "$folder/run/modules"
  ln -s "$home/usr/lib/dovecot/modules" "$folder/run/login/modules"
  [ "$(id -u)" != 0 ] || chown nobody:nogroup "$folder/mails"
  chmod 755 "$folder"
  cat >"$folder/dovecot.conf" <<CONFIG
base_dir = $folder/run
state_dir = $folder/state
libexec_dir = $home/usr/lib/dovecot
mail_plugin_dir = $home/usr/lib/dovecot/modules
import_environment = LD_LIBRARY_PATH=$libraries
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <$folder/certificate.pem
ssl_key = <$folder/key.pem
disable_plaintext_auth = no
default_internal_user = $user
default_internal_group = $group
default_login_user = $user
default_vsz_limit = 0
first_valid_uid = 0
mail_location = maildir:~/Maildir
mail_max_userip_connections = 1000
log_path = $folder/log
auth_mechanisms = plain login
auth_failure_delay = 0
passdb {
  driver = static
  args = password=$password
}
userdb {
  driver = static
  args = uid=$user gid=$group home=$folder/mails/%u
}
service imap-login {
  chroot =
  process_limit = 1000
  inet_listener imap {
    port = $plain_port
  }
  inet_listener imaps {
    port = $tls_port
    ssl = yes
  }
}
service imap {
  process_limit = 1000
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
service auth-worker {
  user = $user
}
CONFIG
}

answers() { # whether it greets
  python3 -c 'import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) as line: sys.exit(not line.recv(4) == b"* OK")' "$plain_port" 2>/dev/null
}

start() {
  folder=$(mktemp -d "${TMPDIR:-/tmp}/munshi-imap.XXXXXX")
  server=
  trap '[ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; } || true; rm -rf "$folder"' EXIT
  certify 2>"$folder/out" || { cat "$folder/out" >&2; exit 1; }
  libraries=$home/usr/lib/dovecot:$home/usr/lib/dovecot/modules/old-stats:$(echo "$home"/usr/lib/*-linux-gnu)
  password=letters-for-tests
  read -r plain_port tls_port <<<"$(free_ports)"
  configure
  # Through its own reader of settings: the program itself looks for that on the system.
  LD_LIBRARY_PATH=$libraries "$home/usr/bin/doveconf" -c "$folder/dovecot.conf" -f service=master -m master \
    -e "$home/usr/sbin/dovecot" -F -c "$folder/dovecot.conf" >"$folder/out" 2>&1 &
  server=$!
  for _ in $(seq 600); do
    answers && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$folder/out" "$folder/log" >&2 || true
  echo "error: the IMAP server did not start" >&2
  exit 1
}

case "${1:-}" in
install) install ;;
run)
  shift
  install
  start
  MUNSHI_TEST_IMAP="$plain_port $tls_port $folder/ca.pem $password" "$@"
  ;;
*)
  echo "usage: scripts/imap.sh install | run COMMAND …" >&2
  exit 2
  ;;
esac
