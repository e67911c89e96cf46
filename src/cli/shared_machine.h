/* The machine of `heddle run --shared` and of `heddle boot`, in a process of its own: all processes of the
 * program, or of the guest, attach to it. */
#ifndef CLI_SHARED_MACHINE_H
#define CLI_SHARED_MACHINE_H

#include "base/err.h"
#include "serve/serve.h"

#include <sys/types.h>

struct shared_machine {
    pid_t process; /* 0: none */
};

/* The parent of a family waits for its children without a call to CUDA, and processes wait for each other at
 * barriers of their own: time goes on without one that is silent for so long. With 0, it never does. */
#define SHARED_MACHINE_PATIENCE_S 0.2
/* Ranks of MPI say when they wait for each other; one that is silent computes. */
#define SHARED_MACHINE_RANK_PATIENCE_S 2.0

/* Returns when programs can attach. `command` is for messages: "run: --shared". */
bool shared_machine_start(struct shared_machine *machine, const char *command,
                          const struct serve_options *how, struct err *err);
void shared_machine_end(struct shared_machine *machine);

#endif
