/* Names of C++ for people: the name alone, without its parameters. */
#ifndef DRIVER_DEMANGLE_H
#define DRIVER_DEMANGLE_H

#include "base/text.h"

/* "_Z5saxpyifPKfPf" is saxpy, "_ZN3cub6kernelIiEEvT_" is cub::kernel; what is not mangled stays. */
void demangle(const char *name, struct text *text);

#endif
