/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device's IOVAs, mapped from userspace
 *
 * One device and one empty address space at a time. What cannot go on is said
 * to the host and ends the program.
 */
#ifndef RIG_VFIO_H
#define RIG_VFIO_H

#include <stdbool.h>
#include <stdint.h>

#define KIB 1024ULL
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define PAGE (4 * KIB)

typedef uint64_t u64;

/* Which interface of the kernel maps */
enum vfio_way {
	VFIO_TYPE1,
	VFIO_IOMMUFD,
};

enum vfio_way vfio_way(const char *name);

/**
 * vfio_open() - Take a device and attach it to an empty address space
 * @way: By which interface
 * @bdf: Name of the PCI device, bound to vfio-pci
 */
void vfio_open(enum vfio_way way, const char *bdf);

/* Give the device back. Its address space goes, with all that is mapped. */
void vfio_close(void);

/* Map memory of this program, or unmap it: exactly what was mapped together */
void vfio_map(void *memory, u64 iova, u64 bytes);
void vfio_unmap(u64 iova, u64 bytes);

/* The registers of BAR 0 */
volatile uint32_t *vfio_registers(void);

/* "RIG: fail", with errno unless it is 0, and the end */
void fail(const char *format, ...)
	__attribute__((__noreturn__, __format__(__printf__, 1, 2)));

/* Nanoseconds since some time ago */
u64 now(void);

#endif /* RIG_VFIO_H */
