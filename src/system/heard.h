/* Events of a machine on several ranks (base/probe.h), until the listener is told of them on the leading one,
 * in the order in which one process would tell. For this room only. */
#ifndef SYSTEM_HEARD_H
#define SYSTEM_HEARD_H

#include "base/probe.h"
#include "base/text.h"

struct heard;

struct heard *heard_new(uint32_t ranks, uint32_t self);
void heard_free(struct heard *heard);

/* It happens on this rank, at a moment and a place (engine_moment) that are not before those of the last one.
 */
void heard_note(struct heard *heard, uint64_t time, uint64_t place, const struct probe_event *event);

/* Events of a rank that wait, as bytes: moved from there to here. */
struct text *heard_of(struct heard *heard, uint32_t rank);

void heard_set_listener(struct heard *heard, const struct probe *listener);
const struct probe *heard_listener(const struct heard *heard);

/* Tells of all before this time. All of it must be here. */
void heard_tell(struct heard *heard, uint64_t time);

/* The listener has changed data of an event, of which it cannot be told in time. */
bool heard_was_altered(const struct heard *heard);

#endif
