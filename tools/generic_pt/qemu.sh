#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# qemu.sh VERSION [ARCH]: print the path of a QEMU of that version (10.0, 11.1),
# for x86_64 or riscv64, that this machine's release does not have. Its Debian
# packages and every library they need are unpacked into the cache and run
# through their own dynamic loader; nothing is installed. The mirror is the one
# that apt uses already.

. "$(dirname "$0")/lib.sh"

case ${1:-} in
10.0)
	suite=trixie
	;;
11.1)
	suite=trixie-backports
	;;
*)
	die "QEMU_VERSION=${1:-}: only 10.0 (trixie) and 11.1 (trixie-backports) can be fetched" \
		"leave it out for the installed QEMU, or name a binary with QEMU="
	;;
esac

arch=${2:-x86_64}
case $arch in
x86_64)
	package=qemu-system-x86
	dir=$CACHE/qemu/$1
	;;
riscv64)
	package=qemu-system-riscv
	dir=$CACHE/qemu/$1-$arch
	;;
*)
	die "qemu.sh: no QEMU for $arch" "x86_64 or riscv64"
	;;
esac
root=$dir/root
program=$dir/qemu-system-$arch

# apt with a state of its own, in which nothing is installed
private_apt()
{
	"$@" -q -o APT::Architecture=amd64 -o APT::Sandbox::User=root \
		-o APT::Install-Recommends=false -o APT::Default-Release="$suite" \
		-o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$dir/lists" \
		-o Dir::State::status="$dir/status" -o Dir::Cache="$dir/cache"
}

mirror()
{
	apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(SITE)' 'Created-By: Packages' |
		sed -n '/security/d; s/^Debian main //p' | head -n 1
}

fetch()
{
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$root"
	: >"$dir/status"
	site=$(mirror)
	[ -n "$site" ] || site=http://deb.debian.org/debian
	for keys in /usr/share/keyrings/debian-archive-keyring.*; do :; done
	for s in trixie trixie-backports; do
		echo "deb [signed-by=$keys] $site $s main"
	done >"$dir/sources.list"
	private_apt apt-get update &&
	private_apt apt-get -y --download-only install "$package" &&
	for deb in "$dir"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$root" || return 1
	done
}

# Written last: its presence means that all the rest is there
write_program()
{
	cat >"$program.new" <<-END
		#!/bin/sh
		root=$root
		lib=\$root/usr/lib/x86_64-linux-gnu
		export QEMU_MODULE_DIR=\$lib/qemu
		exec "\$lib/ld-linux-x86-64.so.2" --library-path "\$lib" \\
			"\$root/usr/bin/qemu-system-$arch" \\
			-L "\$root/usr/share/qemu" -L "\$root/usr/share/seabios" "\$@"
	END
	chmod +x "$program.new"
	mv "$program.new" "$program"
}

if [ ! -x "$program" ]; then
	need debian-archive-keyring
	lock "$CACHE/qemu/lock-${dir##*/}"
fi
if [ ! -x "$program" ]; then
	say "fetching QEMU $1 from $suite (38 MB, log: ${dir}.log)"
	rm -rf "$dir"
	fetch >"$dir.log" 2>&1 || {
		tail -n 5 "$dir.log" >&2
		die "QEMU $1 could not be fetched" "see $dir.log and check the network"
	}
	rm -rf "$dir/cache" "$dir/lists"
	write_program
fi
echo "$program"
