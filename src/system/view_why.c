/* What a machine does, in sentences for people; of one that hangs, why. */
#include "system/view.h"
#include "base/clock.h"
#include "base/demangle.h"
#include "system/parts.h"

/* Cycles without the end of a block, after which it is worth a word. */
static const uint64_t LONG_CYCLES = 100000;

static const char *const reason_help[][2] = {
#define X(name, help, words) {#name, help},
    STALLS(X)
#undef X
};

static void add_sentence(struct text *json, const struct err *sentence)
{
    text_add_quoted(json, sentence->text);
    text_add(json, ",");
}

struct sums {
    uint64_t kernels, tasks, ended, instructions, warps;
    uint64_t by_reason[STALL_COUNT];
    struct text where; /* of the first kernel */
};

static void add_kernel(struct sums *sums, struct text *json, const struct local_machine *machine,
                       uint32_t gpu, uint32_t slot)
{
    const struct task *task = machine->gpus[gpu].kernels[slot];
    struct gpu_kernel_view view;
    struct err sentence;
    if (!task || !gpu_look_at_kernel(machine->gpus[gpu].gpu, slot, &view))
        return;
    sums->kernels++;
    sums->tasks += task->number + 1;
    sums->ended += view.ended;
    sums->instructions += view.instructions;
    if (sums->kernels == 1)
        gpu_where(machine->gpus[gpu].gpu, slot, &sums->where);
    err_set(&sentence, "%s on GPU %u: %llu of %llu blocks have ended, %llu are on SMs.",
            demangled(task->launch->kernel->facts.name), gpu, (unsigned long long)view.ended,
            (unsigned long long)view.blocks, (unsigned long long)(view.begun - view.ended));
    add_sentence(json, &sentence);
}

static void add_sms(struct sums *sums, const struct gpu *gpu)
{
    struct sm_view view;
    for (uint32_t i = 0; gpu_look_at_sm(gpu, i, &view); i++) {
        sums->warps += view.warps;
        for (int why = 0; why < STALL_COUNT; why++)
            sums->by_reason[why] += view.by_reason[why];
    }
}

static void explain_warps(const struct sums *sums, struct text *json)
{
    struct err sentence;
    int most = 0;
    for (int why = 0; why < STALL_COUNT; why++)
        most = sums->by_reason[why] > sums->by_reason[most] ? why : most;
    if (!sums->warps)
        return;
    if (most == STALL_not_selected || most == STALL_selected)
        err_set(&sentence, "Of %llu warps, %.0f%% can issue: that is the largest part.",
                (unsigned long long)sums->warps, 100.0 * (double)sums->by_reason[most] / (double)sums->warps);
    else
        err_set(&sentence, "Of %llu warps, %.0f%% are at %s: %s. That is the largest part.",
                (unsigned long long)sums->warps, 100.0 * (double)sums->by_reason[most] / (double)sums->warps,
                reason_help[most][0], reason_help[most][1]);
    add_sentence(json, &sentence);
}

static void explain_silence(const struct sums *sums, const struct machine_seen *seen, uint64_t cycle,
                            struct text *json)
{
    struct err sentence;
    uint64_t quiet = cycle - seen->cycle, silent = cycle - seen->issue_cycle;
    if (quiet < LONG_CYCLES)
        return;
    if (silent >= LONG_CYCLES)
        err_set(&sentence,
                "No instruction was issued for %llu cycles: everything waits, maybe for each other, or for "
                "memory that does not answer. %.800s",
                (unsigned long long)silent, sums->where.at ? sums->where.at : "");
    else
        err_set(
            &sentence,
            "No block has ended for %llu cycles, and warps go on issuing: either blocks are long, or they "
            "wait in a loop for something that does not come. %.800s",
            (unsigned long long)quiet, sums->where.at ? sums->where.at : "");
    add_sentence(json, &sentence);
}

static void look_again(struct machine_seen *seen, const struct sums *sums, uint64_t cycle)
{
    bool others = seen->tasks != sums->tasks;
    if (others || seen->ended != sums->ended || cycle < seen->cycle)
        seen->cycle = cycle;
    if (others || seen->instructions != sums->instructions || cycle < seen->issue_cycle)
        seen->issue_cycle = cycle;
    seen->tasks = sums->tasks;
    seen->ended = sums->ended;
    seen->instructions = sums->instructions;
}

void machine_explain(struct machine *base, struct machine_seen *seen, struct text *json)
{
    const struct local_machine *machine = machine_local(base);
    struct sums sums = {0};
    struct clock_domain clock;
    struct err sentence;
    clock_init(&clock, machine->system->gpu.clock);
    uint64_t cycle = clock_cycle(&clock, machine_shown_ps(machine));
    for (uint32_t gpu = 0; gpu < machine->gpu_count; gpu++) {
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++)
            add_kernel(&sums, json, machine, gpu, slot);
        add_sms(&sums, machine->gpus[gpu].gpu);
    }
    look_again(seen, &sums, cycle);
    if (sums.kernels) {
        explain_warps(&sums, json);
        explain_silence(&sums, seen, cycle, json);
    } else {
        err_set(&sentence, machine->waiting ? "No kernel runs; copies are under way or wait."
                                            : "Nothing runs on the GPUs: the program computes, or waits for "
                                              "something else.");
        add_sentence(json, &sentence);
    }
    text_fini(&sums.where);
}
