// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often each branch of the protocol was taken
 *
 * The compiler calls the function below at the start of each function of the
 * library. A test of races that did not come by here has tested nothing.
 */
#include <stdio.h>

#include <linux/kernel.h>

#include "domain.h"
#include "lib.h"

/* Those that are counted */
static const struct test_format *counted;

void (*lib_event_hook)(void);

__attribute__((__no_instrument_function__, __no_sanitize__("thread"))) void
__cyg_profile_func_enter(void *function, void *site)
{
	const struct test_format *format = counted;
	unsigned int i;

	for (i = 0; format && i < format->nr_events; i++) {
		struct lib_event *event = &format->events[i];

		if (event->function != function)
			continue;
		__atomic_add_fetch(&event->count, 1, __ATOMIC_RELAXED);
		if (lib_event_hook)
			lib_event_hook();
	}
}

__attribute__((__no_instrument_function__)) void
__cyg_profile_func_exit(void *function, void *site)
{
}

void lib_events_reset(const struct test_format *format)
{
	unsigned int i;

	counted = format;
	for (i = 0; i < format->nr_events; i++)
		format->events[i].count = 0;
}

/* The first that should have been and was not, or NULL */
static const struct lib_event *missing(const struct test_config *config)
{
	bool grows = config->features & BIT(PT_FEAT_DYNAMIC_TOP);
	bool no_gaps = config->features & BIT(PT_FEAT_FLUSH_RANGE_NO_GAPS);
	unsigned int i;

	for (i = 0; i < config->format->nr_events; i++) {
		const struct lib_event *event = &config->format->events[i];

		if (!event->count && (grows || !event->only_grows) &&
		    (!no_gaps || !event->only_gaps))
			return event;
	}
	return NULL;
}

bool lib_events_complete(const struct test_config *config)
{
	return !missing(config);
}

bool lib_events_report(const char *title, const struct test_config *config)
{
	const struct test_format *format = config->format;
	const struct lib_event *event = missing(config);
	unsigned int i;

	printf("%sok - %s: %s: all branches of the protocol were taken\n",
	       event ? "not " : "", title, config->name);
	printf("#   ");
	for (i = 0; i < format->nr_events; i++)
		printf("%s %lu%s", format->events[i].name,
		       format->events[i].count,
		       i + 1 < format->nr_events ? ", " : "\n");
	if (event)
		printf("# never came to %s\n", event->name);
	return !event;
}
