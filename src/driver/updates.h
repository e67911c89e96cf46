/* What kernels change of a graph's kernel node while the graph runs, or before its next launch
 * (cudaLaunchAttributeDeviceUpdatableKernelNode): its grid, bytes of its parameters, whether it runs at all.
 * Every launch of the node looks at it when its turn has come. Kept by the node, its copy in the instantiated
 * graph, and the commands that are made of it. */
#ifndef DRIVER_UPDATES_H
#define DRIVER_UPDATES_H

#include "driver/result.h"

#include <stdbool.h>
#include <stdint.h>

struct device;
struct device_update;
struct launch_config;
struct updates;

struct updates *updates_new(void);
struct updates *updates_keep(struct updates *updates); /* or NULL */
void updates_release(struct updates *updates);         /* or NULL */

uint64_t updates_handle(const struct updates *updates); /* by which kernels name it */

/* One instantiated graph may have it at a time; false: another one has. */
bool updates_take(struct updates *updates);
bool updates_is_taken(const struct updates *updates);
void updates_give_back(struct updates *updates);

/* What its kernel is; what was changed of it is forgotten. */
void updates_describe(struct updates *updates, const struct device *device,
                      const struct launch_config *config, const void *params, uint64_t param_bytes);
void updates_enable(struct updates *updates, bool enabled);
bool updates_is_enabled(const struct updates *updates);

/* By a kernel of the device. False: there is no such node, or it cannot be so. */
bool updates_check(const struct device *device, const struct device_update *update);
bool updates_make(const struct device *device, const struct device_update *update, const void *value);

/* A launch's turn has come. False: it does nothing. One of another kernel than the node has by now, which was
 * submitted before, stays as it is. */
bool updates_apply(struct updates *updates, struct launch_config *config, void *params, uint64_t param_bytes);

#endif
