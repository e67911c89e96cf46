/* For any x86-64, and any other processor. */
#define LEVEL v1
#include "cachesim/cpu/stack_level.h"
