/* The instructions of a kernel in a code object, for `heddle gcn3`. */
#ifndef CLI_GCN3_CODE_H
#define CLI_GCN3_CODE_H

#include "gcn3_object/object.h"

struct gcn3_opcode_count {
    char name[48];
    uint64_t count;
};

struct gcn3_code {
    uint64_t instructions;
    uint64_t unknown_bytes;            /* that are no instructions */
    struct gcn3_opcode_count *opcodes; /* the most frequent first */
    size_t opcode_count;
};

void cmd_gcn3_code_count(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel,
                         struct gcn3_code *code);
void cmd_gcn3_code_fini(struct gcn3_code *code);

/* Each instruction of the kernel, as text, and where it is. */
struct text;
void cmd_gcn3_code_each(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel,
                        void (*each)(void *user, uint64_t at, const struct text *text), void *user);

/* One line for each instruction: where it is, its words, and what it is; with lines of the source where they
 * are known. */
void cmd_gcn3_code_print(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel);

#endif
