# SPDX-License-Identifier: GPL-2.0
#
# Only says which devices are there, after one read.

wait_for /dev/nvme0n1
head -c 65536 /dev/nvme0n1 > /dev/null
say_devices
