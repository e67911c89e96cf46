/* The tiles of matrices for x86-64-v4: AVX-512. */
#ifdef ALU_X86_LEVELS
#ifndef __AVX512DQ__
#error "compile this file with -march=x86-64-v4"
#endif
#define LEVEL v4
#include "ptx_run/matrix_level.h"
#endif
