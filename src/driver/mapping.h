/* Memory that a program maps itself (cuMemMap and the like). The program allocates physical memory of a
 * device, reserves addresses, maps the memory there, and says which devices may access it there. Physical
 * memory is an unnamed file: it can be mapped at several addresses, and its file descriptor shares it with
 * another process. The unit is 2 MiB. */
#ifndef DRIVER_MAPPING_H
#define DRIVER_MAPPING_H

#include "driver/result.h"

#include <stdbool.h>
#include <stdint.h>

struct driver;
struct device;

/* What programs map is made of whole pages of a device's memory. */
uint64_t mapping_unit(const struct driver *driver);

/* ---- physical memory, by a number that is never used again; it stays as long as it is held or mapped ----
 */

struct mapping_physical_facts {
    struct device *device;
    uint64_t bytes;
    bool shareable; /* made to be exported; what was imported is not */
};

enum result mapping_physical_new(struct device *device, uint64_t bytes, bool shareable, uint64_t *handle);
enum result mapping_physical_release(struct driver *driver, uint64_t handle);
/* What is mapped here is held once more. */
enum result mapping_physical_retain(struct driver *driver, uint64_t address, uint64_t *handle);
enum result mapping_physical_find(struct driver *driver, uint64_t handle,
                                  struct mapping_physical_facts *facts);

/* A new file descriptor, which is the caller's; and back, from one of this process or another. The memory
 * counts where it was made only. */
enum result mapping_physical_export(struct driver *driver, uint64_t handle, int *file);
enum result mapping_physical_import(struct driver *driver, int file, uint64_t *handle);

/* ---- addresses; alignment 0: 2 MiB ---- */

enum result mapping_reserve(struct driver *driver, uint64_t bytes, uint64_t alignment, uint64_t *address);
enum result mapping_unreserve(struct driver *driver, uint64_t address, uint64_t bytes);
/* The reserved range that holds this address; false when none does. */
bool mapping_range(struct driver *driver, uint64_t address, uint64_t *base, uint64_t *bytes);

/* ---- the one at the other ---- */

enum mapping_access { MAPPING_NONE = 0, MAPPING_READ = 1, MAPPING_READ_WRITE = 3 }; /* CUDA's numbers */

/* All of the memory, at reserved addresses where nothing is mapped. Nobody may touch it yet. */
enum result mapping_add(struct driver *driver, uint64_t address, uint64_t bytes, uint64_t handle);
/* Takes back every mapping in the range, and waits for the devices. The range must not cut one. */
enum result mapping_remove(struct driver *driver, uint64_t address, uint64_t bytes);
/* The range must be that of mappings, without a gap. */
enum result mapping_set_access(struct device *device, uint64_t address, uint64_t bytes,
                               enum mapping_access access);
enum result mapping_access(struct device *device, uint64_t address, enum mapping_access *access);

#endif
