// SPDX-License-Identifier: GPL-2.0-only
/*
 * Floors: the loads and stores alone, written by hand
 *
 * The fastest of several variants counts, so that it flatters nobody.
 */
#include <linux/io.h>
#include <linux/string.h>

#include "bench.h"

#define LINE 8

static bool line_empty(const u64 *items)
{
	return !(items[0] | items[1] | items[2] | items[3] | items[4] |
		 items[5] | items[6] | items[7]);
}

static bool line_present(const u64 *items)
{
	return items[0] & items[1] & items[2] & items[3] & items[4] & items[5] &
	       items[6] & items[7] & 1;
}

static void line_fill(u64 *items, u64 item)
{
	unsigned int i;

	for (i = 0; i < LINE; i++)
		items[i] = item + i * SZ_4K;
}

static void line_clear(u64 *items)
{
	unsigned int i;

	for (i = 0; i < LINE; i++)
		items[i] = 0;
}

/* Item by item */
static noinline void fill_items(u64 *items, unsigned int nr, u64 item)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (items[i])
			return;
		items[i] = item;
		item += SZ_4K;
	}
}

static noinline void clear_items(u64 *items, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!(items[i] & 1))
			return;
		items[i] = 0;
	}
}

/* Line by line */
static noinline void fill_lines(u64 *items, unsigned int nr, u64 item)
{
	u64 *end = items + nr;

	for (; items < end; items += LINE, item += LINE * SZ_4K) {
		if (!line_empty(items))
			return;
		line_fill(items, item);
	}
}

static noinline void clear_lines(u64 *items, unsigned int nr)
{
	u64 *end = items + nr;

	for (; items < end; items += LINE) {
		if (!line_present(items))
			return;
		line_clear(items);
	}
}

/* Two lines at a time */
static noinline void fill_unrolled(u64 *items, unsigned int nr, u64 item)
{
	u64 *end = items + nr;

	for (; items < end; items += 2 * LINE, item += 2 * LINE * SZ_4K) {
		if (!line_empty(items) || !line_empty(items + LINE))
			return;
		line_fill(items, item);
		line_fill(items + LINE, item + LINE * SZ_4K);
	}
}

static noinline void clear_unrolled(u64 *items, unsigned int nr)
{
	u64 *end = items + nr;

	for (; items < end; items += 2 * LINE) {
		if (!line_present(items) || !line_present(items + LINE))
			return;
		line_clear(items);
		line_clear(items + LINE);
	}
}

/* All tests first, then all stores, string stores where they can do it */
static noinline void fill_string(u64 *items, unsigned int nr, u64 item)
{
	unsigned int i;

	for (i = 0; i < nr; i += LINE)
		if (!line_empty(items + i))
			return;
	for (i = 0; i < nr; i += LINE, item += LINE * SZ_4K)
		line_fill(items + i, item);
}

static noinline void clear_string(u64 *items, unsigned int nr)
{
	unsigned long words = nr;
	unsigned int i;

	for (i = 0; i < nr; i += LINE)
		if (!line_present(items + i))
			return;
#ifdef __x86_64__
	asm volatile("rep stosq"
		     : "+D"(items), "+c"(words)
		     : "a"(0)
		     : "memory");
#else
	memset(items, 0, words * sizeof(u64));
#endif
}

const struct bench_loop bench_loops[BENCH_LOOPS] = {
	{ "floor items", fill_items, clear_items },
	{ "floor lines", fill_lines, clear_lines },
	{ "floor unrolled", fill_unrolled, clear_unrolled },
	{ "floor string", fill_string, clear_string },
};
