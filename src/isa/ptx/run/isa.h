/* The implementation of the warp interface (isa/warp.h) for PTX. */
#ifndef PTX_RUN_ISA_H
#define PTX_RUN_ISA_H

#include "isa/warp.h"

extern const struct isa_ops ptx_isa;

bool ptx_prepare(struct kernel *kernel, struct err *err);
void ptx_request_deliver(const struct delivery *of, uint64_t line, const unsigned char *data, lane_mask who);
void ptx_request_collect(const struct request *request, uint64_t line, lane_mask who, unsigned char *data,
                         uint32_t *masks);
void ptx_request_deliver_old(const struct delivery *of, uint32_t lane, uint64_t old);
void ptx_request_complete(struct isa_warp *warp, const struct delivery *of, const unsigned char *stage);
void ptx_find_shared(const struct kernel *kernel, const struct isa_code *code,
                     struct code_variable *by_instruction);
void ptx_place(const struct kernel *kernel, const struct isa_code *code, uint32_t instruction,
               struct code_place *place);
void ptx_signal(struct block *block, uint64_t offset, uint64_t operand);

#endif
