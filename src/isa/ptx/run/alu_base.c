/* The executors for any host. */
#define LEVEL base
#include "ptx_run/alu_level.h"
