/* Short names that tell kernels apart: of templates with long arguments, what differs. */
#ifndef BASE_APART_H
#define BASE_APART_H

#include "base/text.h"

/* Adds to each text the name of a kernel (mangled or not), in at most `room` letters. Names are shortened as
 * by name_shorten; kernels that would get the same name are told apart by the template arguments, or
 * arguments of arguments, in which they differ. "launch<For<Axpy<float>, Range>>" and "launch<For<Dot,
 * Range>>" are launch<Axpy<float>> and launch<Dot>; with less room, Axpy<float> and Dot. Names may still
 * collide. */
void names_apart(const char *const *names, size_t count, size_t room, struct text *texts);

#endif
