/* What a guest is made of: Debian's kernel with some of its modules, busybox, and our first process. */
#ifndef BOOT_KIT_H
#define BOOT_KIT_H

#include "base/err.h"
#include "base/text.h"

struct kit {
    char *emulator, *kernel, *busybox; /* paths */
    struct text modules;               /* the folder of the kernel's */
    struct text initial;               /* the path of the initial file system */
    struct text identity;              /* lines: what must be the same to resume a checkpoint */
};

/* Finds them; kernel: a path, or NULL for the newest in /boot. False: err names the packages that are
 * missing. */
bool kit_find(struct kit *kit, const char *kernel, struct err *err);

/* Makes the initial file system in this folder, with `guest` as the first process. */
bool kit_make(struct kit *kit, const char *folder, const char *guest, struct err *err);
void kit_fini(struct kit *kit);

#endif
