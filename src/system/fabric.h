/* How GPUs are connected; only this file knows. For this room only. */
#ifndef SYSTEM_FABRIC_H
#define SYSTEM_FABRIC_H

#include "system/parts.h"

/* Connects the GPUs of a machine, where there are several; before its engine is ready. */
bool fabric_make(struct local_machine *machine, struct err *err);

#endif
