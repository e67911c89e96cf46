/* Launches by kernels (dynamic parallelism). A kernel that may launch others is followed, in its stream, by a
 * command that runs what it has launched: when the kernel has ended, all of it but the tail launches; then
 * these, one after another. So children begin when their parent has ended, which CUDA allows: a parent cannot
 * wait for them. */
#ifndef DRIVER_BROOD_H
#define DRIVER_BROOD_H

#include "exec/exec.h"

struct brood;
struct command;
struct device;
struct module;

struct brood *brood_new(struct device *device,
                        struct module *module); /* of one launch of a kernel of the module */
void brood_release(struct brood *brood);
struct command *brood_command(struct brood *brood); /* which has a share of it */
extern const struct device_calls brood_calls;       /* for a brood as their user */

#endif
