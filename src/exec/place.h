/* A place in a kernel's code: what debug information and PTX say about an operation. Only this file turns it
 * into text. */
#ifndef EXEC_PLACE_H
#define EXEC_PLACE_H

#include "base/text.h"
#include "isa/isa.h"

struct code_place {
    const char *file;          /* of the source; NULL: the program has no line information there */
    const char *function;      /* inlined function that the line is of (mangled); NULL: the kernel's own */
    const char *kernel;        /* or called function whose code it is (mangled) */
    const char *module;        /* whose PTX lines are counted: a file, or "module of PROGRAM" */
    const char *instruction;   /* "ld.global.f32"; "end": where threads end behind the last one */
    uint32_t line;             /* of the file */
    uint32_t ptx_line;         /* 0: of "end", or of machine code: */
    uint32_t code_at;          /* where that is in the module; 0: of "end" */
    bool is_atomic, is_shared; /* an atomic operation; one of shared memory */
    uint8_t steps[UNIT_COUNT]; /* machine instructions that it becomes, by unit; 255 stands for more, too */
};

/* A variable of shared memory. */
struct code_variable {
    const char *name;
    uint64_t at, bytes; /* bytes: 0: none; UINT64_MAX: as many as the launch gives */
};

/* By lines of PTX, or by places of machine code: less than, equal or greater than 0. */
int place_compare_code(const struct code_place *a, const struct code_place *b);

/* "saxpy.cu:5, PTX line 40 of saxpy.ptx (ld.global.f32)" */
void place_tell(const struct code_place *place, struct text *text);

/* "saxpy.cu:5 (ld.global.f32)", or "PTX line 40 (ld.global.f32)": without folders. */
void place_tell_short(const struct code_place *place, struct text *text);

#endif
