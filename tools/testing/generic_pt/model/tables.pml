/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of the life of a table (drivers/iommu/generic_pt/pt_tables.h)
 *
 * Three callers, each the owner of one IOVA, map and unmap it again and again.
 * The top has two items, for two regions. Each region has a table of level 1
 * with one item, below it a table of level 0. Callers 0 and 1 share region 0 and
 * so all of its tables; caller 2 has region 1 alone, and may unmap it as a whole.
 * One table can be parked, or with -DPLACES=2 two. One more takes the place of the
 * oldest, or of both: whether these adjoin is left open.
 *
 * A fourth process is hardware: it walks in region 0 at any moment, and keeps the
 * pointers that it saw (a walk cache) until they are flushed. With -DTRIM a fifth
 * takes all parked tables, once, at any moment.
 *
 * What must hold at each step:
 *
 *  - an IOVA that is mapped is translated, by fresh pointers and cached ones
 *  - a table that is freed is in no cache, not reachable, not parked, and nobody
 *    who may still use it is within an RCU read side
 *  - a table that is removed holds nothing
 *  - no memory is touched that is free
 *
 * Compile with one of these to see that the model can fail: -DNO_FLUSH (a table
 * is removed without a flush), -DFLUSH_ONE (of two that leave together only the
 * first is flushed for), -DNO_HELP (a map takes a tombstone over without
 * a flush), -DEARLY_FREE (no grace period), -DONE_PERIOD (only one), -DCOUNT_LATE
 * (a map counts after it stored), -DPLACE_BLIND (a parked table gets a place
 * whatever happened to it), -DPARK_BLIND (a put parks a table whatever happened
 * to it since it had no users).
 */

#define CALLERS 3
#ifndef ROUNDS
#define ROUNDS 1, 2, 1		/* maps and unmaps of each caller */
#endif
#define TABLES 14		/* memory; id 0 is none */
#define TOMB 16			/* added to an id: not present, but named */
#ifndef PLACES
#define PLACES 1
#endif

#define FREE 0
#define USED 1
#define DEFERRED 2		/* waits for the end of a grace period */
#define DEFERRED_AGAIN 3	/* and for that of a second one */

#define PRESENT(item) ((item) != 0 && (item) < TOMB)
#define REGION(c) ((c) / 2)
#define BIT(c) (1 << (c))

byte top[2];			/* the items of the top table */
byte item[TABLES];		/* the one item of a level 1 table */
byte leaf[TABLES];		/* the items of a level 0 table, a bit a caller */
byte users[TABLES];
bool parked[TABLES];
bool dying[TABLES];		/* marked dead, for good */
byte level[TABLES];
byte region[TABLES];
byte parent[TABLES];		/* of a level 0 table; 0: the top */
byte state[TABLES];
byte readers[TABLES];		/* whom a deferred table waits for */
byte place[2];			/* the parked tables, the oldest first */
byte places;
byte reading;			/* callers within an RCU read side */
byte mapped;			/* IOVA that must be translated */

byte cached1, cached0;		/* hardware's pointers, in region 0 */

/* The item that points to a table */
#define SLOT_IS(t, v) ((level[t] == 1 && top[region[t]] == (v)) || \
		       (level[t] == 0 && item[parent[t]] == (v)))

inline set_slot(t, v)
{
	if
	:: level[t] == 1 -> top[region[t]] = v
	:: else ->
		assert(state[parent[t]] != FREE);
		item[parent[t]] = v
	fi
}

/* Compare and exchange of that item */
inline exchange(t, old, new)
{
	atomic {
		assert(level[t] == 1 || state[parent[t]] != FREE);
		if
		:: SLOT_IS(t, old) -> set_slot(t, new)
		:: else
		fi
	}
}

inline flush(r)
{
	atomic {
		if
		:: r == 0 ->
			cached1 = 0;
			cached0 = 0
		:: else
		fi
	}
}

inline free_table(t)
{
	assert(t != cached1 && t != cached0);
	assert(t != top[0] && t != top[1]);
	assert(t != place[0] && t != place[1]);
	leaf[t] = 0;
	item[t] = 0;
	users[t] = 0;
	parked[t] = false;
	dying[t] = false;
	parent[t] = 0;
	region[t] = 0;
	level[t] = 0;
	state[t] = FREE
}

inline defer_again(t)
{
#ifdef ONE_PERIOD
	readers[t] = 0;
#else
	readers[t] = reading;
#endif
	state[t] = DEFERRED_AGAIN;
	if
	:: readers[t] == 0 -> free_table(t)
	:: else
	fi
}

inline rcu_enter()
{
	reading = reading | BIT(c)
}

inline rcu_exit()
{
	atomic {
		reading = reading & ~BIT(c);
		i = 1;
		do
		:: i < TABLES ->
			readers[i] = readers[i] & ~BIT(c);
			if
			:: state[i] == DEFERRED && readers[i] == 0 ->
				defer_again(i)
			:: state[i] == DEFERRED_AGAIN && readers[i] == 0 ->
				free_table(i)
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	}
}

inline alloc(t, lvl)
{
	atomic {
		t = 1;
		do
		:: state[t] != FREE ->
			t++;
			assert(t < TABLES)
		:: else -> break
		od;
		state[t] = USED;
		level[t] = lvl;
		region[t] = REGION(c);
		users[t] = 1
	}
}

/* Nobody saw it */
inline unalloc(t)
{
	atomic {
		free_table(t);
		t = 0
	}
}

inline users_get(t, ok)
{
	atomic {
		assert(state[t] != FREE);
		ok = !dying[t];
		if
		:: ok -> users[t]++
		:: else
		fi
	}
}

/* Within an atomic sequence each */
inline users_sub(t, last)
{
	assert(state[t] != FREE && users[t] > 0 && !dying[t]);
	users[t]--;
	last = users[t] == 0 && !parked[t]
}

/* pt_users_park(): t was seen without a user, parks says whether it still is */
inline users_park(t, parks)
{
	assert(state[t] != FREE);
#ifndef PARK_BLIND
	parks = users[t] == 0 && !parked[t] && !dying[t];
#else
	parks = true;
#endif
	if
	:: parks -> parked[t] = true
	:: else
	fi
}

/* pt_unpark_locked(): dies is t if that was its last user, next its parent then */
inline unpark(t, dies)
{
	assert(state[t] != FREE);
	parked[t] = false;
	if
	:: users[t] == 0 ->
		dies = t;
		dying[t] = true;
		if
		:: level[t] == 0 ->
			users_sub(parent[t], parks);
			if
			:: parks ->
				users_park(parent[t], parks);
				next = parent[t]
			:: else
			fi
		:: else
		fi
	:: else
	fi
}

/* pt_evict_locked() */
inline evict()
{
	unpark(place[0], dead);
	place[0] = place[1];
	place[1] = 0;
	places--;
	if
	:: places > 0 && dead != 0 && next == 0 ->
		unpark(place[0], dead2);
		place[0] = 0;
		places = 0
	:: true
	fi
}

/* pt_place(): t was parked; t becomes 0 */
inline park(t)
{
	do
	:: t != 0 ->
		atomic {
			assert(state[t] != FREE);
			if
#ifdef PLACE_BLIND
			:: true ->
#else
			:: parked[t] ->
#endif
				if
				:: places == PLACES -> evict()
				:: else
				fi;
				place[places] = t;
				places++
			:: else
			fi;
			t = 0
		}
		remove_dead();
		t = next;
		next = 0
	:: else -> break
	od
}

inline assert_empty(t)
{
	assert(t == 0 || level[t] == 1 || leaf[t] == 0)
}

inline bury_dead(t)
{
	if
	:: t != 0 -> exchange(t, t, TOMB + t)
	:: else
	fi
}

inline clear_dead(t)
{
	if
	:: t != 0 -> exchange(t, TOMB + t, 0)
	:: else
	fi;
	t = 0
}

inline defer_dead(t)
{
	if
	:: t != 0 ->
		state[t] = DEFERRED;
#ifdef EARLY_FREE
		free_table(t)
#else
		readers[t] = reading
#endif
	:: else
	fi
}

/* pt_remove() */
inline remove_dead()
{
	if
	:: dead != 0 ->
		assert_empty(dead);
		assert_empty(dead2);
		bury_dead(dead);
		bury_dead(dead2);
#if defined(FLUSH_ONE)
		flush(region[dead]);
#elif !defined(NO_FLUSH)
		flush(region[dead] * region[dead2]);
#endif
		atomic {
			defer_dead(dead);
			defer_dead(dead2)
		}
		clear_dead(dead);
		clear_dead(dead2)
	:: else
	fi
}

/* pt_map_bury_dead(): the walk ended in t, which is dead */
inline bury(t)
{
	exchange(t, t, TOMB + t);
	flush(0)
}

inline help_flush(was)
{
	if
#ifndef NO_HELP
	:: was >= TOMB -> flush(0)
#endif
	:: else
	fi
}

inline map()
{
	done = false;
	do
	:: done -> break
	:: else ->
		atomic {
			rcu_enter();
			t1 = top[REGION(c)]
		}
		if
		:: !PRESENT(t1) ->
			help_flush(t1);
			/* Both tables are missing: build them, show them at once */
			atomic {
				alloc(n0, 0);
				alloc(n1, 1);
				leaf[n0] = BIT(c);
				parent[n0] = n1;
				item[n1] = n0;
				if
				:: top[REGION(c)] == t1 ->
					top[REGION(c)] = n1;
					done = true
				:: else ->
					unalloc(n0);
					unalloc(n1)
				fi
			}
		:: else ->
			assert(state[t1] != FREE);
			t0 = item[t1];
			if
			:: !PRESENT(t0) ->
				help_flush(t0);
				users_get(t1, ok);
				if
				:: !ok -> bury(t1)
				:: else ->
					atomic {
						alloc(n0, 0);
						leaf[n0] = BIT(c);
						parent[n0] = t1;
						if
						:: item[t1] == t0 ->
							item[t1] = n0;
							done = true
						:: else -> unalloc(n0)
						fi
					}
					if
					:: !done -> put(t1)
					:: else
					fi
				fi
			:: else ->
#ifdef COUNT_LATE
				leaf[t0] = leaf[t0] | BIT(c);
				users_get(t0, ok);
				done = ok;
#else
				users_get(t0, ok);
				if
				:: ok ->
					leaf[t0] = leaf[t0] | BIT(c);
					done = true
				:: else -> bury(t0)
				fi
#endif
			fi
		fi;
		atomic {
			n0 = 0;
			n1 = 0;
			t0 = 0;
			t1 = 0;
			ok = false;
			rcu_exit()
		}
	od;
	done = false
}

/* pt_users_put() */
inline put(t)
{
	atomic {
		users_sub(t, parks);
		if
		:: parks -> d = t
		:: else
		fi
	}
	/* Others may use it, and park it, in between */
	atomic {
		if
		:: d != 0 ->
			users_park(d, parks);
			if
			:: parks
			:: else -> d = 0
			fi
		:: else
		fi;
		parks = false
	}
	park(d)
}

inline unmap()
{
	/* Nothing on the way to a mapped leaf changes */
	atomic {
		mapped = mapped & ~BIT(c);
		rcu_enter();
		t1 = top[REGION(c)];
		assert(PRESENT(t1) && state[t1] != FREE);
		t0 = item[t1];
		assert(PRESENT(t0) && state[t0] != FREE);
		assert(leaf[t0] & BIT(c));
		leaf[t0] = leaf[t0] & ~BIT(c)
	}
	put(t0);
	atomic {
		t0 = 0;
		t1 = 0;
		rcu_exit()
	}
}

/* pt_forget(): the owner of its whole range takes t out of the tree */
inline forget(t)
{
	atomic {
		if
		:: parked[t] ->
			if
			:: place[0] == t ->
				place[0] = place[1];
				place[1] = 0;
				places--
			:: place[1] == t ->
				place[1] = 0;
				places--
			:: else
			fi;
#ifndef PLACE_BLIND
			parked[t] = false;
			users[t] = 0;
			dying[t] = true
#endif
		:: else
		fi
	}
}

inline defer(t)
{
	atomic {
		state[t] = DEFERRED;
		readers[t] = reading
	}
}

/* Unmap all of a region, if its tables are full: they leave as they are */
inline unmap_whole()
{
	atomic {
		mapped = mapped & ~BIT(c);
		rcu_enter();
		t1 = top[REGION(c)];
		t0 = item[t1];
		assert(PRESENT(t0) && users[t0] == 1 && leaf[t0] == BIT(c))
	}
	if
	:: users[t1] == 1 ->
		top[REGION(c)] = 0;
		forget(t0);
		forget(t1);
		flush(REGION(c));
		defer(t0);
		defer(t1)
	:: else ->
		/* Its count is about to go down: item by item then */
		leaf[t0] = leaf[t0] & ~BIT(c);
		put(t0)
	fi;
	atomic {
		t0 = 0;
		t1 = 0;
		rcu_exit()
	}
}

proctype caller(byte c, left)
{
	byte t0, t1, n0, n1, d, dead, dead2, next, i;
	bool ok, done, parks;

	do
	:: left > 0 ->
		map();
		mapped = mapped | BIT(c);
		if
		:: unmap()
		:: c == 2 -> unmap_whole()
		fi;
		left--
	:: else -> break
	od
}

/* pt_reclaim(), as a timer or memory pressure calls it */
proctype trimmer(byte c)
{
	byte d, dead, dead2, next, i;
	bool parks;

	rcu_enter();
	do
	:: places > 0 ->
		atomic {
			if
			:: places > 0 -> evict()
			:: else
			fi
		}
		remove_dead();
		d = next;
		next = 0;
		park(d)
	:: else -> break
	od;
	rcu_exit()
}

/* Is the IOVA of c translated, by cached pointers where there are any? */
inline walk(c)
{
	atomic {
		w0 = cached0;
		if
		:: w0 == 0 ->
			w1 = cached1;
			if
			:: w1 == 0 -> w1 = top[0]
			:: else
			fi;
			assert(PRESENT(w1) && state[w1] != FREE);
			w0 = item[w1]
		:: else
		fi;
		assert(PRESENT(w0) && state[w0] != FREE);
		assert(leaf[w0] & BIT(c));
		w0 = 0;
		w1 = 0
	}
}

proctype hardware()
{
	byte w0, w1;

end:	do
	:: atomic { mapped & BIT(0) -> walk(0) }
	:: atomic { mapped & BIT(1) -> walk(1) }
	:: atomic { PRESENT(top[0]) && cached1 == 0 -> cached1 = top[0] }
	:: atomic {
		cached1 != 0 && cached0 == 0 && PRESENT(item[cached1]) ->
		assert(state[cached1] != FREE);
		cached0 = item[cached1]
	   }
	od
}

inline run_callers(r0, r1, r2)
{
	run caller(0, r0);
	run caller(1, r1);
	run caller(2, r2)
}

init
{
	atomic {
		run hardware();
#ifdef TRIM
		run trimmer(CALLERS);
#endif
		run_callers(ROUNDS)
	}
}
