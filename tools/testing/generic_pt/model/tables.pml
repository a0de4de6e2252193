/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of the life of a table (drivers/iommu/generic_pt/pt_tables.h)
 *
 * Three callers, each the owner of one IOVA, map and unmap it again and again.
 * The top has two items, for two regions. Each region has a table of level 1
 * with one item, below it a table of level 0. Callers 0 and 1 share region 0 and
 * so all of its tables; caller 2 has region 1. One table can be parked.
 *
 * A fourth process is hardware: it walks at any moment, and keeps the pointers
 * that it saw (a walk cache) until they are flushed.
 *
 * What must hold at each step:
 *
 *  - an IOVA that is mapped is translated, by fresh pointers and cached ones
 *  - a table that is freed is in no cache, not reachable, not parked, and nobody
 *    who may still use it is within an RCU read side
 *  - no memory is touched that is free
 *
 * Compile with one of these to see that the model can fail: -DNO_FLUSH (a table
 * is removed without a flush), -DNO_HELP (a map takes a tombstone over without
 * a flush), -DEARLY_FREE (no grace period), -DCOUNT_LATE (a map counts after it
 * stored), -DPLACE_BLIND (a parked table gets a place whatever happened to it).
 */

#define CALLERS 3
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define TABLES 10		/* memory; id 0 is none */
#define TOMB 16			/* added to an id: not present, but named */

#define FREE 0
#define USED 1
#define DEFERRED 2		/* waits for the end of a grace period */

#define PRESENT(item) ((item) != 0 && (item) < TOMB)
#define REGION(c) ((c) / 2)
#define BIT(c) (1 << (c))
#define DEAD(t) (users[t] == 0 && !parked[t])

byte top[2];			/* the items of the top table */
byte item[TABLES];		/* the one item of a level 1 table */
byte leaf[TABLES];		/* the items of a level 0 table, a bit a caller */
byte users[TABLES];
bool parked[TABLES];
byte level[TABLES];
byte region[TABLES];
byte parent[TABLES];		/* of a level 0 table; 0: the top */
byte state[TABLES];
byte readers[TABLES];		/* whom a deferred table waits for */
byte place;			/* the parked table */
byte reading;			/* callers within an RCU read side */
byte mapped;			/* IOVA that must be translated */

byte cached1[2], cached0[2];	/* hardware's pointers, a region each */

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
		cached1[r] = 0;
		cached0[r] = 0
	}
}

inline flush_all()
{
	atomic {
		flush(0);
		flush(1)
	}
}

inline free_table(t)
{
	assert(t != cached1[0] && t != cached1[1]);
	assert(t != cached0[0] && t != cached0[1]);
	assert(t != top[0] && t != top[1] && t != place);
	leaf[t] = 0;
	item[t] = 0;
	users[t] = 0;
	parked[t] = false;
	parent[t] = 0;
	region[t] = 0;
	level[t] = 0;
	state[t] = FREE
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
		:: state[t] != FREE -> t++
		:: else -> break
		od;
		assert(t < TABLES);
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
		ok = !DEAD(t);
		if
		:: ok -> users[t]++
		:: else
		fi
	}
}

/* Within an atomic sequence */
inline users_sub_locked(t, parks)
{
	assert(state[t] != FREE && users[t] > 0);
	users[t]--;
	parks = users[t] == 0 && !parked[t];
	if
	:: parks -> parked[t] = true
	:: else
	fi
}

/* pt_park(): t was parked; t becomes 0 */
inline park(t)
{
	do
	:: t != 0 ->
		dead = 0;
		next = 0;
		atomic {
			assert(state[t] != FREE);
			if
#ifdef PLACE_BLIND
			:: true ->
#else
			:: parked[t] ->
#endif
				dead = place;
				place = t;
				if
				:: dead != 0 ->
					assert(state[dead] != FREE);
					parked[dead] = false;
					if
					:: users[dead] != 0 -> dead = 0
					:: users[dead] == 0 && level[dead] == 0 ->
						users_sub_locked(parent[dead], parks);
						if
						:: parks -> next = parent[dead]
						:: else
						fi
					:: else
					fi
				:: else
				fi
			:: else
			fi;
			t = 0
		}
		if
		:: dead != 0 -> remove(dead)
		:: else
		fi;
		t = next;
		next = 0;
		dead = 0
	:: else -> break
	od
}

inline remove(t)
{
	exchange(t, t, TOMB + t);
#ifndef NO_FLUSH
	flush(region[t]);
#endif
	atomic {
		state[t] = DEFERRED;
#ifdef EARLY_FREE
		readers[t] = 0;
#else
		readers[t] = reading;
#endif
		if
		:: readers[t] == 0 -> free_table(t)
		:: else
		fi
	}
	exchange(t, TOMB + t, 0)
}

/* pt_map_bury_dead(): the walk ended in t, which is dead */
inline bury(t)
{
	exchange(t, t, TOMB + t);
	flush_all()
}

inline help_flush(was)
{
	if
#ifndef NO_HELP
	:: was >= TOMB -> flush_all()
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
		rcu_enter();
		t1 = top[REGION(c)];
		if
		:: !PRESENT(t1) ->
			/* Both tables are missing: build them, show them at once */
			alloc(n0, 0);
			alloc(n1, 1);
			atomic {
				leaf[n0] = BIT(c);
				parent[n0] = n1;
				item[n1] = n0
			}
			help_flush(t1);
			atomic {
				if
				:: top[REGION(c)] == t1 ->
					top[REGION(c)] = n1;
					done = true
				:: else
				fi
			}
			if
			:: !done ->
				unalloc(n0);
				unalloc(n1)
			:: else
			fi
		:: else ->
			assert(state[t1] != FREE);
			t0 = item[t1];
			if
			:: !PRESENT(t0) ->
				alloc(n0, 0);
				atomic {
					leaf[n0] = BIT(c);
					parent[n0] = t1
				}
				help_flush(t0);
				users_get(t1, ok);
				if
				:: !ok ->
					bury(t1);
					unalloc(n0)
				:: else ->
					atomic {
						if
						:: item[t1] == t0 ->
							item[t1] = n0;
							done = true
						:: else
						fi
					}
					if
					:: !done ->
						unalloc(n0);
						put(t1)
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
			ok = false
		}
		rcu_exit()
	od;
	done = false
}

/* pt_users_put() */
inline put(t)
{
	atomic {
		users_sub_locked(t, parks);
		if
		:: parks -> d = t
		:: else
		fi;
		parks = false
	}
	park(d)
}

inline unmap()
{
	rcu_enter();
	t1 = top[REGION(c)];
	assert(PRESENT(t1) && state[t1] != FREE);
	t0 = item[t1];
	assert(PRESENT(t0) && state[t0] != FREE && (leaf[t0] & BIT(c)));
	leaf[t0] = leaf[t0] & ~BIT(c);
	put(t0);
	atomic {
		t0 = 0;
		t1 = 0
	}
	rcu_exit()
}

proctype caller(byte c)
{
	byte t0, t1, n0, n1, d, dead, next, i, rounds;
	bool ok, done, parks;

	do
	:: rounds < ROUNDS ->
		map();
		mapped = mapped | BIT(c);
		mapped = mapped & ~BIT(c);
		unmap();
		rounds++
	:: else -> break
	od
}

/* Is the IOVA of c translated, by cached pointers where there are any? */
inline walk(c)
{
	atomic {
		w0 = cached0[REGION(c)];
		if
		:: w0 == 0 ->
			w1 = cached1[REGION(c)];
			if
			:: w1 == 0 -> w1 = top[REGION(c)]
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
	:: atomic { mapped & BIT(2) -> walk(2) }
	:: atomic { PRESENT(top[0]) && cached1[0] == 0 -> cached1[0] = top[0] }
	:: atomic { PRESENT(top[1]) && cached1[1] == 0 -> cached1[1] = top[1] }
	:: atomic {
		cached1[0] != 0 && cached0[0] == 0 && PRESENT(item[cached1[0]]) ->
		assert(state[cached1[0]] != FREE);
		cached0[0] = item[cached1[0]]
	   }
	:: atomic {
		cached1[1] != 0 && cached0[1] == 0 && PRESENT(item[cached1[1]]) ->
		assert(state[cached1[1]] != FREE);
		cached0[1] = item[cached1[1]]
	   }
	od
}

init
{
	atomic {
		run hardware();
		run caller(0);
		run caller(1);
		run caller(2)
	}
}
