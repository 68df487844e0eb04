# Where what is fetched once is kept, outside the clone; other scripts read this file.
if [ -n "${MUNSHI_CACHE:-}" ]; then
  cache=$MUNSHI_CACHE
elif [ "$(id -u)" = 0 ]; then
  cache=/var/cache/munshi # readable by the user Postgres runs as, which root's home is not
else
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/munshi
fi
