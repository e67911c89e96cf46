/* The launches of a driver. Each is counted when submitted, and added to the sums of its kernel when it ends.
 * heddle.h keeps all of them; a process started by `heddle run` or `heddle bench` writes them to files
 * (ledger_format.h). */
#ifndef DRIVER_LEDGER_H
#define DRIVER_LEDGER_H

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"
#include "driver/ledger_format.h"
#include "driver/ledger_places.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct launch_record;

/* ---- the ledger ---- */

struct ledger_folder; /* what is written to; ledger_files.c */

struct ledger {
    pthread_mutex_t lock;
    _Atomic uint64_t submitted;
    struct names kernels;          /* names that outlive their modules */
    struct launch_record *records; /* when kept, with the places that their profiles name: */
    size_t count, capacity;
    struct ledger_place_list places;
    struct kernel_places *kernel_places;
    size_t kernel_places_count, kernel_places_capacity;
    struct ledger_folder *folder; /* NULL: nothing is written */
};

/* Launches from the first to before `end` get a line in the folder, if there is one. */
void ledger_init(struct ledger *ledger, const char *folder, uint64_t first, uint64_t end);
void ledger_fini(struct ledger *ledger);
const char *ledger_name(struct ledger *ledger, const char *kernel); /* the same text, for ever */

/* A copy or fill in simulated time. */
struct copy_record {
    enum copy_kind kind;
    unsigned device;
    uint64_t bytes, start_ps, end_ps;
};
void ledger_add_copy(struct ledger *ledger, const struct copy_record *copy);

/* What passed over the links of the fabric so far: the first `count` of them. */
struct machine_link;
void ledger_set_links(struct ledger *ledger, const struct machine_link *links, size_t count);

/* Of a machine's series; in the order of their times. */
void ledger_add_sample(struct ledger *ledger, const struct series_head *head, const void *sample);

/* A launch begins at this time of the host. */
void ledger_begin(struct ledger *ledger, double now_s);

/* And has ended. Takes the record's timing. */
void ledger_add(struct ledger *ledger, const struct launch_record *record, bool keep, double now_s);

/* ---- ledger_files.c; with the lock held ---- */

struct ledger_folder *ledger_folder_new(const char *path, uint64_t first, uint64_t end);
void ledger_folder_free(struct ledger_folder *folder);
void ledger_folder_begin(struct ledger_folder *folder, double now_s);
void ledger_folder_add(struct ledger_folder *folder, const struct launch_record *record, double now_s);
void ledger_folder_set_links(struct ledger_folder *folder, const struct machine_link *links, size_t count);
void ledger_folder_add_copy(struct ledger_folder *folder, const struct copy_record *copy);
void ledger_folder_add_sample(struct ledger_folder *folder, const struct series_head *head,
                              const void *sample);

#endif
