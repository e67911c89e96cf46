/* For x86-64-v3: AVX2. */
#ifdef CACHESIM_X86_LEVELS
#ifndef __AVX2__
#error "compile this file with -march=x86-64-v3"
#endif
#define LEVEL v3
#include "cachesim/cpu/stack_level.h"
#endif
