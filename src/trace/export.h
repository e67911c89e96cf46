/* Accesses as traces of other simulators, and as CSV. A format is a row: its name, and a function that writes
 * accesses to a file. */
#ifndef TRACE_EXPORT_H
#define TRACE_EXPORT_H

#include "base/file.h"
#include "trace/access.h"

enum { EXPORT_LINE = 64 }; /* bytes: what these simulators read or write at once */

struct export
{
    const struct export_format *format;
    struct file_writer file;
    char *text;                     /* room for rows */
    bool begun;                     /* of what follows */
    uint64_t instruction;           /* of the last access */
    bool has_waiting;               /* ramulator2-o3: a line of the file that a written address may end */
    struct champsim_record *record; /* being filled */
};

struct export_format {
    const char *name, *help;
    const char *ending; /* of the file's name; or NULL */
    void (*put)(struct export *to, const struct trace_access *accesses, size_t count);
    void (*end)(struct export *to); /* or NULL */
    const char *header;
};

extern const struct export_format *const export_formats[];    /* ends in NULL */
const struct export_format *export_find(const char *name);    /* or NULL */
const struct export_format *export_of_name(const char *path); /* what its ending says, or NULL */

bool export_open(struct export *to, const struct export_format *format, const char *path, struct err *err);
bool export_put(struct export *to, const struct trace_access *accesses, size_t count, struct err *err);
/* With `good` false nothing stays. */
bool export_close(struct export *to, bool good, struct err *err);

#endif
