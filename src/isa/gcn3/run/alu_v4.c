/* The executors for x86-64-v4: AVX-512. */
#ifdef ALU_X86_LEVELS
#ifndef __AVX512F__
#error "compile this file with -march=x86-64-v4"
#endif
#define LEVEL v4
#include "gcn3_run/alu_level.h"
#endif
