#!/bin/sh
# second_kernel.sh SHARED LOOKUP_ORACLE PRELOAD CONFIG: lookup_oracle with a configuration, in another kernel than the running one,
# which has what this one may lack (VRF devices). The machine for that is SHARED/tools/second_kernel/run.
set -e
shared=${SIDESTEP_SHARED_DIR:-$1}
oracle=$2 preload=$3 config=$4
run=$shared/tools/second_kernel/run
skip() {
	echo "SKIPPED: $(grep -c '^route get' "$config") lookups of $(basename "$config") not compared with a second kernel: $1"
	exit 77
}
[ -x "$run" ] || skip "no $run"
[ "$(id -u)" = 0 ] || skip "not root"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cp "$oracle" "$out/lookup_oracle"
cp "$preload" "$out/preload.so"
cp "$config" "$out/config"
# The machine sees this one's files except /tmp, where a build may be. The inner shell is the one to expand.
# shellcheck disable=SC2016
"$run" "$out" sh -c 'if [ ! -e "$1" ]; then mkdir -p "$(dirname "$1")" && cp "$OUT/preload.so" "$1"; fi
	uname -r; exec "$OUT/lookup_oracle" --config "$OUT/config"' sh "$preload" || status=$?
[ "${status:-0}" != 125 ] || skip "the machine did not start"
exit "${status:-0}"
