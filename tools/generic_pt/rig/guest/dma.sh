# SPDX-License-Identifier: GPL-2.0
#
# Disks and network cards do DMA through the IOMMU:
#
#   source  read-only virtio-blk disk with the file system image
#   disks   each gets the image written, read back with caches dropped, and
#           summed; then it is mounted, and files are copied within it
#   cards   each receives and sends data from and to the host, summed
#
# All devices work at the same time, so that two CPUs map and unmap at once.
# The host knows what each sum must be; nothing is judged here.

source=/dev/vda
size=$(parameter size)
net_size=$(parameter net_size)
port=$(parameter port)

# sectors FIELD DISK: of the block layer's counters (3: read, 7: written)
sectors() {
	awk "{ print \$$1 }" "/sys/block/$2/stat"
}

say_disk_bytes() { # DISK NAME
	say moved device="$2" what=written bytes=$(($(sectors 7 "$1") * 512))
	say moved device="$2" what=read bytes=$(($(sectors 3 "$1") * 512))
}

# MODE direct maps large buffers of the caller, MODE buffered single pages of
# the page cache
write_image() { # DISK NAME MODE
	local flags=
	[ "$3" = direct ] && flags="iflag=direct oflag=direct"
	# shellcheck disable=SC2086
	dd if=$source of="/dev/$1" bs=8M $flags conv=fsync 2> /dev/null ||
		fail disk "writing the image to $2 failed"
	say wrote device="$2" how="$3"
}

read_image() { # DISK NAME MODE
	local flags=
	[ "$3" = direct ] && flags=iflag=direct
	# shellcheck disable=SC2086
	say sum device="$2" what=image bytes="$size" \
		md5="$(dd if="/dev/$1" bs=8M $flags 2> /dev/null | md5sum | cut -d' ' -f1)"
}

use_files() { # DISK NAME
	local dir=/mnt/$2
	mkdir -p "$dir"
	mount -t ext4 "/dev/$1" "$dir" || {
		fail disk "cannot mount the file system on $2"
		return
	}
	cp "$dir/file-0" "$dir/copy-of-file-0" || fail disk "cannot copy a file on $2"
	rm "$dir/file-1"
	mkdir "$dir/many"
	for i in $(seq 100); do
		echo "$i" > "$dir/many/$i"
	done
	umount "$dir" || fail disk "cannot unmount the file system on $2"
}

bring_up() { # NAME DRIVER ADDRESS
	local dev
	dev=$(netdev_of "$2") || {
		fail device "no network interface of driver $2"
		return 1
	}
	ip addr add "$3/24" dev "$dev"
	ip link set "$dev" up
	for i in $(seq 100); do
		[ "$(cat "/sys/class/net/$dev/carrier")" = 1 ] && return
		usleep 100000
	done
	fail device "$2 has no carrier after 10 seconds"
	return 1
}

receive() { # NAME HOST
	say sum device="$1" what=received bytes="$net_size" \
		md5="$(echo "get $1" | nc "$2" "$port" | md5sum | cut -d' ' -f1)"
}

transmit() { # NAME HOST
	local answer
	answer=$({
		echo "put $1 $net_size"
		head -c "$net_size" $source
	} | nc "$2" "$port")
	say sent device="$1" bytes="$net_size" answer="$answer"
}

use_card() { # NAME DRIVER HOST
	local dev
	dev=$(netdev_of "$2") || return
	receive "$1" "$3"
	transmit "$1" "$3"
	say moved device="$1" what=received \
		bytes="$(cat "/sys/class/net/$dev/statistics/rx_bytes")"
	say moved device="$1" what=sent \
		bytes="$(cat "/sys/class/net/$dev/statistics/tx_bytes")"
}

wait_for $source
wait_for /dev/vdb
wait_for /dev/nvme0n1
say_devices
say tables when=before pages="$(iommu_pages)"

bring_up virtio-net virtio_net 10.0.2.15
bring_up e1000e e1000e 10.0.3.15

# A little traffic by every device, while the host watches QEMU translate it
checkpoint watch
head -c 65536 $source > /dev/null
head -c 65536 /dev/vdb > /dev/null
head -c 65536 /dev/nvme0n1 > /dev/null
ping -c 1 -W 10 10.0.2.2 > /dev/null || fail network "no answer through virtio-net"
ping -c 1 -W 10 10.0.3.2 > /dev/null || fail network "no answer through e1000e"
checkpoint watched

percent=$(parameter fail_tables)
[ -z "$percent" ] || fail_tables "$percent"
watch_work /tmp/most &
watcher=$!

write_image nvme0n1 nvme direct &
jobs=$!
write_image vdb virtio-blk buffered &
jobs="$jobs $!"
use_card virtio-net virtio_net 10.0.2.2 &
jobs="$jobs $!"
use_card e1000e e1000e 10.0.3.2 &
jobs="$jobs $!"
# shellcheck disable=SC2086
wait $jobs
checkpoint written

drop_caches
read_image nvme0n1 nvme direct &
jobs=$!
read_image vdb virtio-blk buffered &
wait $jobs $!

use_files nvme0n1 nvme &
jobs=$!
use_files vdb virtio-blk &
wait $jobs $!
drop_caches

say_disk_bytes vda source
say_disk_bytes nvme0n1 nvme
say_disk_bytes vdb virtio-blk

kill $watcher
if [ -n "$percent" ]; then
	say_failed_tables
	say_leaks 300
fi
say tables when=during pages="$(cat /tmp/most)"
say tables when=after pages="$(iommu_pages)"
