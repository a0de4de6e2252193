# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the scripts of this directory share. To be sourced with $0 in this
# directory. Progress goes to stderr; stdout is for results: TAP lines, or the
# path that was asked for.

set -eu

ROOT=$(cd "$(dirname "$0")/../.." && pwd -P)
TOOLS=$ROOT/tools/generic_pt
OUT=$ROOT/build
CACHE=${GENERIC_PT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/generic-pt}
# Scripts change directory
case $CACHE in /*) ;; *) CACHE=$PWD/$CACHE ;; esac
JOBS=${JOBS:-$(nproc)}

# The kernel's make must not see the flags and variables of ours
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1

say()
{
	echo "generic_pt: $*" >&2
}

# die WHAT [WHAT TO DO NEXT]
die()
{
	say "error: $1"
	[ $# -lt 2 ] || say "       $2"
	exit 1
}

# TAP results: ok NAME, not_ok NAME [WHY], skip NAME WHY
TAP_FAILED=0
ok()
{
	echo "ok - $1"
}

not_ok()
{
	echo "not ok - $1"
	[ $# -lt 2 ] || echo "# $2"
	TAP_FAILED=$((TAP_FAILED + 1))
}

skip()
{
	echo "ok - $1 # SKIP $2"
}

# Hold the lock FILE until this script ends
lock()
{
	mkdir -p "$(dirname "$1")"
	exec 9>"$1"
	flock -n 9 || { say "waiting for another run ($1)"; flock 9; }
}

# need PACKAGE...: install the Debian packages that are missing
need()
{
	command -v dpkg-query >/dev/null ||
		die "dpkg-query not found: this is not Debian" "install by hand what these packages hold: $*"
	missing=
	for p; do
		case " $(dpkg-query -W -f '${db:Status-Status} ' "$p" 2>/dev/null)" in
		*" installed "*) ;;
		*) missing="$missing $p" ;;
		esac
	done
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] ||
		die "packages are missing, and only root can install them" "as root: apt-get install$missing"
	mkdir -p "$OUT"
	say "installing$missing (log: build/apt.log)"
	# shellcheck disable=SC2086 # a list of words
	(
		flock 8
		install="apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends"
		export DEBIAN_FRONTEND=noninteractive
		# The lists of packages may be missing or old
		$install $missing || { apt-get -q update; $install $missing; }
	) 8>"$OUT/apt.lock" >"$OUT/apt.log" 2>&1 || {
		tail -n 5 "$OUT/apt.log" >&2
		die "apt-get could not install$missing" "see build/apt.log, check the network, then run this again"
	}
}

# heartbeat WHAT DIRECTORY: say every half minute how far a build in DIRECTORY is,
# until heartbeat_end
heartbeat()
{
	(
		trap 'kill "$sleep" 2>/dev/null; exit 0' TERM
		t=0
		while kill -0 $$ 2>/dev/null; do
			sleep 30 >/dev/null 2>&1 &
			sleep=$!
			wait "$sleep"
			t=$((t + 30))
			n=$(find "$2" -name '*.o' 2>/dev/null | wc -l)
			say "$1: $t s, $n objects built so far"
		done
	) 9>&- &
	HEART=$!
}

heartbeat_end()
{
	kill "$HEART" 2>/dev/null || :
	wait "$HEART" 2>/dev/null || :
}

# Prepare the kernel tree. Sets KERNEL (source) and BUILDS (for O= directories).
prepare_kernel()
{
	KERNEL=$("$TOOLS/prepare.sh")
	BUILDS=$(dirname "$KERNEL")/build
	mkdir -p "$BUILDS"
}

# What a kernel build needs. ccache is made to hit across checkouts: outputs and
# sources stand at the same relative place below $CACHE for each of them.
kernel_build_env()
{
	need gcc make flex bison bc libelf-dev libssl-dev ccache python3
	export PATH="/usr/lib/ccache:$PATH"
	export CCACHE_DIR="$CACHE/ccache" CCACHE_BASEDIR="$CACHE" CCACHE_NOHASHDIR=1
	export CCACHE_SLOPPINESS=include_file_ctime,include_file_mtime CCACHE_MAXSIZE=5G
	export KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_VERSION=1
	export KBUILD_BUILD_USER=generic_pt KBUILD_BUILD_HOST=generic_pt
}
