/* Names of C++ for people: without parameters, with short template arguments. */
#ifndef BASE_DEMANGLE_H
#define BASE_DEMANGLE_H

#include "base/text.h"

/* "_Z5saxpyifPKfPf" is saxpy, "_ZN2ns6kernelILi8EfEEvPT0_" is ns::kernel<8, float>; other names stay as they
 * are. Namespaces that only name a version (in CUB and Thrust) and namespaces of arguments are left out;
 * arguments that are not understood become "..". A lambda is "main::lambda#2": the second one of main. */
void demangle(const char *name, struct text *text);

/* The same with all arguments, however long they are. */
void demangle_whole(const char *name, struct text *text);

/* The same for a message: at most 200 letters, which last until this thread's next call. */
const char *demangled(const char *name);

/* The same in at most `room` letters: without namespaces if that is enough, otherwise cut in the middle,
 * arguments first, because names differ least there. */
void name_shorten(const char *name, size_t room, struct text *text);

#endif
