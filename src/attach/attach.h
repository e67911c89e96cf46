/* A machine in another process (`heddle serve`), which several programs may be attached to. To the driver it
 * is a machine as any other; kernels run there, on memory that both processes have mapped at the same
 * addresses.
 *
 *   struct attach *attach = attach_new(path, &wish, err);     gives a seat: addresses and files of its
 * memory const struct seat_memory *host = &attach_seat(attach)->host; struct machine *machine =
 * attach_machine(attach, &options, err);
 *
 * The machine's time passes only while all programs that are attached wait for it, so what comes of a run
 * does not depend on the host's speed. */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include "mailbox/door.h"
#include "system/machine.h"

struct attach;

struct attach *attach_new(const char *path, const struct seat_wish *wish, struct err *err);
void attach_free(struct attach *attach); /* not once it is a machine */

const struct seat *attach_seat(const struct attach *attach);

uint32_t attach_process(const struct attach *attach); /* that the machine is in */

/* Of such a machine: memory of another program there, at the same address, which kernels may touch from now
 * on, and no longer; and that something has happened which another program may wait for. */
void attach_open_memory(struct machine *machine, uint64_t at, uint64_t bytes);
void attach_close_memory(struct machine *machine, uint64_t at);
void attach_signal(struct machine *machine);

/* Of such a machine: the program waits for what another one does, not by way of the machine, and has looked
 * in vain. Returns when it may have come: to be looked at again. looks: how often, each time that others do
 * something. attach_message: this program has done something that others may wait for. attach_is_away: it is
 * in a call that waits for others, so time may pass without it soon. */
bool attach_turn(struct machine *machine, uint32_t looks, struct err *err);
void attach_message(struct machine *machine);
void attach_set_away(struct machine *machine, bool away);

/* Of a machine beside simulated CPU cores: waits for so long until tasks have ended without a call of the
 * program. Gives how often that was; and says that all that follows from the first so many was begun. */
uint32_t attach_wait_for_ends(struct machine *machine, uint32_t seen, double seconds);
void attach_has_followed(struct machine *machine, uint32_t ends);

/* It becomes the machine, and is freed with it. Of the options, threads and apart islands are the other
 * side's to say; checkpoints are refused. */
struct machine *attach_machine(struct attach *attach, const struct machine_options *options, struct err *err);

#endif
