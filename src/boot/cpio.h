/* An initial file system for a kernel: a cpio archive ("newc"), written to a file as it is made. */
#ifndef BOOT_CPIO_H
#define BOOT_CPIO_H

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>

struct cpio {
    FILE *to;
    uint32_t count;
};

void cpio_add_folder(struct cpio *cpio, const char *name);
void cpio_add_link(struct cpio *cpio, const char *name, const char *target);
void cpio_add_text(struct cpio *cpio, const char *name, const char *text);
/* A file of the host's, which may be executed. */
bool cpio_add_file(struct cpio *cpio, const char *name, const char *path, struct err *err);
void cpio_end(struct cpio *cpio);

#endif
