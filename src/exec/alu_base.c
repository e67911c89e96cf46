/* The executors for any host. */
#define LEVEL base
#include "exec/alu_level.h"
