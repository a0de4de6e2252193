#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Static checks of all that is ours. TAP on stdout: one line a check, after it
# what it found. Full logs in build/check/.
#
# usage: check.sh [CHECK...]     (default: all)

. "$(dirname "$0")/lib.sh"

CHECKS=${*:-scripts spdx length format kernel_doc checkpatch series build sparse coccicheck}
CLANG_FORMAT=14 # the major version that .clang-format is for

need perl python3
kernel_build_env
prepare_kernel
LOGS=$OUT/check
O=$BUILDS/check
mkdir -p "$LOGS" "$O"
lock "$BUILDS/check.lock"
cd "$ROOT"

# Overlay files, or those whose name matches a pattern: ours [PATTERN]
ours()
{
	python3 -c 'import sys, tree; print(*tree.overlay(), sep="\n")' | grep -E "${1:-.}" || :
}
PYTHONPATH=$TOOLS
export PYTHONPATH

# report NAME LOG: passed when LOG is empty, or what it says
report()
{
	if [ -s "$2" ]; then
		not_ok "check: $1"
		sed 's/^/# /' "$2" | head -n "${CHECK_LINES:-40}"
		say "check: $1: failed, see build/check/$(basename "$2")"
	else
		ok "check: $1"
		say "check: $1: passed"
	fi
}

# A check of the source that looks at nothing has not passed
some_or_skip()
{
	[ -s "$2" ] && return 0
	skip "check: $1" "there is no such file yet"
	return 1
}

# The project's scripts are at least syntax
scripts()
{
	log=$LOGS/scripts
	: >"$log"
	find Makefile .ci tools -name '*.sh' -o -path .ci/run | while read -r f; do
		sh -n "$f" || :
	done 2>>"$log"
	find tools -name '*.py' | while read -r f; do
		python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$f" 2>&1 |
			tail -n 1 | sed "s,^,$f: ,"
	done >>"$log"
	report "scripts parse" "$log"
}

# Each file says its license in its first lines
spdx()
{
	git -c safe.directory='*' ls-files -co --exclude-standard |
		grep -Ev '^(patches/(VERSION|.*\.(patch|files))|patches/cover|README\.md)$' |
		while read -r f; do
			[ ! -f "$f" ] || head -n 5 "$f" | grep -q 'SPDX-License-Identifier: ' ||
				echo "$f: no SPDX-License-Identifier in its first 5 lines"
		done >"$LOGS/spdx"
	report "license of each file" "$LOGS/spdx"
}

# A long file is a question, not a fault
length()
{
	ours '\.[ch]$' | while read -r f; do
		n=$(wc -l <"$f")
		[ "$n" -le 700 ] || echo "# $f: $n lines: split it by what a reader looks for?"
	done >"$LOGS/length"
	ok "check: length of files ($(wc -l <"$LOGS/length") are over 700 lines)"
	cat "$LOGS/length"
}

format()
{
	need clang-format
	version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
	if [ "$version" != $CLANG_FORMAT ]; then
		skip "check: clang-format" "version $version lays out otherwise than $CLANG_FORMAT"
		return
	fi
	ours '\.[ch]$' >"$LOGS/format.files"
	some_or_skip clang-format "$LOGS/format.files" || return 0
	xargs clang-format --dry-run -Werror --style=file <"$LOGS/format.files" >"$LOGS/format" 2>&1 || :
	report "clang-format of $(wc -l <"$LOGS/format.files") files" "$LOGS/format"
}

# Public headers also need a Return: in each comment
kernel_doc()
{
	ours '\.[ch]$' >"$LOGS/kernel-doc.files"
	some_or_skip kernel-doc "$LOGS/kernel-doc.files" || return 0
	while read -r f; do
		wall=
		case $f in include/*) wall=-Wall ;; esac
		"$KERNEL/scripts/kernel-doc" -none -Werror $wall "$f" 2>&1 ||
			echo "$f: kernel-doc failed"
	done <"$LOGS/kernel-doc.files" >"$LOGS/kernel-doc"
	report "kernel-doc of $(wc -l <"$LOGS/kernel-doc.files") files" "$LOGS/kernel-doc"
}

# What checkpatch says, but for what makes no sense in userspace. A shim defines the
# very macros that checkpatch wants to see used. Where a line ends is clang-format's
# to say, whose layout checkpatch does not always like.
run_checkpatch()
{
	(cd "$KERNEL" && ./scripts/checkpatch.pl --strict --terse --show-types \
		--no-summary --ignore OPEN_ENDED_LINE "$@") 2>&1 |
		grep -Ev -e '^tools/[^:]*:[0-9]*: [A-Z]*:(AVOID_BUG|STRCPY): ' \
			-e '^tools/testing/generic_pt/shim/' \
			-e '^tools/generic_pt/ubench/[a-z_]*\.h:' || :
}

checkpatch()
{
	ours >"$LOGS/checkpatch.files"
	some_or_skip checkpatch "$LOGS/checkpatch.files" || return 0
	# shellcheck disable=SC2046 # a list of files
	run_checkpatch -f $(cat "$LOGS/checkpatch.files") >"$LOGS/checkpatch"
	report "checkpatch of $(wc -l <"$LOGS/checkpatch.files") files" "$LOGS/checkpatch"
}

# The series as it goes out. Who sends it signs it off. The MAINTAINERS section
# comes with one commit, and covers the files of all of them.
series()
{
	log=$LOGS/series
	if "$TOOLS/series.sh" >"$log" 2>&1; then
		: >"$log"
	fi
	report "the series gives the prepared tree" "$log"
	[ ! -s "$log" ] || return 0
	find "$OUT/series" -name '*.patch' ! -name '0000-*' | sort >"$LOGS/series.files"
	while read -r f; do
		run_checkpatch --showfile --no-signoff --ignore FILE_PATH_CHANGES "$f" |
			sed "s,^,$(basename "$f"): ,"
	done <"$LOGS/series.files" >"$LOGS/checkpatch-series"
	report "checkpatch of $(wc -l <"$LOGS/series.files") patches of the series" \
		"$LOGS/checkpatch-series"
}

# Directories under drivers/ in which the overlay or a patch has a C file
kernel_dirs()
{
	{
		ours '^drivers/.*\.c$'
		sed -n 's,^+++ b/\(drivers/.*\.c\)$,\1,p' patches/*.patch 2>/dev/null || :
	} | sed 's,/[^/]*$,/,' | sort -u |
		awk '{ for (d in kept) if (index($0, d) == 1) next; kept[$0]; print }'
}

kmake()
{
	make -C "$KERNEL" O="$O" ARCH=x86_64 -j"$JOBS" -k "$@" 9>&- </dev/null
}

# Configure once a change of the options makes it necessary
configure()
{
	cat "$TOOLS/check.config" >"$O/wanted.new"
	cat "$KERNEL/drivers/iommu/generic_pt/Kconfig" >>"$O/wanted.new" 2>/dev/null || :
	cmp -s "$O/wanted.new" "$O/wanted" && return
	kmake KCONFIG_ALLCONFIG="$TOOLS/check.config" allnoconfig >"$LOGS/configure" 2>&1 ||
		die "the kernel cannot be configured" "see build/check/configure"
	mv "$O/wanted.new" "$O/wanted"
}

# Messages of a build log about files that are new or patched
about_ours()
{
	{
		ours '\.[chS]$'
		sed -n 's,^+++ b/\(.*\.[chS]\)$,\1,p' patches/*.patch
	} | sed 's/$/:/' >"$LOGS/ours"
	sed "s,^\.\./\.\./linux/,,; s,^$KERNEL/,," "$1" | grep -F -f "$LOGS/ours" |
		grep -E '(warning|error):' | sort -u || :
}

build()
{
	dirs=$(kernel_dirs)
	[ -n "$dirs" ] || { skip "check: W=1" "there is no C file in drivers/ yet"; return 0; }
	configure
	say "check: compiling $dirs with W=1"
	# Compiled anew each time (ccache repeats the warnings of what is equal)
	for d in $dirs; do
		[ ! -d "$O/$d" ] || find "$O/$d" -name '*.o' -delete
	done
	rc=0
	# shellcheck disable=SC2086
	kmake W=1 $dirs >"$LOGS/build.log" 2>&1 || rc=$?
	about_ours "$LOGS/build.log" >"$LOGS/build"
	[ $rc = 0 ] || grep -E 'error:|\*\*\*' "$LOGS/build.log" >>"$LOGS/build" ||
		echo "make ended with $rc: see build/check/build.log" >>"$LOGS/build"
	# The flush is that of architectures whose DMA is not coherent
	ours '^drivers/.*\.c$' | grep -v '/iommu_pt_flush\.c$' | while read -r f; do
		[ -f "$O/${f%.c}.o" ] || echo "$f: not compiled (see tools/generic_pt/check.config)"
	done >>"$LOGS/build"
	report "W=1" "$LOGS/build"
}

sparse()
{
	need sparse
	dirs=$(kernel_dirs)
	[ -n "$dirs" ] || { skip "check: sparse" "there is no C file in drivers/ yet"; return 0; }
	configure
	say "check: sparse on $dirs"
	rc=0
	# shellcheck disable=SC2086
	kmake W=1 C=2 $dirs >"$LOGS/sparse.log" 2>&1 || rc=$?
	about_ours "$LOGS/sparse.log" >"$LOGS/sparse"
	[ $rc = 0 ] || echo "make ended with $rc: see build/check/sparse.log" >>"$LOGS/sparse"
	grep -q '^  CHECK ' "$LOGS/sparse.log" || echo "sparse was not run" >>"$LOGS/sparse"
	report "sparse" "$LOGS/sparse"
}

# What the kernel's semantic patches find in new files
coccicheck()
{
	need coccinelle
	[ -d "$KERNEL/drivers/iommu/generic_pt" ] || { skip "check: coccicheck" "there is no library yet"; return 0; }
	configure
	say "check: coccicheck on drivers/iommu/generic_pt/"
	rc=0
	{
		kmake syncconfig &&
		kmake coccicheck MODE=report M="$KERNEL/drivers/iommu/generic_pt" J=1
	} >"$LOGS/coccicheck.log" 2>&1 || rc=$?
	sed "s,^$KERNEL/,," "$LOGS/coccicheck.log" | grep -E '^(drivers|include)/[^ ]*:[0-9]+:' |
		sort -u >"$LOGS/coccicheck" || :
	[ $rc = 0 ] || echo "make ended with $rc: see build/check/coccicheck.log" >>"$LOGS/coccicheck"
	[ "$(grep -c -- '--cocci-file' "$LOGS/coccicheck.log")" -gt 50 ] ||
		echo "the semantic patches were not run: see build/check/coccicheck.log" >>"$LOGS/coccicheck"
	report "coccicheck" "$LOGS/coccicheck"
}

for c in $CHECKS; do
	"$c"
done

[ "$TAP_FAILED" = 0 ]
