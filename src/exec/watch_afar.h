/* A watch of a launch that runs on several ranks (src/ranked). The program's watch is on one of them. Each of
 * the others has one of these, which gathers what it is told until that is sent to the program's. */
#ifndef EXEC_WATCH_AFAR_H
#define EXEC_WATCH_AFAR_H

#include "base/text.h"
#include "exec/watch.h"

struct watch_afar;

struct watch_afar *watch_afar_new(uint32_t sms);
void watch_afar_free(struct watch_afar *afar);
struct watch *watch_afar_watch(struct watch_afar *afar);

/* Adds what came since the last time; while nobody calls the watch. */
void watch_afar_tell(struct watch_afar *afar, struct text *bytes);

/* Tells a watch of so many SMs all that. False: the bytes make no sense. */
bool watch_afar_take(struct watch *watch, uint32_t sms, const char *bytes, size_t count);

#endif
