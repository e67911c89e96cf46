/* The tiles of matrices for x86-64-v3: AVX2, FMA. */
#ifdef ALU_X86_LEVELS
#ifndef __AVX2__
#error "compile this file with -march=x86-64-v3"
#endif
#define LEVEL v3
#include "ptx_run/matrix_level.h"
#endif
