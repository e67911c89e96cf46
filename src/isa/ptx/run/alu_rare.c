/* The executors of rare rows, for any host. */
#define LEVEL rare
#define ONLY_RARE
#include "ptx_run/alu_level.h"
