/* Launches by kernels (dynamic parallelism, graphs launched by kernels). A kernel that may launch others is
 * followed, in its stream, by a command that ends when all of that has ended.
 *
 * Without time, what it has launched begins when it has ended: first all but the tail launches, then these,
 * one after another. In simulated time a launch begins dispatch.device_launch_cycles after the call
 * (ROLE_LAUNCH of core stops the machine then), while the kernel may still run; tail launches begin when the
 * kernel and all other launches have ended.
 *
 * A launch of a graph that kernels may launch has a brood, too: of the graphs that its kernels launch. */
#ifndef DRIVER_BROOD_H
#define DRIVER_BROOD_H

#include "exec/exec.h"

struct brood;
struct command;
struct device;
struct driver;
struct module;

/* Of one launch of a kernel of the module; graph: of the graph that it is a part of, or NULL. */
struct brood *brood_new(struct device *device, struct module *module, struct brood *graph);
/* Of one launch of a graph; parent: of the graph whose kernel launches it, or NULL. */
struct brood *brood_new_graph(struct device *device, struct brood *parent);
struct brood *brood_keep(struct brood *brood);
void brood_release(struct brood *brood); /* or NULL; without the commands' lock */
struct command *
brood_command(struct brood *brood);           /* which has a share of it; with the commands' lock held */
extern const struct device_calls brood_calls; /* for a brood as their user */

/* With the commands' lock held: when something that a kernel has launched is due; and begins what is, with
 * the lock open meanwhile. */
uint64_t broods_next_ps(const struct driver *driver);
bool broods_begin_due(struct driver *driver, uint64_t now_ps);

/* What kernels ask (brood_answer.c); codes are CUDA's. */
void brood_prepare_answers(struct device *device);
int brood_answer(struct device *device, enum device_question what, const struct kernel *kernel,
                 const uint64_t asked[2], struct device_answer *answer);

#endif
