/* The executors for any host. */
#define LEVEL base
#include "gcn3_run/alu_level.h"
