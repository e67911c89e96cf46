/* SMs that share caches of code and constants (sm.fetch_group), as the CUs of a shader array do. They are on
 * islands of their own, so none can look into another's cache. Each has a copy of the shared ones, and tells
 * the others of every line that comes to it. So lines of all take room in each copy, and what one has fetched
 * the others find soon after. Two that miss a line at the same time both ask for it.
 *
 * A copy may hold what was read from memory after it was last forgotten. So a message says when its line was
 * asked for, and one of before that time is dropped, however long it was under way. */
#include "core/l1.h"

#include <string.h>

struct sibling_line {
    uint64_t asked;   /* ps */
    uint64_t at;      /* address of the line, or tag (mem/space.h) of a line of memory with constants, */
    uint64_t sectors; /* a bit for each that follows */
    unsigned char packed[MEM_LINE_MOST];
};

/* So that it is there at this time, or as soon after it as can be. */
static void tell(struct sm *sm, enum sibling_message what, const struct sibling_line *line, uint32_t bytes,
                 uint64_t there)
{
    uint64_t soonest = component_now(sm->component) + sm->config.siblings_ps;
    uint32_t group = (uint32_t)sm->config.spec->fetch_group, first = sm->number / group * group;
    uint32_t end = (uint32_t)min_u64(first + group, port_plugs(sm->siblings));
    for (uint32_t i = first; i < end; i++)
        if (i != sm->number)
            REQUIRE(port_send(sm->siblings, i, there > soonest ? there - soonest : 0, (uint8_t)what, line,
                              (uint16_t)bytes));
}

/* This and siblings_told are called seldom, and kept out of what is done for every instruction. */
void __attribute__((noinline))
siblings_tell_line(struct sm *sm, enum sibling_message what, uint64_t address, uint64_t there)
{
    struct sibling_line line = {.asked = sm_time(sm, sm->cycle), .at = address};
    tell(sm, what, &line, offsetof(struct sibling_line, packed), sm_time(sm, there));
}

void siblings_tell_constants(struct sm *sm, uint64_t from, uint32_t sectors, const unsigned char *packed,
                             uint64_t asked)
{
    struct sibling_line line = {.asked = asked, .at = from, .sectors = sectors};
    uint32_t bytes = sector_count(sectors) * MEM_SECTOR;
    memcpy(line.packed, packed, bytes);
    tell(sm, SIBLING_CONSTANTS, &line, (uint32_t)offsetof(struct sibling_line, packed) + bytes, 0);
}

void __attribute__((noinline)) siblings_told(struct sm *sm, const struct event *event)
{
    struct sibling_line line;
    unsigned char unpacked[MEM_LINE_MOST];
    REQUIRE(event->bytes <= sizeof line);
    memcpy(&line, event->payload, event->bytes);
    const struct fetch_levels *levels = event->kind == SIBLING_CODE ? &sm->code : &sm->constants;
    if (line.asked < levels->forgot_at)
        return;
    if (event->kind != SIBLING_CONSTANTS) {
        fetch_place(levels, line.at);
        return;
    }
    cache_unpack(&sm->l1, line.packed, (uint32_t)line.sectors, unpacked);
    constant_place(sm, line.at, (uint32_t)line.sectors, unpacked);
}
