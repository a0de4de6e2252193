#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Time the library against hand-written floors and 6.12's own code: builds UML
# without debug options and runs the suite of drivers/iommu/generic_pt/bench/.
# What UML cannot do is done in userspace: threads, many levels and pages, the
# same code without freeing tables, the rows of one page and of lookups with
# retpolines, instructions by callgrind. What invalidations a driver
# asks for is counted in an emulated guest.
# A table on stdout, build/bench.json, build/bench.svg, logs in build/bench/.
# Fails only when it cannot measure.
#
# usage: bench.sh [CASE]    of UML: bench_map_unmap bench_lookup ... (all)
#        bench.sh test      that the part in userspace works, and what it counts, as TAP

. "$(dirname "$0")/lib.sh"

CASE=${1:-*}
TIMEOUT=${BENCH_TIMEOUT:-1200}
LOGS=$OUT/bench

kernel_build_env
prepare_kernel
O=$BUILDS/bench
mkdir -p "$LOGS"
lock "$BUILDS/bench.lock"

U=$OUT/ubench
userspace()
{
	mkdir -p "$U/peer/amd"
	cp "$KERNEL/drivers/iommu/generic_pt/peer/amd/io_pgtable_v2.c" "$U/peer/amd/"
	make -C "$TOOLS/ubench" -j"$JOBS" OUT="$U" PEER="$U/peer"
}

if [ "$CASE" = test ]; then
	say "bench: userspace (log: build/bench/user.log)"
	{
		userspace && "$U/ubench-plain" flushes >"$LOGS/flushes" &&
			"$U/ubench-retpoline" calls
	} >"$LOGS/user.log" 2>&1 9>&- </dev/null ||
		{ not_ok "bench: userspace" "see build/bench/user.log"; exit 1; }
	ok "bench: userspace compiles and runs"
	# P14 must be 0
	while IFS='|' read -r _ _ what way _ count; do
		name="bench: $way: $what: $count"
		[ "$count" = 0 ] && ok "$name" || not_ok "$name"
	done <<-EOF
	$(grep '|P14|' "$LOGS/flushes")
	EOF
	[ "$TAP_FAILED" = 0 ]
	exit
fi

say "bench: building (log: build/bench/build.log)"
(cd "$KERNEL" && ./tools/testing/kunit/kunit.py build --build_dir "$O" --jobs "$JOBS" \
	--kunitconfig drivers/iommu/generic_pt/bench/.kunitconfig) >"$LOGS/build.log" 2>&1 9>&- </dev/null || {
	grep -E 'error:|\*\*\*|ERROR' "$LOGS/build.log" | head -n 15 >&2
	die "the benchmark cannot be built" "see build/bench/build.log"
}

# Memory for the tables of all peers over the largest span, used as needed
say "bench: running (console: build/bench/console)"
rc=0
timeout -k 10 "$TIMEOUT" "$O/linux" mem=3G console=tty kunit_shutdown=halt \
	"kunit.filter_glob=iommu_pt_bench.$CASE" >"$LOGS/console" 2>&1 9>&- </dev/null || rc=$?
[ $rc != 124 ] || die "the benchmark did not end within $TIMEOUT s" "see build/bench/console"

say "bench: userspace (log: build/bench/user.log)"
need valgrind
{
	userspace &&
		"$U/ubench-plain" growth threads flushes sparse >"$LOGS/user" &&
		"$U/ubench-retpoline" one_page lookup >"$LOGS/retpoline" &&
		valgrind --tool=callgrind --callgrind-out-file="$LOGS/callgrind.out" \
			"$U/ubench-plain" calls &&
		callgrind_annotate --inclusive=yes --threshold=100 "$LOGS/callgrind.out" \
			>"$LOGS/callgrind"
} >"$LOGS/user.log" 2>&1 9>&- </dev/null ||
	die "the benchmark in userspace failed" "see build/bench/user.log"

say "bench: counting invalidations in a guest (log: build/bench/rig.log)"
"$TOOLS/rig.sh" test amd-invalidations >"$LOGS/rig.tap" 2>"$LOGS/rig.log" ||
	die "the guest failed" "see build/bench/rig.tap and build/bench/rig.log"
cp "$OUT/rig/amd-invalidations/counts" "$LOGS/counts"

exec python3 "$TOOLS/bench.py" "$LOGS" "$O" "$U" "$OUT/bench.json" "$OUT/bench.svg"
