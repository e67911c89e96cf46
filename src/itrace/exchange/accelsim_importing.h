/* What the files of an import share. */
#ifndef EXCHANGE_ACCELSIM_IMPORTING_H
#define EXCHANGE_ACCELSIM_IMPORTING_H

#include "exchange/accelsim_memory.h"
#include "itrace/writer.h"

struct importing {
    struct itrace *trace;
    struct itrace_writer *writer;
    const _Atomic int *interrupt;
    struct err *err;
    struct sass_kernel **kernels; /* as in the trace, in the end */
    size_t kernel_count, kernel_capacity;
    struct regions regions;
    uint64_t commands; /* of the stream */
    struct istream_writer stream;
    struct request request;
    struct accelsim_line line;
};

/* Takes blanks from the end of a line; whether it was nothing else. */
bool accelsim_is_blank(const char *at, const char **end);

/* The next line that is not empty, without blanks at its end; 0, or IMPORT_BAD or IMPORT_END. */
int accelsim_next_line(struct import *import, const char **at, const char **end, struct err *err);

/* "NAME" is at the beginning: `at` moves behind it, and behind blanks and "=". */
bool accelsim_begins(const char **at, const char *end, const char *name);

/* A call of the program. */
void importing_call(struct importing *of, enum itrace_call_kind kind, const uint64_t *fields, uint32_t count);

/* A file: a kernel, which is launched. */
bool importing_kernel(struct importing *of, const char *path);

#endif
