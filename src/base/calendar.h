/* What is taken in which cycle. Requests need not come in the order of their times: each takes the first
 * period from its own on that is not full. Periods far behind the latest are forgotten: who comes there finds
 * room, and takes none. */
#ifndef BASE_CALENDAR_H
#define BASE_CALENDAR_H

#include <stdint.h>

enum { CALENDAR_PERIODS = 1024 };

struct calendar {
    uint64_t newest;                  /* the latest period that was asked for */
    uint16_t taken[CALENDAR_PERIODS]; /* by period modulo their number */
};

/* The period that was taken: the first from `period` on with less than `room` in it. */
static inline uint64_t calendar_take(struct calendar *calendar, uint64_t period, uint32_t room)
{
    if (period + CALENDAR_PERIODS <= calendar->newest)
        return period;
    for (;; period++) {
        if (period > calendar->newest) {
            uint64_t from = period - calendar->newest >= CALENDAR_PERIODS ? period - CALENDAR_PERIODS + 1
                                                                          : calendar->newest + 1;
            for (; from <= period; from++)
                calendar->taken[from % CALENDAR_PERIODS] = 0;
            calendar->newest = period;
        }
        uint16_t *taken = &calendar->taken[period % CALENDAR_PERIODS];
        if (*taken < room) {
            ++*taken;
            return period;
        }
    }
}

#endif
