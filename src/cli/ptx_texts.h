/* The PTX of a file: its own text, or what is inside a program. */
#ifndef CLI_PTX_TEXTS_H
#define CLI_PTX_TEXTS_H

#include "base/err.h"
#include "ptx/ptx.h"

struct ptx_text {
    char *at; /* ends in a zero byte */
    size_t bytes;
};

struct ptx_texts {
    const char *name; /* of the file, as messages have it */
    struct ptx_text *modules;
    size_t count, capacity;
    bool embedded; /* they were taken out of a program */
};

/* Of a program, the PTX that a GPU of this architecture (90) runs: the one whose lines messages cite. "-" is
 * standard input. False with the reason when there is none. */
bool cmd_ptx_texts_read(struct ptx_texts *texts, const char *path, uint32_t arch, struct err *err);
void cmd_ptx_texts_fini(struct ptx_texts *texts);

/* One line for each module: its number, size and kernels. */
void cmd_ptx_texts_list(const struct ptx_texts *texts);

/* A module's lines with their numbers. */
void cmd_ptx_text_print(const struct ptx_text *text);

/* The same for the kernels of this name (as in PTX, or as in the source) of modules `first` to `last`. False,
 * with the reason, when there is none. */
bool cmd_ptx_texts_print_kernel(const struct ptx_texts *texts, size_t first, size_t last, const char *kernel,
                                struct err *err);

#endif
