/* The state of warps in checkpoints. */
#ifndef PTX_RUN_ARCHIVE_H
#define PTX_RUN_ARCHIVE_H

#include "isa/warp.h"

void ptx_archive_shape(const struct kernel *kernel, struct archive *archive);
void ptx_archive_warp(struct isa_warp *warp, struct archive *archive);
const struct isa_code *ptx_archive_code(const struct kernel *kernel, const struct isa_code *code,
                                        struct archive *archive);
void ptx_archive_delivery(const struct isa_warp *warp, struct delivery *of, struct archive *archive);
void ptx_archive_piece(const struct isa_warp *warp, struct piece *piece, struct archive *archive);

#endif
