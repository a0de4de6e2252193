// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time, rounds and results
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sort.h>

#include "bench.h"

/* Rounds before the first that counts, at least and at most */
#define BENCH_WARMUP 2
#define BENCH_ROUNDS_MIN 25
#define BENCH_ROUNDS_MAX 1000
#define BENCH_ROW_NS (4 * NSEC_PER_SEC)

bool bench_failed;

static u64 bench_ticks_per_ms;

/*
 * Ticks of the CPU's clock. Waits for what comes before, and nothing after
 * begins earlier.
 */
static u64 bench_clock(void)
{
#ifdef __x86_64__
	u32 low, high;

	asm volatile("lfence; rdtsc; lfence"
		     : "=a"(low), "=d"(high)
		     :
		     : "memory");
	return (u64)high << 32 | low;
#else
	return ktime_get_ns();
#endif
}

static u64 bench_ticks_to_ps(u64 ticks)
{
	return mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, bench_ticks_per_ms);
}

/* Compare the CPU's clock with the kernel's */
void bench_clock_init(void)
{
	u64 ns, start_ns, start, end;

	start_ns = ktime_get_ns();
	start = bench_clock();
	do {
		ns = ktime_get_ns() - start_ns;
		end = bench_clock();
	} while (ns < 100 * NSEC_PER_MSEC);
	bench_ticks_per_ms = div64_u64((end - start) * NSEC_PER_MSEC, ns);
	pr_info("ptbench: clock|%llu ticks/ms\n", bench_ticks_per_ms);
}

/* Add a way to a row, which works on @arg */
void bench_row_add(struct bench_row *row, const struct bench_way *way,
		   void *arg)
{
	if (WARN_ON(row->nr_ways == BENCH_WAYS_MAX))
		return;
	row->ways[row->nr_ways] = *way;
	row->ways[row->nr_ways].arg = arg;
	row->nr_ways++;
}

/* One round of one way */
static void bench_round(const struct bench_way *way, unsigned int nr,
			u64 *ticks)
{
	unsigned int p;

	for (p = 0; p < BENCH_PHASES && way->run[p]; p++) {
		u64 start = bench_clock();

		way->run[p](way->arg, nr);
		ticks[p] = bench_clock() - start;
	}
	if (way->reset)
		way->reset(way->arg, nr);
}

/* Repeats that make the shortest window of all ways long enough */
static unsigned int bench_repeats(const struct bench_row *row)
{
	u64 ticks[BENCH_PHASES], shortest, want;
	unsigned int nr = max(1U, row->min_nr), w, p, try;

	want = div64_u64(BENCH_WINDOW_NS * bench_ticks_per_ms, NSEC_PER_MSEC);
	for (;;) {
		shortest = U64_MAX;
		for (w = 0; w < row->nr_ways; w++) {
			for (try = 0; try < 10; try++) {
				bench_round(&row->ways[w], nr, ticks);
				for (p = 0; p < BENCH_PHASES; p++)
					if (row->ways[w].run[p])
						shortest =
							min(shortest, ticks[p]);
			}
		}
		if (nr == row->max_nr || shortest > want)
			return nr;
		/* A little more than by that, and not by far in one step */
		want += want / 32;
		nr = min3((u64)row->max_nr, (u64)nr * 4,
			  div64_u64(nr * want, shortest) + 1);
	}
}

static int bench_compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Whether the fastest round of each way is no single lucky one */
static bool bench_settled(const struct bench_row *row, unsigned int rounds)
{
	unsigned int w, p, r, near;

	for (w = 0; w < row->nr_ways; w++) {
		for (p = 0; p < BENCH_PHASES && row->ways[w].run[p]; p++) {
			const u64 *samples = row->ways[w].samples[p];
			u64 least = U64_MAX;

			for (r = 0; r < rounds; r++)
				least = min(least, samples[r]);
			for (r = 0, near = 0; r < rounds; r++)
				near += samples[r] - least <= least / 50;
			if (near < 5)
				return false;
		}
	}
	return true;
}

/* Print the result of one phase of one way */
static void bench_print(const struct bench_row *row,
			const struct bench_way *way, unsigned int p,
			unsigned int nr, unsigned int rounds)
{
	u64 *samples = way->samples[p];
	u64 least, median;

	if (!way->run[p])
		return;
	sort(samples, rounds, sizeof(u64), bench_compare, NULL);
	least = div_u64(bench_ticks_to_ps(samples[0]), nr);
	median = div_u64(bench_ticks_to_ps(samples[rounds / 2]), nr);
	pr_info("ptbench: row|%s|%s|%s|%u|%llu|%llu|%u\n", row->id[p],
		row->what[p], way->name, nr, least, median, rounds);
}

/* Print something that is counted, not timed */
void bench_print_count(const char *id, const char *what, const char *way,
		       const char *unit, unsigned long count)
{
	pr_info("ptbench: count|%s|%s|%s|%s|%lu\n", id, what, way, unit, count);
}

/* Measure all ways of a row and print what came out */
void bench_row_run(struct kunit *test, struct bench_row *row)
{
	u64 deadline, ticks[BENCH_PHASES];
	unsigned int nr, w, p, round;

	bench_failed = false;
	for (w = 0; w < row->nr_ways; w++)
		for (p = 0; p < BENCH_PHASES; p++)
			row->ways[w].samples[p] =
				kunit_kmalloc_array(test, BENCH_ROUNDS_MAX,
						    sizeof(u64), GFP_KERNEL);
	nr = bench_repeats(row);
	KUNIT_ASSERT_FALSE_MSG(test, bench_failed, "%s: cannot be measured",
			       row->what[0]);

	for (round = 0; round < BENCH_WARMUP; round++)
		for (w = 0; w < row->nr_ways; w++)
			bench_round(&row->ways[w], nr, ticks);

	deadline = ktime_get_ns() + BENCH_ROW_NS;
	for (round = 0; round < BENCH_ROUNDS_MAX; round++) {
		if (round >= BENCH_ROUNDS_MIN &&
		    (bench_settled(row, round) || ktime_get_ns() > deadline))
			break;
		for (w = 0; w < row->nr_ways; w++) {
			bench_round(&row->ways[w], nr, ticks);
			for (p = 0; p < BENCH_PHASES; p++)
				row->ways[w].samples[p][round] = ticks[p];
		}
	}
	KUNIT_ASSERT_FALSE_MSG(test, bench_failed, "%s: cannot be measured",
			       row->what[0]);

	for (p = 0; p < BENCH_PHASES; p++)
		for (w = 0; w < row->nr_ways; w++)
			bench_print(row, &row->ways[w], p, nr, round);
}
