/* Modules: PTX, alone or in fatbins, or a code object of AMD's, with its kernels and variables. A module
 * belongs to all devices. Each device gets its own copy (program, variables) at the first use there; only
 * then is the PTX parsed, so registering a module is cheap. */
#ifndef DRIVER_MODULE_H
#define DRIVER_MODULE_H

#include "driver/result.h"
#include "ptx_run/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver;
struct device;
struct module;
struct function;

/* An image that is PTX text, a fatbin, a wrapper that points to one, a code object (whose bytes must be
 * known), or a cubin (which is refused: it holds no PTX). bytes 0: not known; the image is trusted to hold
 * what its headers say, and text to end in a zero byte. The image is copied when bytes are given and must
 * else stay as long as the module. `name` stands for it in messages. Here only the outermost form is checked.
 */
enum result module_load(struct driver *driver, const char *name, const void *image, size_t bytes,
                        struct module **module);
enum result module_load_file(struct driver *driver, const char *path, struct module **module);

/* What __cudaRegisterFatBinary gets; version 2 wrappers (-rdc=true) are linked from all their parts. */
enum result module_register(struct driver *driver, const void *wrapper, struct module **module);

/* Several images become one module (cuLinkAddData, cuLinkComplete). Copies them. */
struct module_part {
    const char *name;
    const void *image;
    size_t bytes;
};
enum result module_link(struct driver *driver, const struct module_part *parts, size_t count,
                        struct module **module);

/* Waits for all devices; its functions end with it. */
enum result module_unload(struct module *module);

/* Makes the module ready on this device: reads and links the PTX, places variables. Called by all that needs
 * it; call it yourself to get errors early (cuModuleLoad) or for managed variables (__cudaInitModule). */
enum result module_prepare(struct module *module, struct device *device);

/* The kernel of this name: one handle for all devices, the same for each call. Reads nothing, so it does not
 * fail; functions that need the kernel give INVALID_DEVICE_FUNCTION when the module has none such. */
enum result module_function(struct module *module, const char *name, struct function **function);
/* By number, of those the module has on this device: NULL beyond the last. Prepares the module. */
struct function *module_function_at(struct module *module, struct device *device, size_t index);
const char *function_name(const struct function *function);
struct module *function_module(const struct function *function);

/* A variable's copy on this device; managed variables have one for all. NOT_FOUND when there is none. */
enum result module_variable(struct module *module, struct device *device, const char *name,
                            struct symbol *symbol);

struct function_facts {
    const struct kernel_facts *kernel; /* of exec; registers are the cubin's where there is one */
    uint32_t max_threads;              /* of a block: by registers, by .maxntid, by the GPU */
    uint32_t binary_version;           /* 90: the device's */
    uint64_t max_dynamic_shared;       /* as set, or what is left of 48 KiB */
    int carveout, cache;               /* as set; -1 and 0 else */
    bool non_portable;                 /* it may run in clusters of any size that the GPU has */
};
/* INVALID_DEVICE_FUNCTION when the module has no such kernel. */
enum result function_facts(struct function *function, struct device *device, struct function_facts *facts);

#define FUNCTION_SETTINGS(F)                                                                                 \
    F(MAX_DYNAMIC_SHARED,                                                                                    \
      8) /* CUDA's numbers of function attributes; this one is of use, the others kept */                    \
    F(CARVEOUT, 9)                                                                                           \
    F(NON_PORTABLE_CLUSTER, 14)
enum function_setting {
#define F(id, number) FUNCTION_##id = number,
    FUNCTION_SETTINGS(F)
#undef F
        FUNCTION_CACHE = 100, /* cudaFuncSetCacheConfig's preference */
};
/* INVALID_VALUE beyond the last. */
enum result function_parameter(struct function *function, struct device *device, uint64_t index,
                               uint64_t *offset, uint64_t *bytes);
enum result function_set(struct function *function, struct device *device, int setting, int64_t value);

/* Blocks of the function that an SM holds, as cudaOccupancyMaxActiveBlocksPerMultiprocessor. */
enum result function_occupancy(struct function *function, struct device *device, uint64_t block_threads,
                               uint64_t dynamic_shared, uint64_t *blocks);
/* Clusters of so many blocks that the device holds, as cudaOccupancyMaxActiveClusters. */
enum result function_clusters(struct function *function, struct device *device, uint64_t block_threads,
                              uint64_t dynamic_shared, uint64_t cluster_blocks, uint64_t *clusters);
/* The block of at most `most` threads that keeps most threads on an SM, the largest of those that do, and a
 * grid of it that fills the device; both are left alone where none fits. shared_of: dynamic shared memory by
 * threads; NULL: always dynamic_shared. */
enum result function_best_block(struct function *function, struct device *device, int most,
                                size_t (*shared_of)(int threads), size_t dynamic_shared, int *grid,
                                int *block);
/* Dynamic shared memory that lets this many blocks be on an SM (cudaOccupancyAvailableDynamicSMemPerBlock).
 */
enum result function_available_shared(struct function *function, struct device *device, uint64_t blocks,
                                      uint64_t block_threads, uint64_t *bytes);

#endif
