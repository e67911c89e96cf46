/* Forced into every room but base and cli: what they must not do does not compile.
 * Memory comes from base/mem.h, random numbers from base/rng.h, output from base/log.h or a given FILE;
 * only the cli ends the process. The headers that themselves use the names come first. */
#ifndef BASE_FORBID_H
#define BASE_FORBID_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <mm_malloc.h> /* which immintrin.h brings in */
#endif
#ifdef USES_JANSSON
#include <jansson.h>
#endif

#pragma GCC poison malloc calloc realloc free strdup exit abort rand srand random drand48 printf puts strtok

#endif
