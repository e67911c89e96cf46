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
/* Takes the record's timing. */
void ledger_add(struct ledger *ledger, const struct launch_record *record, bool keep);

#endif
