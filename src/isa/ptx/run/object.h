/* A program as it can be sent to another process: its PTX, where its variables were placed, how many
 * registers machine code says its kernels have. Linked there it is the same program, on the same memory. */
#ifndef PTX_RUN_OBJECT_H
#define PTX_RUN_OBJECT_H

#include "base/archive.h"
#include "base/names.h"
#include "ptx_run/program.h"

struct ptx_source {
    struct text name, ptx;
};

struct ptx_object {
    struct ptx_source *sources; /* in the order they are linked in */
    size_t count, capacity;
    struct text places;    /* uint64_t: addresses of variables, in the order they are placed in */
    struct names kernels;  /* with a known number of registers: */
    struct text registers; /* uint32_t */
};

void ptx_object_add(struct ptx_object *object, const char *name, const char *text, size_t bytes);
void ptx_object_archive(struct ptx_object *object, struct archive *archive);
void ptx_object_fini(struct ptx_object *object);

/* Variables get their initial values again. */
struct program *ptx_object_link(const struct ptx_object *object, const struct ptx_assembler *assembler,
                                struct err *err);

#endif
