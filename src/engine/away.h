/* Windows over ranks (src/ranks): each rank runs the islands that are on it, and what they send to others
 * goes out when it must.
 *
 * A round is a message from each rank to each other one: the events for its islands; when the sender's next
 * event is; and a promise: nothing comes from the sender before this time, unless someone sends something to
 * it first. From the promises of all, and the shortest way from its own events to other ranks and back, a
 * rank knows its horizon. Up to there it runs window after window by itself. So ranks behind slow links meet
 * seldom. Halfway to its horizon it sends its next message, and takes those of others at the horizon: they
 * travel meanwhile, and a rank that is late for once keeps nobody waiting.
 *
 * All decisions that ranks must share (when a run ends, and why) are made in rounds, from the same numbers.
 */
#ifndef ENGINE_AWAY_H
#define ENGINE_AWAY_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct away;
struct crew;
struct engine;

struct away *away_new(struct crew *crew);
void away_free(struct away *away);
void away_renew(struct crew *crew); /* between runs: how far islands are apart has changed */

/* How far islands of a kind may run: of most, nothing comes from other ranks but by way of others on this
 * one. */
uint64_t away_bound(const struct crew *crew, uint32_t kind);

/* Before the first window of a run; and between windows: meets the others when this rank can do no more
 * alone. Sets the crew's bound and stop, and its start to the earliest event of all ranks when it stops. */
void away_begin(struct crew *crew);
void away_turn(struct crew *crew);

/* After a run. False: the other ranks were lost, and err says how. The first failure of all ranks is known to
 * all then; `now` becomes that of the rank that is furthest. */
bool away_end(struct crew *crew, struct err *err);
uint64_t away_latest(struct engine *engine, uint64_t now);

/* All know what waits anywhere, for a report of a stall (stall.c). */
void away_share_waits(struct engine *engine);

/* Whether all ranks have the same model, with something on each. */
bool away_check(const struct engine *engine, uint64_t shape, struct err *err);

#endif
