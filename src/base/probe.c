#include "base/probe.h"

const struct probe probe_of_nobody = {0};
