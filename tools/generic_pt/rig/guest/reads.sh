# SPDX-License-Identifier: GPL-2.0
#
# Reads of the NVMe disk, each mapped and unmapped for itself, and nothing else

wait_for /dev/nvme0n1
say_devices
checkpoint begin
dd if=/dev/nvme0n1 of=/dev/null bs="$(parameter size)" count="$(parameter count)" \
	iflag=direct 2> /tmp/dd || fail disk "reading failed: $(cat /tmp/dd)"
checkpoint end
