/* Hooks see what happens, and may alter, delay or drop it. */
#include "pair.h"

struct seen {
    int calls;
    uint64_t times[16];
};

static void note(struct hook *hook, struct hook_context *context)
{
    struct seen *seen = hook->user;
    seen->times[seen->calls++ % 16] = context->time;
}

static void change_payload(struct hook *hook, struct hook_context *context)
{
    (void)hook;
    uint64_t value = 42;
    memcpy(context->event->payload, &value, sizeof value);
    context->event->kind = 7;
}

static void add_delay(struct hook *hook, struct hook_context *context)
{
    context->delay += *(uint64_t *)hook->user;
}

static void drop_every_second(struct hook *hook, struct hook_context *context)
{
    int *count = hook->user;
    context->drop = (*count)++ % 2 == 1;
}

static void every_point_is_seen(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_send(&pair, 50, 8);
    pair_init(&pair, &(struct link_spec){.latency_ps = 100, .credits = 1});
    struct seen handled = {0}, sent = {0}, crossed = {0}, arrived = {0};
    struct hook handle = {.call = note, .points = HOOK_HANDLE, .user = &handled};
    struct hook send = {.call = note, .points = HOOK_SEND, .user = &sent};
    struct hook cross = {.call = note, .points = HOOK_CROSS, .user = &crossed};
    struct hook arrive = {.call = note, .points = HOOK_ARRIVE, .user = &arrived};
    component_hook(pair.receiver, &handle);
    port_hook(component_port(pair.sender, 0), &send);
    link_hook(pair.link, &cross);
    port_hook(component_port(pair.receiver, 0), &arrive);
    pair_run(&pair);
    assert_int_equal(handled.calls, 1);
    assert_int_equal(handled.times[0], 150);
    assert_int_equal(sent.calls, 1);
    assert_int_equal(sent.times[0], 50);
    assert_int_equal(crossed.calls, 1);
    assert_int_equal(arrived.times[0], 150);
    engine_free(pair.engine);
}

static void messages_can_be_altered_and_delayed(void **state)
{
    (void)state;
    struct pair pair = {0};
    uint64_t more = 33;
    pair_send(&pair, 0, 8);
    pair_init(&pair, &(struct link_spec){.latency_ps = 100});
    struct hook alter = {.call = change_payload, .points = HOOK_SEND};
    struct hook delay = {.call = add_delay, .points = HOOK_CROSS, .user = &more};
    port_hook(component_port(pair.sender, 0), &alter);
    link_hook(pair.link, &delay);
    const struct receiver *receiver = pair_run(&pair);
    assert_int_equal(receiver->values[0], 42);
    assert_int_equal(receiver->kinds[0], 7);
    assert_int_equal(receiver->times[0], 133);
    engine_free(pair.engine);
}

/* Lost on the way or at the door, a message gives its credit back only in the second case. */
static void messages_can_be_dropped(void **state)
{
    (void)state;
    for (int at_the_door = 0; at_the_door < 2; at_the_door++) {
        struct pair pair = {0};
        int count = 0;
        for (int i = 0; i < 6; i++)
            pair_send(&pair, (uint64_t)i * 1000, 8);
        pair_init(&pair, &(struct link_spec){.latency_ps = 100, .credits = at_the_door ? 1 : 0});
        struct hook drop = {
            .call = drop_every_second, .points = at_the_door ? HOOK_ARRIVE : HOOK_CROSS, .user = &count};
        if (at_the_door)
            port_hook(component_port(pair.receiver, 0), &drop);
        else
            link_hook(pair.link, &drop);
        const struct receiver *receiver = pair_run(&pair);
        assert_int_equal(count, 6);
        assert_int_equal(receiver->count, 3);
        assert_int_equal(receiver->values[2], 4);
        engine_free(pair.engine);
    }
}

static void hooks_are_called_in_the_order_of_attaching(void **state)
{
    (void)state;
    struct pair pair = {0};
    int first_count = 0, second_count = 0;
    for (int i = 0; i < 4; i++)
        pair_send(&pair, (uint64_t)i * 1000, 8);
    pair_init(&pair, &(struct link_spec){.latency_ps = 100});
    struct hook first = {.call = drop_every_second, .points = HOOK_SEND, .user = &first_count};
    struct hook second = {.call = drop_every_second, .points = HOOK_SEND, .user = &second_count};
    port_hook(component_port(pair.sender, 0), &first);
    port_hook(component_port(pair.sender, 0), &second);
    const struct receiver *receiver = pair_run(&pair);
    assert_int_equal(first_count, 4);
    assert_int_equal(second_count, 2); /* it does not see what the first one drops */
    assert_int_equal(receiver->count, 1);
    engine_free(pair.engine);
}

static void check_context(struct hook *hook, struct hook_context *context)
{
    int *credits = hook->user;
    if (context->point == HOOK_SEND || context->point == HOOK_CROSS)
        assert_int_equal(context->to, 1);
    if (context->point == HOOK_HANDLE && context->what == EVENT_WAKE)
        assert_null(context->event);
    *credits += context->point == HOOK_HANDLE && context->what == EVENT_CREDIT;
}

static void a_hook_knows_what_it_sees_and_where_it_goes(void **state)
{
    (void)state;
    struct pair pair = {0};
    int credits = 0;
    for (int i = 0; i < 3; i++)
        pair_send(&pair, (uint64_t)i, 8);
    pair_init(&pair, &(struct link_spec){.latency_ps = 100, .credits = 1});
    struct hook handle = {.call = check_context, .points = HOOK_HANDLE, .user = &credits};
    struct hook send = {.call = check_context, .points = HOOK_SEND, .user = &credits};
    struct hook cross = {.call = check_context, .points = HOOK_CROSS, .user = &credits};
    component_hook(pair.sender, &handle);
    port_hook(component_port(pair.sender, 0), &send);
    link_hook(pair.link, &cross);
    pair_run(&pair);
    assert_int_equal(credits, 3);
    engine_free(pair.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_is_seen),
        cmocka_unit_test(messages_can_be_altered_and_delayed),
        cmocka_unit_test(messages_can_be_dropped),
        cmocka_unit_test(hooks_are_called_in_the_order_of_attaching),
        cmocka_unit_test(a_hook_knows_what_it_sees_and_where_it_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
