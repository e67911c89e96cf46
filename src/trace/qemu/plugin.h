/* The recorder inside QEMU's process. */
#ifndef TRACE_QEMU_PLUGIN_H
#define TRACE_QEMU_PLUGIN_H

#include "qemu/api.h"
#include "record/shared.h"

/* What heddle reads, too. */
extern struct record_shared *shared;

/* QEMU's numbers of threads may grow with each new one, however few there are. */
enum { CPUS_MOST = 1 << 16 };
extern struct record_lane *vcpu_lanes[CPUS_MOST];

/* ---- phases (phases.c) ---- */

/* Asks QEMU for what the first phase needs; the later ones follow by themselves. */
void phases_begin(plugin_id id);
void phases_thread_came(uint32_t living); /* there may be enough of them now */
void phases_skipped_enough(void);
void phases_over(void); /* all that is wanted was recorded */

/* ---- threads (threads.c) ---- */

void threads_init(const char *target);
void threads_watch(plugin_id id);                /* asks for calls when threads come and go; in each phase */
void threads_begin_recording(void);              /* no block runs meanwhile */
void threads_finished(struct record_lane *lane); /* it has all the accesses it shall have */

/* ---- accesses (accesses.c) ---- */

void accesses_translate(plugin_id id, struct qemu_plugin_tb *block);       /* to be recorded */
void accesses_translate_skip(plugin_id id, struct qemu_plugin_tb *block);  /* only counted */
void accesses_translate_after(plugin_id id, struct qemu_plugin_tb *block); /* recording is over */
void accesses_end(struct record_lane *lane);                               /* its thread has */

#endif
