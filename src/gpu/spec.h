/* The properties of a GPU that CUDA's queries report; core/spec.h and mem/spec.h have those of its parts. The
 * defaults are an H200's. */
#ifndef GPU_SPEC_H
#define GPU_SPEC_H

#include "base/param.h"

#define GPU_PARAMS(P, S)                                                                                     \
    P(S, text, name, "NVIDIA H200", "", "what the GPU is called")                                            \
    P(S, text, target, "", "",                                                                               \
      "the machine code that it runs, such as gfx803; empty: PTX of its compute capability")                 \
    P(S, count, major, "9", "1..99", "compute capability, before the dot")                                   \
    P(S, count, minor, "0", "0..9", "compute capability, behind the dot")                                    \
    P(S, count, sm_count, "132", "1..4096", "streaming multiprocessors", SHOWS_IN_QUERIES_AND_TIME)          \
    P(S, freq, clock, "1980MHz", "1MHz..100GHz", "clock of the SMs", SHOWS_IN_QUERIES_AND_TIME)              \
    P(S, size, memory, "150109880320B", "1MiB..16TiB", "global memory that programs see")                    \
    P(S, size, page, "2MiB", "4KiB..1GiB",                                                                   \
      "of its memory: programs that map memory themselves map whole ones")                                   \
    P(S, freq, memory_clock, "3201MHz", "1MHz..100GHz",                                                      \
      "clock of the memory, as properties tell it; timing has dram.bandwidth")                               \
    P(S, count, memory_bus_bits, "6016", "1..65536", "width of the memory's bus, likewise")                  \
    P(S, size, l2_persisting_max, "39321600B", "0..64GiB", "of L2, that may be set aside")                   \
    P(S, size, l2_window_max, "134217728B", "0..64GiB", "largest window of an access policy")                \
    P(S, count, warp_lanes, "32", "32..64", "threads of a warp: 32 or 64")                                   \
    P(S, count, warps_per_sm, "64", "1..1024", "warps that an SM holds", SHOWS_IN_QUERIES_AND_TIME)          \
    P(S, count, blocks_per_sm, "32", "1..1024", "blocks that an SM holds", SHOWS_IN_QUERIES_AND_TIME)        \
    P(S, count, subcores_per_sm, "4", "1..64", "parts of an SM that have registers of their own",            \
      SHOWS_IN_QUERIES_AND_TIME)                                                                             \
    P(S, count, threads_per_block, "1024", "1..65536", "threads of a block")                                 \
    P(S, count, block_x, "1024", "1..", "threads of a block in x")                                           \
    P(S, count, block_y, "1024", "1..", "threads of a block in y")                                           \
    P(S, count, block_z, "64", "1..", "threads of a block in z")                                             \
    P(S, count, grid_x, "2147483647", "1..", "blocks of a grid in x")                                        \
    P(S, count, grid_y, "65535", "1..", "blocks of a grid in y")                                             \
    P(S, count, grid_z, "65535", "1..", "blocks of a grid in z")                                             \
    P(S, count, cluster_blocks, "8", "0..64", "blocks of a cluster; 0: no clusters")                         \
    P(S, count, cluster_blocks_optin, "16", "0..64", "blocks of a cluster, for kernels that ask for it")     \
    P(S, count, registers_per_sm, "65536", "1..", "registers of an SM")                                      \
    P(S, count, registers_per_block, "65536", "1..", "registers that a block can have")                      \
    P(S, count, registers_per_thread, "255", "1..", "registers that a thread can have")                      \
    P(S, count, register_unit, "256", "1..", "registers are given to a warp in multiples of this")           \
    P(S, size, shared_per_sm, "228KiB", "0..1GiB", "shared memory of an SM")                                 \
    P(S, size, shared_per_block, "48KiB", "0..1GiB", "shared memory of a block")                             \
    P(S, size, shared_per_block_optin, "227KiB", "0..1GiB", "shared memory of a block that asks for it")     \
    P(S, size, shared_reserved, "1KiB", "0..1MiB", "shared memory that each block has besides")              \
    P(S, size, shared_unit, "128B", "1B..1MiB", "shared memory is given in multiples of this")               \
    P(S, text, shared_carveouts, "0 8 16 32 64 100 132 164 196 228", "",                                     \
      "sizes that shared memory of an SM can be set to, in KiB")                                             \
    P(S, size, shared_ahead, "132KiB", "0..1GiB",                                                            \
      "most shared memory of an SM that is set aside for more blocks than fit")                              \
    P(S, size, const_memory, "64KiB", "0..1GiB", "constant memory of a module")                              \
    P(S, count, copy_engines, "3", "0..64", "copies at a time")                                              \
    P(S, count, concurrent_kernels, "128", "1..", "kernels at a time")                                       \
    P(S, count, fp32_per_fp64, "2", "1..", "single precision speed over that of double")                     \
    P(S, flag, ecc, "yes", "", "memory with error correction")                                               \
    P(S, count, pci_domain, "0", "0..65535", "PCI domain")                                                   \
    P(S, count, pci_bus, "27", "0..255", "PCI bus of the first GPU; the next ones follow")                   \
    P(S, count, pci_device, "0", "0..31", "PCI device")                                                      \
    P(S, size, texture_alignment, "512B", "1B..1MiB", "alignment of textures in linear memory")              \
    P(S, size, texture_pitch_alignment, "32B", "1B..1MiB", "alignment of rows of 2D textures")               \
    P(S, size, surface_alignment, "512B", "1B..1MiB", "alignment of surfaces")                               \
    P(S, size, pitch_max, "2147483647B", "1B..", "pitch of a copy")                                          \
    P(S, count, texture_1d, "131072", "1..", "elements of a 1D texture")                                     \
    P(S, count, texture_1d_linear, "268435456", "1..", "elements of a 1D texture in linear memory")          \
    P(S, count, texture_2d_x, "131072", "1..", "width of a 2D texture")                                      \
    P(S, count, texture_2d_y, "65536", "1..", "height of a 2D texture")                                      \
    P(S, count, texture_3d, "16384", "1..", "each side of a 3D texture")                                     \
    P(S, count, texture_layered, "32768", "1..", "each side of a layered texture")                           \
    P(S, count, texture_layers, "2048", "1..", "layers of a texture")

struct gpu_spec {
    GPU_PARAMS(PARAM_FIELD, gpu_spec)
    uint64_t l2; /* bytes of L2 cache, as properties tell it: of [l2], by whoever fills this */
};

extern const struct param_group gpu_params;

/* The least of the sizes that shared memory of an SM can be set to which holds this much. */
uint64_t gpu_spec_carveout(const struct gpu_spec *spec, uint64_t need);

#endif
