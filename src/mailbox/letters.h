/* What letters hold. Each struct has one function that writes it to an archive, or reads it from one. Bytes
 * of any number are texts, which whoever made or read a letter frees (letter_..._fini, where there are some).
 */
#ifndef MAILBOX_LETTERS_H
#define MAILBOX_LETTERS_H

#include "exec/texture.h"
#include "mailbox/mailbox.h"
#include "system/machine.h"

/* Another number where the structs have other sizes. */
uint64_t letters_layout(void);

struct letter_load {
    uint64_t object;
    struct text isa, bytes;
};
void letter_load_archive(struct letter_load *load, struct archive *archive);
void letter_load_fini(struct letter_load *load);

/* RANGE and SPARE, whose `what` and read_only count; RANGE_GONE, by its address. */
struct letter_range {
    uint32_t gpu;
    uint64_t at, bytes;
    bool read_only;
    struct text what;
};
void letter_range_archive(struct letter_range *range, struct archive *archive);

struct letter_texture {
    uint32_t gpu;
    uint64_t handle;
    struct texture texture;
};
void letter_texture_archive(struct letter_texture *texture, struct archive *archive);

struct letter_heap {
    uint32_t gpu;
    uint64_t at, part_bytes;
    uint32_t part_count; /* 0: it ends */
};
void letter_heap_archive(struct letter_heap *heap, struct archive *archive);

struct letter_memory {
    struct text ranges; /* struct memory_range */
};
void letter_memory_archive(struct letter_memory *memory, struct archive *archive);

struct letter_open {
    uint64_t at, bytes;
};
void letter_open_archive(struct letter_open *open, struct archive *archive);

struct letter_begin {
    uint64_t number;  /* the program's, of the task */
    struct task task; /* what to do; without pointers */
    bool is_kernel, uses_heap;
    bool is_watched, is_recorded; /* on other ranks, too */
    uint64_t object;              /* of a kernel: machine_load's number */
    struct launch launch;         /* its numbers; without pointers */
    struct text kernel, params;
    struct text places; /* struct block_place: where its blocks are to run */
    bool is_carried;    /* a copy's side at the host is not in memory that both processes have: */
    struct text bytes;  /* what is to be copied, rows without gaps, if that is the source */
};
void letter_begin_archive(struct letter_begin *begin, struct archive *archive);
void letter_begin_fini(struct letter_begin *begin);
void letter_fill_kernel(struct letter_begin *letter, const struct launch *launch);

struct letter_sync {
    uint64_t at, bytes;
    uint32_t use; /* enum memory_use */
};
void letter_sync_archive(struct letter_sync *sync, struct archive *archive);

/* TURN: nothing of what others did has come yet. If they do something, it looks again so often. */
struct letter_turn {
    uint32_t looks;
};
void letter_turn_archive(struct letter_turn *turn, struct archive *archive);

/* What is new of one task; printed text may come before its end. */
struct letter_news {
    uint64_t number;
    uint32_t state; /* enum task_state */
    uint64_t start_ps, end_ps;
    struct launch_result result;
    struct gpu_kernel_stats stats;
    struct text profile; /* struct op_profile */
    struct text printed;
    struct text bytes; /* of a copy that is carried: rows without gaps */
};
void letter_news_archive(struct letter_news *news, struct archive *archive);
void letter_news_fini(struct letter_news *news);

/* The answer to PASS begins with it; news of tasks follow, as many as it says. */
struct letter_passed {
    uint64_t now_ps;
    bool good;
    struct err err; /* if not */
    uint32_t end;   /* enum machine_end */
    struct machine_progress progress;
    uint64_t news;
};
void letter_passed_archive(struct letter_passed *passed, struct archive *archive);

/* The bytes of a copy's side, rows without gaps: taken from where the side is, and given back to where one
 * is. */
void letter_take_rows(const struct task *task, const struct task_side *side, struct text *bytes);
void letter_give_rows(const struct task *task, const struct task_side *side, const struct text *bytes);

/* The same to this place; and how many bytes these are, UINT64_MAX: more than there are. A seat of a device
 * (seat.bounce) has memory for them beside the letters: task.bounce says where, if not 0. */
void letter_put_rows(const struct task *task, const struct task_side *side, char *to);
uint64_t letter_row_bytes(const struct task *task);

/* From its first byte to behind its last; UINT64_MAX: more than there are. */
uint64_t letter_side_bytes(const struct task *task, const struct task_side *side);

#endif
