/* What the replacements of several vendors' libraries share. Results are the driver's: its numbers are those
 * of CUDA and of HIP. */
#ifndef RUNTIME_COMMON_COMMON_H
#define RUNTIME_COMMON_COMMON_H

#include "driver/driver.h"
#include "driver/capture.h"
#include "heddle_locality.h"

/* ---- the process ---- */

/* Makes the process's driver, for the system that the user names, or else this one (NULL: h200). NULL where
 * HEDDLE_... settings are wrong, which is said on stderr. A library calls it once. When the process ends,
 * work that is still under way is waited for. */
struct driver *common_start(const char *default_system);
int common_is_started(void);
bool common_is_forked(void); /* the driver is that of a process this one was forked from: driver.h */

/* Around each exported function, by its name: timelines show it, and where the program runs on simulated CPU
 * cores, its time and the machine's meet here. The result is passed through. */
void common_enter(const char *name);
int common_leave(int result);

/* Around what a function waits for that another thread of the program has to do: that thread's time passes.
 */
void common_pause(void);
void common_resume(void);

struct driver *common_driver(void); /* of the process, or NULL: it has not begun */

/* ---- the Locality API ---- */

/* What a library that has its driver from here offers; it may have some functions of its own. */
struct heddle_locality common_locality(struct driver *(*driver)(void));

/* ---- handles ---- */

/* Streams and events that programs were given. A handle that is none of them is refused before anything is
 * read through it. The driver reuses what was destroyed and frees nothing while the program runs, so handles
 * are only ever added; the driver refuses one that was destroyed. */
void common_add_stream(const struct stream *stream);
void common_add_event(const struct stream_event *event);
bool common_has_stream(const struct stream *stream); /* default streams are not among them */
bool common_has_event(const struct stream_event *event);

/* As the driver's functions, for any handle: INVALID_HANDLE where it is no event. */
enum result common_event_free(struct stream_event *event);
enum result common_event_record(struct stream_event *event, struct stream *stream);
enum result common_event_query(struct stream_event *event);
enum result common_event_synchronize(struct stream_event *event);
enum result common_event_elapsed(struct stream_event *from, struct stream_event *to, float *milliseconds);
enum result common_wait_event(struct stream *stream, struct stream_event *event);

/* ---- functions of the host, in streams ---- */

/* One of the two is called when the stream gets there; the callback also when the device has an error. */
struct common_call {
    void (*function)(void *user);
    void (*callback)(struct stream *handle, int error, void *user);
    struct stream *handle; /* the stream as the program named it */
    void *user;
};
enum result common_call_later(struct stream *stream, const struct common_call *call);
bool common_is_called(void); /* this thread is in such a function, which is not to call CUDA */
const struct common_call *common_call_of(const void *user); /* what was handed to stream_host for one */

/* ---- devices ---- */

void common_uuid(const struct device *device, char uuid[16]);
void common_pci_name(const struct device *device, char *name, size_t bytes); /* "0000:1b:00.0" */
int common_find_pci(struct driver *driver, unsigned domain, unsigned bus, unsigned device); /* -1: none */
enum result common_limit(struct device *device, int limit, size_t *value); /* value may be NULL */

/* ---- copies ---- */

struct copy_side common_memory(const void *pointer, size_t pitch);
struct copy common_bytes(void *to, const void *from, size_t bytes);

/* The address of these bytes of a variable; INVALID_VALUE where it is too small. */
enum result common_in_symbol(const struct symbol *symbol, size_t bytes, size_t offset, uint64_t *address);

#endif
