/* Which of QEMU's programs runs a program, by what its file says of the machine it is for. */
#ifndef RECORD_EMULATOR_H
#define RECORD_EMULATOR_H

#include "base/err.h"

/* "qemu-x86_64"; NULL: err says why the file is none that QEMU runs. `command` is that of heddle which asks.
 */
const char *emulator_of(const char *command, const char *path, struct err *err);

#endif
