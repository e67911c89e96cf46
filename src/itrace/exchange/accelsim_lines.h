/* The lines of a warp in Accel-Sim's traces. */
#ifndef EXCHANGE_ACCELSIM_LINES_H
#define EXCHANGE_ACCELSIM_LINES_H

#include "base/text.h"
#include "exchange/accelsim_registers.h"
#include "itrace/iwalk.h"

struct accelsim_chunk {
    uint64_t at;         /* a multiple of 16 */
    uint32_t first, end; /* bytes of it that are accessed */
};

struct accelsim_lines {
    const struct itrace_kernel *kernel;
    struct accelsim_registers registers;
    bool is_sass;     /* instructions have their own opcodes */
    uint32_t threads; /* of a block */
    struct text text; /* of the warp */
    uint64_t count;
    lane_mask alive, waiting; /* waiting: at a barrier, where not all lanes have come */
    uint32_t commits;         /* groups of asynchronous copies so far */
    uint32_t last_pc;
    struct accelsim_chunk *chunks; /* of the instruction's pieces */
    size_t chunk_count, chunk_capacity;
    bool lost_barriers; /* of parts of a block: there is nothing like it */
};

/* Whether it has what Volta has not: asynchronous copies. */
bool accelsim_lines_need_ampere(const struct itrace *trace, const struct itrace_kernel *kernel);

void accelsim_lines_init(struct accelsim_lines *lines, const struct itrace *trace,
                         const struct itrace_launch *launch);
void accelsim_lines_fini(struct accelsim_lines *lines);

void accelsim_lines_begin(struct accelsim_lines *lines, lane_mask exists);
void accelsim_lines_put(struct accelsim_lines *lines, const struct iwalk_step *step);
void accelsim_lines_end(struct accelsim_lines *lines); /* lanes that did not, end now */

#endif
