/* The launches of a driver, by number: counted when submitted, kept or written when they end. */
#ifndef DRIVER_LEDGER_H
#define DRIVER_LEDGER_H

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct launch_record;

/* What copies are called, in the order of system's enum copy_direction, and fills behind them; and for people
 */
#define COPY_KINDS(K)                                                                                        \
    K(to_device, "to the device")                                                                            \
    K(to_host, "to the host")                                                                                \
    K(on_device, "on a device")                                                                              \
    K(peer, "between devices")                                                                               \
    K(fill, "memset")

struct ledger {
    pthread_mutex_t lock;
    _Atomic uint64_t submitted;
    struct names kernels;          /* names that outlive their modules */
    struct names places;           /* in code, that profiles have named */
    struct launch_record *records; /* when kept */
    size_t count, capacity;
    char *folder;         /* of the file */
    _Atomic bool writing; /* there is a folder, and no trouble with it yet */
    int file;             /* -1 before the first launch */
    struct text line;
};

void ledger_init(struct ledger *ledger, const char *folder);
void ledger_fini(struct ledger *ledger);
const char *ledger_name(struct ledger *ledger, const char *kernel); /* the same text, for ever */

/* A copy or fill in simulated time, in the file a line: {"copy":"to_device","bytes":64,"start_ps":...} */
struct copy_record {
    const char *what; /* of COPY_KINDS */
    unsigned device;
    uint64_t bytes, start_ps, end_ps;
};
void ledger_add_copy(struct ledger *ledger, const struct copy_record *copy);

/* Takes the record's timing. */
void ledger_add(struct ledger *ledger, const struct launch_record *record, bool keep);

#endif
