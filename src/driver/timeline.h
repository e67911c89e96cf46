/* Simulated time. In timing mode no threads of the driver run commands: the first commands of all streams are
 * tasks of a machine (system/machine.h), and time passes while the host waits or makes a call. So what
 * happens when depends on the order of the host's calls alone, and not on its speed or on its threads.
 *
 * One thread at a time lets time pass; others that wait are woken whenever a command was done. The host's own
 * work takes no time, but each of its calls a little ([system] launch_time, call_time, wait_time; [copies]).
 */
#ifndef DRIVER_TIMELINE_H
#define DRIVER_TIMELINE_H

#include "base/err.h"
#include "system/machine.h"

#include <stdint.h>

struct device;
struct driver;
struct stream;
struct timeline;

bool timeline_new(struct driver *driver, struct err *err); /* it is the driver's, whose threads look at it */
void timeline_stop(struct driver *driver);                 /* waits for functions of the host */
void timeline_free(struct timeline *timeline);

uint64_t timeline_now(struct driver *driver); /* picoseconds */

/* The machine, for who has it; for others while nobody lets time pass (NULL: somebody does), until they give
 * it back. */
struct machine *timeline_machine(const struct driver *driver);
struct machine *timeline_try_machine(const struct driver *driver);
void timeline_give_machine(const struct driver *driver);

/* The host makes a call: time passes. is_launch: one that takes longer than others. */
void timeline_call(struct driver *driver, bool is_launch);

/* The host works for so long: for a call that takes longer, or to notice the end of a wait. */
void timeline_pass(struct driver *driver, uint64_t ps);

/* What the call of a copy between the host and a GPU takes, beside system.call_time; 0 of others. */
uint64_t timeline_copy_ps(const struct driver *driver, const struct task *task);

/* The host has come to this time by itself: so has the machine then. */
void timeline_host_reached(struct driver *driver, uint64_t time_ps);

/* A call works between these for as long as the host's computer takes, and may hold any lock. The program is
 * not silent meanwhile (which would let time pass), however slow or busy that computer is. */
void timeline_begin_work(struct driver *driver);
void timeline_end_work(struct driver *driver);

/* What was submitted begins now, if it can. */
void timeline_settle(struct driver *driver);

/* Until the stream has done this command. */
void timeline_wait(struct stream *stream, uint64_t number);

/* Whether some thread lets time pass just now. For signal handlers, too. */
bool timeline_is_driving(const struct driver *driver);

/* To be called before the driver itself looks at, or changes, memory of a device. The memory's lock may be
 * held. Nothing where there is no simulated time. */
void timeline_touch(struct driver *driver, uint64_t at, uint64_t bytes, enum memory_use use);

/* As machine_manage; likewise. */
void timeline_manage(struct driver *driver, const struct managed_order *order);

/* The program ends: what of checkpoints did not come to be is told. False: it did not go on from one. */
bool timeline_ends(struct driver *driver);

/* As machine_ops says; loading is for a machine in another process. */
bool timeline_is_elsewhere(const struct driver *driver); /* in another process, that programs attach to */
void timeline_write_load(struct driver *driver);         /* that was measured, if it is wanted */
void timeline_leave_ranks(struct driver *driver);        /* as the process ends */
bool timeline_wants_code(const struct driver *driver);   /* other processes execute kernels */
uint64_t timeline_load(struct driver *driver, const struct code_object *object);
void timeline_unload(struct driver *driver, uint64_t object);
bool timeline_listen(struct driver *driver, const struct probe *probe, struct err *err);

/* Listeners of plugins, beside the program's own. */
bool timeline_begin_listening(struct driver *driver, struct err *err);
void timeline_end_listening(struct driver *driver);
void timeline_set_limit(struct driver *driver, uint64_t cycles);

/* Memory of another process that is attached to the same machine: kernels may touch it, or no longer. The
 * memory's lock may be held. Nothing where no machine is elsewhere. */
void timeline_open_memory(struct driver *driver, uint64_t at, uint64_t bytes);
void timeline_tell_memory(struct driver *driver); /* where this process's own is; no lock is held */
void timeline_close_memory(struct driver *driver, uint64_t at);

/* Something happened that other processes may wait for. */
void timeline_signal(struct driver *driver);

/* Until another process has done this. */
struct ipc_event;
void timeline_wait_for_other(struct driver *driver, const struct ipc_event *event, uint64_t record);

/* Processes that wait for each other beside the machine: driver_turn and so on. */
void timeline_turn(struct driver *driver, uint32_t looks);
void timeline_message(struct driver *driver);
void timeline_set_away(struct driver *driver, bool away);

/* The heap of malloc in the device's kernels; NULL: it ends. Its lock may be held. */
void timeline_set_heap(struct device *device, struct heap *heap);

#endif
