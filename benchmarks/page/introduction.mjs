/** What the page says before any figure: what was measured and how, how to repeat it, and what it does not say. */

export const INTRODUCTION = `# Benchmarks

<!-- Made by \`npm run bench -- page\` from benchmarks/results. Do not edit: a test compares. -->

How fast is Everytick, how many schedules does it hold, what does it cost while idle, and how does that compare? The tables
below hold our figures beside those of other schedulers, and beside plain SQL that does the least that could be called the
same work.

**How it was measured.** All contenders of a race ran on one machine, in the same minutes, driven by the same harness, each in
the best configuration we found in its documentation. They take turns, round by round (A, B, C, A, B, C, …), so that a slow
moment of the machine hits all alike; the first round warms up and is dropped. A figure is the median of the rounds, and the
line under it, where there is one, the least and the most. A ratio is the median of the ratios within each round, so that it
may differ a little from that of the medians; 2× always means twice as good, whether more or less is better. Everytick commits
durably throughout: Postgres with \`fsync\` and \`synchronous_commit\` on, SQLite with \`synchronous = full\`. Its leases, fences,
retries, history and ledger are on, as in every other use of it. The Postgres server has files of its log to write over, as one has that
has run for a while; on a new one we enqueued 2.19 times as fast as graphile-worker in bulk, and 2.99 times on one like this
([why](decisions/0027-a-log-that-is-written-over.md)). The figures for bulk enqueue on SQLite
were measured while long lists were stored as packs, which are deleted: until they are measured again, expect about a fifth of them
([why](decisions/0028-no-packs-on-sqlite.md)).

**How to repeat it.**

\`\`\`sh
npm run bench -- cron --save         # the time engine
npm run bench -- cli --save          # the command line, from a cold start
npm run bench -- core --save         # both stores, beside plain SQL
npm run bench -- scale --save        # many schedules, much history, many due at once
npm run bench -- server --save       # answers over HTTP with very much stored
npm run bench -- http --save         # HTTP calls, how late they arrive
npm run bench -- rivals --install    # the other schedulers, once
npm run bench -- rivals --save       # the race
npm run bench -- --check             # fails when a target is missed
npm run bench -- page                # makes this page
\`\`\`

BullMQ needs a \`redis-server\` on the path, from the packages of your system; without one the race is run without it and says so.

**What the figures do not say.** The jobs do nothing: work that does something will soon cost more than any scheduler here.
Client, workers and database share the cores of one machine, and no network lies between them. Contenders do not promise the
same: Redis with \`appendfsync everysec\` and SQLite with \`synchronous = normal\` may lose what they had last confirmed, and plain
SQL has no leases, no retries and no history. We know our own product best, however hard we tried to treat the others well; each
one's settings stand below, and better ones are welcome. Other machines give other figures: compare within a table, never
between machines. Nor do two races on one machine agree in all: graphile-worker drains a long backlog at 21,000 to 41,000 a
second in some and at 68,000 to 78,000 in others, and we did not find out why. On 18 November 2026, on the machine of this page at commit aab364c35e,
it drained 76,370 a second where we drained 123,133: there we were 1.68 times as fast, and missed what we must reach.`

export const NOTHING = `## No results yet

Nothing has been saved so far. The commands above make the results, and then this page.`
