/* Traces of instructions (src/itrace): what the host does is noted where it comes to the driver, and what
 * kernels do by observers of their launches. Nothing here without HEDDLE_RECORD.
 *
 * Processes of one program: the first that uses a GPU records into the folder itself, the next ones into
 * FOLDER/process-2, ... Each leaves a file recorded.NUMBER in the run folder: "unfinished FOLDER", then
 * "whole LAUNCHES RECORDED INSTRUCTIONS BYTES FOLDER", with "cut WHY" behind it where it is, or "failed WHY".
 */
#ifndef DRIVER_ITRACING_H
#define DRIVER_ITRACING_H

#include "base/err.h"
#include "driver/commands.h"

#include <stdbool.h>
#include <stdint.h>

struct command;
struct driver;
struct kernel;
struct launch_config;
struct launch_result;
struct function_copy;
struct itracing;
struct managed_order;
struct observer;
struct stream;
struct block_place;

struct itracing *itracing_new(struct driver *driver, struct err *err);

/* No kernel runs any more. False: there is no trace, and err says why. Ends it in any case. */
bool itracing_finish(struct driver *driver, struct err *err);

/* ---- what the host does; nothing where nothing is recorded ---- */

void itracing_call(struct driver *driver, enum host_call call); /* it makes a call that takes time */
void itracing_wait(struct stream *stream, uint64_t number);     /* it waited for a command */
void itracing_command(struct stream *stream,
                      struct command *command); /* with the commands' lock held: one enters */
void itracing_touch(struct driver *driver, uint64_t at, uint64_t bytes, uint32_t use); /* as timeline_touch */
void itracing_manage(struct driver *driver, const struct managed_order *order);
void itracing_lends(struct driver *driver, uint64_t at, uint64_t bytes); /* memory_alloc_lendable */

/* ---- launches ---- */

/* One that was submitted, by its number. With the commands' lock held. */
struct itracing_launch {
    uint64_t number;
    struct kernel *kernel;
    const struct launch_config *config;
    uint32_t device, carveout_bytes;
    int64_t max_dynamic;
    int carveout, cache;
    bool uses_heap;
    const struct block_place *places;
    uint32_t place_count;
};
void itracing_launch(struct driver *driver, const struct itracing_launch *launch);

/* Its observer, when it is about to run, or NULL; and what came of it. */
struct observer *itracing_begin(struct driver *driver, uint64_t number, struct kernel *kernel);
void itracing_end(struct driver *driver, struct observer *observer, bool good,
                  const struct launch_result *result);

#endif
