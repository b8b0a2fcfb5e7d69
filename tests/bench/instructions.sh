#!/bin/sh
# Instructions of one verification and one extraction, by vendor and size,
# beside those of the stored baseline. Counted under valgrind, which counts the
# same on a busy machine as on a quiet one; it has no SHA instructions, so a
# digest costs more here than on a real processor.
#
#   instructions.sh BINARY BASELINE [update]
set -eu
binary=$1 baseline=$2 update=${3:-}
command -v valgrind >/dev/null || { echo 'valgrind is needed' >&2; exit 1; }
[ -x "$binary" ] || { echo "$binary is not built: run make bench-instructions" >&2; exit 1; }
# More than this above the baseline is a regression.
tolerated_percent=3

refs() {
  "$binary" "$@" || { echo "$binary $* does not do its work" >&2; return 1; }
  valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$binary" "$@" 2>&1 >/dev/null |
    awk '/I *refs:/ { gsub(",", "", $NF); print $NF; found = 1 } END { exit !found }' ||
    { echo "$binary $* was not counted" >&2; return 1; }
}

found=$(mktemp)
trap 'rm -f "$found"' EXIT
for vendor in stripe github standard-webhooks shopify slack; do
  # The others' events are found by headers, and extraction is one for all.
  case $vendor in stripe | standard-webhooks | slack) steps='verify extract' ;; *) steps=verify ;; esac
  for step in $steps; do
    for size in 1000 10000 100000; do
      once=$(refs "$vendor" "$step" "$size" 1)
      more=$(refs "$vendor" "$step" "$size" 11)
      echo "$vendor $step $size $(( (more - once) / 10 ))" >>"$found"
    done
  done
done
if [ "$update" = update ]; then
  cp "$found" "$baseline"
  echo "written to $baseline"
  exit 0
fi
awk -v percent=$tolerated_percent '
  NR == FNR { before[$1 " " $2 " " $3] = $4; next }
  { what = $1 " " $2 " " $3
    if (!(what in before)) { printf "%-36s %12d  not in the baseline\n", what, $4; worse = 1; next }
    change = ($4 - before[what]) * 100 / before[what]
    printf "%-36s %12d  %+.1f %%\n", what, $4, change
    if (change > percent) worse = 1 }
  END { exit worse }' "$baseline" "$found" || { echo "more than $tolerated_percent % above the baseline; if that is meant: make bench-instructions UPDATE=1" >&2; exit 1; }
