/* A capture whose graph is a play: each command a step behind those that it comes after. */
#ifndef TESTS_UNIT_CAPTURE_CHECK_H
#define TESTS_UNIT_CAPTURE_CHECK_H

#include "driver/capture.h"
#include "driver/play.h"

static inline void *capture_step(void *graph, struct command *command, struct stream_event *event,
                                 struct device *device, const struct captured_list *after)
{
    struct action *action = command ? action_new(command) : NULL;
    struct play_edge before[8];
    uint32_t count = 0;
    for (; count < after->count; count++)
        before[count] = (struct play_edge){(uint32_t)(uintptr_t)after->at[count].node - 1, WAIT_FOR_END};
    uint32_t step = play_add(
        graph,
        &(struct play_step){
            .action = action, .awaited = event, .device = device, .after = before, .after_count = count});
    action_release(action);
    return (void *)(uintptr_t)(step + 1);
}

static inline bool capture_step_is_before(struct play *play, uint32_t step, uint32_t other)
{
    const struct play_step *what = play_step(play, other);
    if (step == other)
        return true;
    for (uint32_t i = 0; i < what->after_count; i++) {
        if (capture_step_is_before(play, step, what->after[i].step))
            return true;
    }
    return false;
}

static inline bool capture_covers(void *graph, const struct captured_list *ends,
                                  const struct captured_list *before)
{
    for (size_t i = 0; i < before->count; i++) {
        bool covered = false;
        for (size_t k = 0; k < ends->count; k++)
            covered |= capture_step_is_before(graph, (uint32_t)(uintptr_t)before->at[i].node - 1,
                                              (uint32_t)(uintptr_t)ends->at[k].node - 1);
        if (!covered)
            return false;
    }
    return true;
}

static inline int capture_into(struct stream *stream, struct play **play)
{
    *play = play_new();
    return capture_begin(stream, CAPTURE_GLOBAL, &(struct capture_owner){*play, capture_step, capture_covers},
                         NULL);
}

#endif
