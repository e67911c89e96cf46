/* Short names that tell kernels apart: of templates with long arguments, what differs. */
#ifndef BASE_APART_H
#define BASE_APART_H

#include "base/text.h"

/* Adds to each text the name of a kernel (mangled or not), in at most `room` letters: as name_shorten has it,
 * but where several would be the same so, those with the same function get the arguments, and arguments of
 * arguments, that differ. "launch<For<Axpy<float>, Range>>" and "launch<For<Dot, Range>>" are
 * launch<Axpy<float>> and launch<Dot>; with less room, Axpy<float> and Dot. Names may still
 * collide. */
void names_apart(const char *const *names, size_t count, size_t room, struct text *texts);

#endif
