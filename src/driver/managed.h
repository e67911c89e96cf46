/* Managed memory, as programs advise and prefetch it. In simulated time it moves, where the description says
 * so (paging.managed); else advice is kept and told again, and that is all. */
#ifndef DRIVER_MANAGED_H
#define DRIVER_MANAGED_H

#include "driver/result.h"
#include "paging/areas.h"

struct allocation;
struct device;
struct driver;
struct stream;

/* Where it can be, beside a device of this number; AREA_NOWHERE. */
enum { MANAGED_ON_HOST = 63 };

enum managed_advice { ADVICE_READ_MOSTLY, ADVICE_PREFERRED, ADVICE_ACCESSED_BY };

/* All of it must be of one managed allocation: see memory_find. */
void managed_advise(struct driver *driver, uint64_t address, uint64_t bytes, enum managed_advice advice,
                    bool on, uint32_t place);
enum result managed_prefetch(struct stream *stream, uint64_t address, uint64_t bytes, uint32_t place);

/* What all bytes of a range have in common: GPUs that access it, and AREA_NOWHERE for what differs. */
struct area_advice managed_advice_of(struct driver *driver, uint64_t address, uint64_t bytes);

/* An allocation came, or goes; with the memory's lock held. */
bool managed_is(const struct allocation *allocation);
void managed_came(struct driver *driver, const struct allocation *allocation);
void managed_goes(struct driver *driver, const struct allocation *allocation);

/* The program makes no calls, and may look at managed memory while kernels run. */
void managed_look(struct driver *driver);

/* It makes a call that lets time pass, and may have written to managed memory before. */
void managed_call(struct driver *driver);

/* Devices tell the machine how much room they have, when that has changed. */
void managed_tell_rooms(struct driver *driver);

#endif
