/* What an SM reports to listeners (base/probe.h). */
#include "core/l1.h"

#include <string.h>

void tell_block(const struct sm *sm, const struct sm_block *block, enum probe_phase phase)
{
    if (probe_wants(sm->config.probe, PROBE_BLOCK))
        probe_tell(sm->config.probe,
                   (struct probe_event){.kind = PROBE_BLOCK,
                                        .phase = phase,
                                        .time_ps = sm_time(sm, sm->cycle),
                                        .id = block->number,
                                        .gpu = sm->config.home,
                                        .place = sm->number,
                                        .stop = "sm",
                                        .what = block->kernel->team->grid.kernel->facts.name});
}

/* Of a message, which begins with a struct memsys_request or memsys_reply: both have the line and the id. */
void tell_request(const struct sm *sm, enum probe_phase phase, const char *what, uint64_t cycle,
                  const void *message, uint32_t bytes)
{
    struct memsys_request request;
    memcpy(&request, message, sizeof request.line + sizeof request.id);
    bool carries = phase == PROBE_BEGINS && bytes > sizeof request;
    probe_tell(
        sm->config.probe,
        (struct probe_event){.kind = PROBE_REQUEST,
                             .phase = phase,
                             .time_ps = sm_time(sm, cycle),
                             .id = probe_request_id(sm->config.home, sm->number, request.id),
                             .gpu = sm->config.home,
                             .place = sm->number,
                             .stop = "sm",
                             .what = what,
                             .address = request.line,
                             .data = carries ? (unsigned char *)(uintptr_t)message + sizeof request : NULL,
                             .data_bytes = carries ? bytes - (uint32_t)sizeof request : 0});
}

void tell_hit(const struct sm *sm, uint32_t id, uint64_t line, uint64_t cycle)
{
    struct probe_event event = {.kind = PROBE_REQUEST,
                                .time_ps = sm_time(sm, cycle),
                                .id = probe_request_id(sm->config.home, sm->number, id),
                                .gpu = sm->config.home,
                                .place = sm->number,
                                .stop = "l1",
                                .what = "hit",
                                .address = line};
    probe_tell(sm->config.probe, event);
    event.phase = PROBE_ENDS;
    event.time_ps = sm_time(sm, cycle + sm->config.spec->l1_latency);
    probe_tell(sm->config.probe, event);
}

void tell_translation(const struct sm *sm, enum probe_phase phase, uint64_t page)
{
    if (probe_wants(sm->config.probe, PROBE_TRANSLATION))
        probe_tell(sm->config.probe, (struct probe_event){.kind = PROBE_TRANSLATION,
                                                          .phase = phase,
                                                          .time_ps = component_now(sm->component),
                                                          .id = page,
                                                          .gpu = sm->config.home,
                                                          .place = sm->number,
                                                          .stop = "sm"});
}
