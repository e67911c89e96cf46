/* The host's memory, asked by a client of its own: an atomic operation changes its operand alone. And what
 * neither it nor an SM knows is refused by its name. */
#include "stderr.h"
#include "base/mem.h"
#include "base/probe.h"
#include "core/l1.h"
#include "mem/hostmem.h"

#include <signal.h>
#include <sys/wait.h>

enum { OPERAND = 8, BYTES = 4, REGION = 4096 };

static unsigned char memory[REGION];

/* Meanwhile, threads of the host write all around. */
static uint64_t add_while_others_write(uint8_t operation, void *at, uint64_t operand, uint64_t compare)
{
    uint32_t old, sum;
    (void)operation, (void)compare;
    memcpy(&old, at, BYTES);
    sum = old + (uint32_t)operand;
    memcpy(at, &sum, BYTES);
    memset(memory, 0xcc, OPERAND);
    memset(memory + OPERAND + BYTES, 0xcc, REGION - OPERAND - BYTES);
    return old;
}

/* Sends one request of this kind, with an atomic operation behind it. */
static void client_start(struct component *self, void *state)
{
    const uint8_t *kind = component_spec(self);
    struct {
        struct memsys_request request;
        struct memsys_atom atom;
        uint64_t origin;
    } message = {.request = {.line = physical_at(HOME_HOST, 0).packed, .sectors = 1, .count = 1},
                 .atom = {.operand = 5, .offset = OPERAND, .bytes = BYTES}};
    (void)state;
    assert_true(port_send(component_port(self, 0), 0, 0, *kind, &message, sizeof message));
}

static void client_arrive(struct component *self, void *state, struct port *port)
{
    (void)self;
    ++*(uint64_t *)state;
    port_pop(port);
}

/* Gives the number of replies. */
static uint64_t ask_host(uint8_t kind)
{
    static const struct component_ops ops = {
        .type = "client", .start = client_start, .arrive = client_arrive};
    struct err err;
    struct engine *engine = engine_new(&(struct engine_spec){.payload_bytes = MEM_PAYLOAD_MOST});
    struct hostmem *host = hostmem_new(engine, 1, false, add_while_others_write, NULL);
    struct link *link = engine_link(engine, "link", &(struct link_spec){.latency_ps = 1000});
    struct component *client = engine_component(engine, engine_island(engine, "client"), "client", &ops,
                                                &kind, sizeof(uint64_t), "host");
    assert_true(link_plug(link, hostmem_port(host, 0), &err));
    assert_true(link_plug(link, component_port(client, 0), &err));
    hostmem_set(host, &(struct home_range){.bytes = REGION, .host = (char *)memory}, 1);
    assert_true(engine_ready(engine, &err));
    assert_int_equal(engine_run(engine, &(struct engine_run){.until = TIME_NEVER}, &err), ENGINE_FINISHED);
    uint64_t replies = *(const uint64_t *)component_state(client);
    engine_free(engine);
    hostmem_free(host);
    return replies;
}

static void an_atomic_writes_its_operand_alone(void **state)
{
    (void)state;
    uint32_t counter = 37;
    memcpy(memory + OPERAND, &counter, BYTES);
    assert_int_equal(ask_host(MEM_ATOMIC), 1);
    memcpy(&counter, memory + OPERAND, BYTES);
    assert_int_equal(counter, 42);
    for (uint32_t i = 0; i < REGION; i++)
        assert_true((i >= OPERAND && i < OPERAND + BYTES) || memory[i] == 0xcc);
}

static void ask_host_to_invalidate(void)
{
    ask_host(MEM_INVALIDATE);
}

static void ask_host_for_nothing_known(void)
{
    ask_host(MEM_KIND_COUNT);
}

static void send_sm_a_fetch(void)
{
    struct sm *sm = mem_alloc(1, sizeof *sm);
    struct event *event = mem_alloc(1, sizeof *event + sizeof(struct memsys_reply));
    sm->config.probe = &probe_of_nobody;
    event->kind = MEM_FETCH;
    event->bytes = sizeof(struct memsys_reply);
    l1_reply(sm, event);
}

static void unknown_kinds_are_bugs(void **state)
{
    static const struct {
        void (*does)(void);
        const char *says;
    } rows[] = {{ask_host_to_invalidate, "the host's memory was asked to do \"invalidate\""},
                {ask_host_for_nothing_known, "the host's memory was asked to do \"?\""},
                {send_sm_a_fetch, "an SM was sent \"fetch\""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct caught caught;
        int status;
        catch_stderr(&caught);
        pid_t child = fork();
        if (!child) {
            signal(SIGABRT, SIG_DFL); /* cmocka would take it */
            rows[i].does();
            _exit(0);
        }
        waitpid(child, &status, 0);
        release_stderr(&caught);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        if (!strstr(caught.text, rows[i].says))
            fail_msg("it says\n  %s\nand not\n  %s", caught.text, rows[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_atomic_writes_its_operand_alone),
                                       cmocka_unit_test(unknown_kinds_are_bugs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
