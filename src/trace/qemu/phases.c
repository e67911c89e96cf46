/* A recording's phases: until there are enough threads, nothing is asked of QEMU for blocks and accesses, and
 * the program runs as fast as QEMU can; then instructions are skipped, only counted; then accesses are
 * recorded; then the program runs on as at first, or is ended. */
#include "qemu/plugin.h"

static enum phase { WAITING, SKIPPING, RECORDING, OVER } phase;
static _Atomic int asked; /* the phase to come next */
static plugin_id own_id;

static plugin_translate_fn *const translates[] = {
    [WAITING] = NULL,
    [SKIPPING] = accesses_translate_skip,
    [RECORDING] = accesses_translate,
    [OVER] = accesses_translate_after,
};

static void enter_phase(plugin_id id)
{
    phase = (enum phase)atomic_load(&asked);
    if (phase == RECORDING) {
        threads_begin_recording();
        atomic_store(&shared->began, 1);
    }
    if (phase != OVER)
        threads_watch(id);
    if (translates[phase])
        qemu_plugin_register_vcpu_tb_trans_cb(id, translates[phase]);
}

/* What QEMU has translated so far calls what the last phase wanted: it is forgotten. */
static void change_to(enum phase next)
{
    if (atomic_exchange(&asked, (int)next) != (int)next)
        qemu_plugin_reset(own_id, enter_phase);
}

void phases_begin(plugin_id id)
{
    own_id = id;
    atomic_store(&asked, shared->options.skip_threads > 1 ? WAITING
                         : shared->options.skip           ? SKIPPING
                                                          : RECORDING);
    enter_phase(id);
}

void phases_thread_came(uint32_t living)
{
    if (phase == WAITING && living >= shared->options.skip_threads)
        change_to(shared->options.skip ? SKIPPING : RECORDING);
}

void phases_skipped_enough(void)
{
    change_to(RECORDING);
}

void phases_over(void)
{
    atomic_store(&shared->over, 1);
    if (!shared->options.run_on)
        _exit(0);
    change_to(OVER);
}
