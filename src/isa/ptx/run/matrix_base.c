/* The tiles of matrices for any host. */
#define LEVEL base
#include "ptx_run/matrix_level.h"
