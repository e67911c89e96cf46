/* The executors of rare rows, for any host. */
#define LEVEL rare
#define ONLY_RARE
#include "exec/alu_level.h"
