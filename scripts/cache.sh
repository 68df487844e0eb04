# Where what is fetched once is kept, outside the clone; other scripts read this file.
if [ -n "${MUNSHI_CACHE:-}" ]; then
  cache=$MUNSHI_CACHE
elif [ "$(id -u)" = 0 ]; then
  cache=/var/cache/munshi # readable by the user Postgres runs as, which root's home is not
else
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/munshi
fi

need() { # need COMMAND PACKAGE: a command of the system's, installed where this may be done
  command -v "$1" >/dev/null 2>&1 && return
  if [ "$(id -u)" != 0 ]; then
    echo "error: $1 is needed for the tests: apt-get install $2" >&2
    exit 1
  fi
  apt-get update -q >&2
  apt-get install -y -q "$2" >&2
}
