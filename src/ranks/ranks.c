#include "ranks/ranks.h"
#include "ranks/transport.h"
#include "base/host.h"
#include "base/install.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unit.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rounds and letters have tags of their own, so that neither waits behind the other. */
enum { TAG_LETTER = 1, TAG_ROUND = 2, TAG_END = 3 };
enum { PIECE = 1 << 24, HOST_NAME = 64 };
static const double PATIENCE = 120; /* seconds */

/* What rounds were made of. */
struct ranks_traffic {
    uint64_t rounds, messages, bytes;
    double seconds; /* that it waited in them */
};

struct ranks {
    const struct ranks_transport *transport;
    uint32_t count, number;
    bool is_crowded; /* more ranks than cores are on this machine: who waits lends its core at once */
    double patience, delay;
    struct ranks_traffic traffic;
    bool is_lost; /* some rank, and why says how: nothing goes any more */
    struct err why;
    struct text *same;      /* of ranks_share: the same bytes for all */
    const struct text *out; /* of the round that is under way, which began at: */
    double begun;
    bool *missing; /* of a round: whose bytes have not come */
    int *sending;  /* likewise: numbers of what is being sent; -1 */
    char (*hosts)[HOST_NAME];
};

/* ---- before anything is started ---- */

static bool number_of(const char *variable, uint32_t *number)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || !*text)
        return false;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return !*end && value <= UINT32_MAX;
}

struct ranks_job ranks_job(void)
{
    static const char *const launchers[][2] = {
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, /* Open MPI */
        {"PMI_SIZE", "PMI_RANK"},                         /* MPICH, and srun --mpi=pmi2 */
        {"SLURM_STEP_NUM_TASKS", "PMIX_RANK"},            /* srun --mpi=pmix */
    };
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        struct ranks_job job;
        if (number_of(launchers[i][0], &job.count) && number_of(launchers[i][1], &job.number) &&
            job.number < job.count)
            return job;
    }
    return (struct ranks_job){.count = 1};
}

static bool is_of_launcher(const char *variable)
{
    static const char *const beginnings[] = {"OMPI_", "PMIX_", "PMI_", "ORTE_", "OPAL_", "HYDI_"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(variable, beginnings[i], strlen(beginnings[i])))
            return true;
    return false;
}

void ranks_forget_job(void)
{
    enum { NAME_MOST = 256 };
    for (char **at = environ; *at;) {
        size_t length = strcspn(*at, "=");
        char name[NAME_MOST];
        if (length >= NAME_MOST || !is_of_launcher(*at)) {
            at++;
            continue;
        }
        memcpy(name, *at, length);
        name[length] = 0;
        unsetenv(name); /* the next one takes its place */
    }
}

/* ---- joining ---- */

void ranks_add_transport(struct text *path)
{
    const char *known = getenv("HEDDLE_TRANSPORT");
    if (known && *known) {
        text_add(path, "%s", known);
        return;
    }
    if (getenv("PMI_FD") && !getenv("OMPI_COMM_WORLD_SIZE")) { /* MPICH's launcher */
        install_add_part(path, "ranks/libheddle_ranks_mpich.so");
        if (!access(path->at, R_OK))
            return;
        text_fini(path);
    }
    install_add_part(path, "ranks/libheddle_ranks.so");
}

static const struct ranks_transport *load_transport(struct err *err)
{
    struct text path = {0};
    ranks_transport_fn *find = NULL;
    ranks_add_transport(&path);
    bool is_there = path.at && !access(path.at, R_OK);
    void *library =
        is_there ? dlopen(path.at, RTLD_NOW | RTLD_GLOBAL) : NULL; /* MPI's own parts look for it */
    text_fini(&path);
    if (!is_there)
        err_set(err,
                "this heddle was built without MPI: install libopenmpi-dev and openmpi-bin, and build it "
                "again");
    else if (!library)
        err_set(err, "MPI cannot be loaded: %.300s", dlerror());
    if (!library)
        return NULL;
    *(void **)&find = dlsym(library, RANKS_TRANSPORT_NAME);
    const struct ranks_transport *transport = find ? find() : NULL;
    if (transport && transport->version == RANKS_TRANSPORT_VERSION)
        return transport;
    err_set(err, "libheddle_ranks.so is of another version of Heddle");
    return NULL;
}

/* Where the variable says nothing, *seconds stays. */
static bool read_seconds(const char *variable, double *seconds, struct err *err)
{
    const char *text = getenv(variable);
    struct err why;
    uint64_t ps;
    if (!text || !*text)
        return true;
    if (!unit_parse(UNIT_time, text, &ps, &why))
        return err_set(err, "%s: %s", variable, why.text);
    *seconds = (double)ps * 1e-12;
    return true;
}

/* Whose host is which; and whether all are of one build. */
static bool meet(struct ranks *ranks, struct err *err)
{
    struct text mine = {0}, *all = mem_alloc(ranks->count, sizeof *all);
    char host[HOST_NAME] = "";
    gethostname(host, sizeof host - 1);
    text_add_bytes(&mine, host, sizeof host);
    text_add(&mine, "%s, %zu-byte pointers", HEDDLE_VERSION, sizeof(void *));
    bool good = ranks_gather(ranks, &mine, all, true, err);
    uint32_t here = 0;
    for (uint32_t i = 0; i < ranks->count && good; i++) {
        memcpy(ranks->hosts[i], all[i].at, HOST_NAME);
        here += !strcmp(ranks->hosts[i], host);
        if (strcmp(all[i].at + HOST_NAME, all[0].at + HOST_NAME))
            good = err_set(err, "rank %u on %s runs Heddle %s, and rank 0 on %s Heddle %s", i,
                           ranks->hosts[i], all[i].at + HOST_NAME, ranks->hosts[0], all[0].at + HOST_NAME);
    }
    ranks->is_crowded = here > host_cores();
    for (uint32_t i = 0; i < ranks->count; i++)
        text_fini(&all[i]);
    mem_free(all);
    text_fini(&mine);
    return good;
}

struct ranks *ranks_start(struct err *err)
{
    double patience = PATIENCE, delay = 0;
    if (!read_seconds("HEDDLE_RANKS_PATIENCE", &patience, err) ||
        !read_seconds("HEDDLE_RANKS_DELAY", &delay, err))
        return NULL;
    const struct ranks_transport *transport = load_transport(err);
    if (!transport)
        return NULL;
    /* what MPI looks for on a host is not to be found in our libraries, which stand in for GPUs' */
    setenv("HWLOC_COMPONENTS", "-opencl,-cuda,-nvml,-rsmi,-levelzero,-gl", 0);
    struct ranks *ranks = mem_alloc(1, sizeof *ranks);
    ranks->transport = transport;
    ranks->is_crowded = true; /* until it is known */
    ranks->patience = patience;
    ranks->delay = delay;
    const char *why = transport->start(&ranks->number, &ranks->count);
    ranks->missing = mem_alloc(ranks->count, sizeof *ranks->missing);
    ranks->sending = mem_alloc(ranks->count, sizeof *ranks->sending);
    ranks->same = mem_alloc(ranks->count, sizeof *ranks->same);
    ranks->hosts = mem_alloc(ranks->count, sizeof *ranks->hosts);
    bool good = !why || err_set(err, "%s", why);
    good = good && (ranks->count <= RANKS_MOST ||
                    err_set(err, "%u ranks are too many: at most %d", ranks->count, RANKS_MOST));
    if (good && meet(ranks, err))
        return ranks;
    if (!why)
        ranks_end(ranks);
    return NULL;
}

void ranks_kill(struct ranks *ranks, int status)
{
    ranks->transport->kill(status);
}

uint32_t ranks_count(const struct ranks *ranks)
{
    return ranks ? ranks->count : 1;
}

uint32_t ranks_number(const struct ranks *ranks)
{
    return ranks ? ranks->number : 0;
}

const char *ranks_host(const struct ranks *ranks, uint32_t number)
{
    return ranks->hosts[number];
}

uint32_t ranks_first_of_host(const struct ranks *ranks, uint32_t number)
{
    uint32_t first = 0;
    while (strcmp(ranks->hosts[first], ranks->hosts[number]))
        first++;
    return first;
}

/* ---- waiting ---- */

/* Who waits for long sleeps, lest the cores of idle ranks be busy. */
struct waiting {
    double since, most; /* seconds; most below 0: for ever */
    uint32_t looks;
    bool is_crowded;
};

static struct waiting waiting(const struct ranks *ranks, double most)
{
    return (struct waiting){.since = host_seconds(), .most = most, .is_crowded = ranks->is_crowded};
}

/* A core may share its units with that of the rank that is waited for: looks become rarer and rarer. After
 * some 100 us, and where ranks share cores at once, others may run between looks. */
static void pause_after(const struct waiting *wait)
{
    enum { PAUSES_MOST = 64 }; /* some 3 us */
    for (uint32_t i = 0; i < wait->looks && i < PAUSES_MOST && !wait->is_crowded; i++)
        host_relax();
    if (wait->is_crowded || wait->looks > PAUSES_MOST)
        sched_yield();
}

/* False: it has waited long enough. */
static bool wait_on(struct waiting *wait)
{
    enum { SEEN = 256 };
    static const double AWAKE = 0.02, NAP_US = 200;
    pause_after(wait);
    if (++wait->looks % SEEN)
        return true;
    double waited = host_seconds() - wait->since;
    if (waited > AWAKE)
        usleep((useconds_t)NAP_US);
    return wait->most < 0 || waited < wait->most;
}

/* Seconds, for `waiting`. */
static double most_patience(const struct ranks *ranks)
{
    return ranks->patience > 0 ? ranks->patience : -1;
}

static bool give_up(struct ranks *ranks, struct err *err)
{
    if (!ranks->is_lost)
        ranks->why = *err;
    ranks->is_lost = true;
    *err = ranks->why;
    return false;
}

static bool lost(struct ranks *ranks, uint32_t number, struct err *err)
{
    err_set(err, "the link to rank %u on %s has failed", number, ranks->hosts[number]);
    return give_up(ranks, err);
}

static bool is_silent(struct ranks *ranks, uint32_t number, struct err *err)
{
    err_set(err, "rank %u on %s has not answered for %g s (HEDDLE_RANKS_PATIENCE)", number,
            ranks->hosts[number], ranks->patience);
    return give_up(ranks, err);
}

/* Until what was begun is done. */
static bool finish(struct ranks *ranks, int number, uint32_t other, struct err *err)
{
    struct waiting wait = waiting(ranks, -1);
    int done = number < 0 ? -1 : ranks->transport->done(number);
    for (; !done; done = ranks->transport->done(number))
        wait_on(&wait);
    return done > 0 || lost(ranks, other, err);
}

/* ---- letters: in pieces; one that is shorter than a whole piece is the last ---- */

static bool send_pieces(struct ranks *ranks, uint32_t to, int tag, const char *bytes, size_t count,
                        struct err *err)
{
    for (size_t at = 0, piece = PIECE; piece == PIECE; at += piece) {
        piece = count - at < PIECE ? count - at : PIECE;
        if (!finish(ranks, ranks->transport->send(to, tag, bytes + at, piece), to, err))
            return false;
    }
    return true;
}

static void make_room(struct text *text, size_t more)
{
    if (text->capacity < text->length + more + 1) {
        text->at = mem_resize(text->at, text->capacity, text->length + more + 1, 1);
        text->capacity = text->length + more + 1;
    }
}

/* What waits: its first piece is of `count` bytes. */
static bool receive_pieces(struct ranks *ranks, uint32_t from, int tag, size_t count, struct text *bytes,
                           struct err *err)
{
    bytes->length = 0;
    for (;;) {
        struct waiting wait = waiting(ranks, most_patience(ranks));
        make_room(bytes, count);
        if (!finish(ranks, ranks->transport->receive(from, tag, bytes->at + bytes->length, count), from, err))
            return false;
        bytes->length += count;
        bytes->at[bytes->length] = 0;
        if (count < PIECE)
            return true;
        for (int is_there = 0; is_there <= 0;) {
            uint32_t who;
            is_there = ranks->transport->waits((int)from, tag, &who, &count);
            if (is_there < 0 || (!is_there && !wait_on(&wait)))
                return lost(ranks, from, err);
        }
    }
}

bool ranks_send(struct ranks *ranks, uint32_t to, const void *bytes, size_t count, struct err *err)
{
    return !ranks->is_lost ? send_pieces(ranks, to, TAG_LETTER, bytes, count, err) : give_up(ranks, err);
}

static bool receive_letter(struct ranks *ranks, uint32_t from, int tag, double seconds, struct text *bytes,
                           uint32_t *who, struct err *err)
{
    struct waiting wait = waiting(ranks, seconds);
    int other = from == (uint32_t)RANKS_ANY ? TRANSPORT_ANY : (int)from;
    uint32_t sender = 0;
    size_t count;
    int is_there;
    if (ranks->is_lost)
        return give_up(ranks, err);
    err->text[0] = 0;
    while (!(is_there = ranks->transport->waits(other, tag, &sender, &count)))
        if (seconds == 0 || !wait_on(&wait))
            return false;
    if (is_there < 0)
        return lost(ranks, other == TRANSPORT_ANY ? 0 : from, err);
    if (who)
        *who = sender;
    return receive_pieces(ranks, sender, tag, count, bytes, err);
}

bool ranks_receive(struct ranks *ranks, uint32_t from, double seconds, struct text *bytes, uint32_t *who,
                   struct err *err)
{
    return receive_letter(ranks, from, TAG_LETTER, seconds, bytes, who, err);
}

static bool await_letter(struct ranks *ranks, uint32_t from, int tag, struct text *bytes, struct err *err)
{
    return receive_letter(ranks, from, tag, most_patience(ranks), bytes, NULL, err) ||
           (err->text[0] ? false : is_silent(ranks, from, err));
}

bool ranks_await(struct ranks *ranks, uint32_t from, struct text *bytes, struct err *err)
{
    return await_letter(ranks, from, TAG_LETTER, bytes, err);
}

bool ranks_broadcast(struct ranks *ranks, uint32_t from, struct text *bytes, struct err *err)
{
    if (ranks->number != from)
        return ranks_receive(ranks, from, -1, bytes, NULL, err);
    for (uint32_t to = 0; to < ranks->count; to++)
        if (to != from && !ranks_send(ranks, to, bytes->at ? bytes->at : "", bytes->length, err))
            return false;
    return true;
}

bool ranks_gather(struct ranks *ranks, const struct text *mine, struct text *all, bool everyone,
                  struct err *err)
{
    const char *bytes = mine->at ? mine->at : "";
    if (ranks->number && !ranks_send(ranks, 0, bytes, mine->length, err))
        return false;
    all[ranks->number].length = 0;
    text_add_bytes(&all[ranks->number], bytes, mine->length);
    for (uint32_t i = 1; i < ranks->count && !ranks->number; i++)
        if (!ranks_await(ranks, i, &all[i], err))
            return false;
    for (uint32_t i = 0; i < ranks->count && everyone; i++)
        if (!ranks_broadcast(ranks, 0, &all[i], err))
            return false;
    return true;
}

/* ---- rounds ---- */

bool ranks_begin_round(struct ranks *ranks, const struct text *out, struct err *err)
{
    if (ranks->is_lost)
        return give_up(ranks, err);
    ranks->out = out;
    ranks->begun = host_seconds();
    for (uint32_t i = 0; i < ranks->count; i++) {
        ranks->missing[i] = i != ranks->number;
        ranks->sending[i] = -1;
        if (i == ranks->number)
            continue;
        size_t first = out[i].length < PIECE ? out[i].length : PIECE;
        ranks->sending[i] = ranks->transport->send(i, TAG_ROUND, out[i].at ? out[i].at : "", first);
        if (ranks->sending[i] < 0)
            return lost(ranks, i, err);
        ranks->traffic.messages++;
        ranks->traffic.bytes += out[i].length;
    }
    return true;
}

void ranks_push_on(struct ranks *ranks)
{
    uint32_t who;
    size_t count;
    if (!ranks->is_lost) /* whatever it is asked, MPI works on what is under way */
        ranks->transport->waits(TRANSPORT_ANY, TAG_LETTER, &who, &count);
}

/* What is longer than a piece goes on when the first has gone. 1: all has gone; 0: not yet. */
static int sent(struct ranks *ranks, uint32_t to, struct err *err)
{
    const struct text *out = &ranks->out[to];
    int done = ranks->sending[to] < 0 ? 1 : ranks->transport->done(ranks->sending[to]);
    if (done <= 0 || ranks->sending[to] < 0)
        return done;
    ranks->sending[to] = -1;
    if (out->length >= PIECE && !send_pieces(ranks, to, TAG_ROUND, out->at + PIECE, out->length - PIECE, err))
        return -1;
    return 1;
}

/* 1: what it sent is here; 0: not yet. */
static int came(struct ranks *ranks, uint32_t from, struct text *in, struct err *err)
{
    uint32_t who;
    size_t count;
    if (!ranks->missing[from])
        return 1;
    int is_there = ranks->transport->waits((int)from, TAG_ROUND, &who, &count);
    if (is_there > 0 && !receive_pieces(ranks, from, TAG_ROUND, count, in, err))
        return -1;
    ranks->missing[from] = is_there <= 0;
    return is_there;
}

/* Others may wait for the rest of what is longer than a piece. */
static bool send_on(struct ranks *ranks, struct err *err)
{
    for (uint32_t i = 0; i < ranks->count; i++)
        if (ranks->out[i].length >= PIECE && sent(ranks, i, err) < 0)
            return lost(ranks, i, err);
    return true;
}

static bool say_missing(struct ranks *ranks, struct err *err)
{
    uint32_t number = 0;
    while (number < ranks->count && !ranks->missing[number] && ranks->sending[number] < 0)
        number++;
    return is_silent(ranks, number, err);
}

/* As if messages had taken longer. */
static void hold_up(const struct ranks *ranks)
{
    for (double until = ranks->begun + ranks->delay; ranks->delay > 0 && host_seconds() < until;)
        sched_yield();
}

/* It looks for one after another: whatever it looks for, MPI works on all. */
bool ranks_end_round(struct ranks *ranks, struct text *in, struct err *err)
{
    double begun = host_seconds();
    struct waiting wait = waiting(ranks, most_patience(ranks));
    if (ranks->is_lost)
        return give_up(ranks, err);
    for (uint32_t step = 0; step < 2 * ranks->count;) {
        uint32_t i = step % ranks->count;
        int done = step < ranks->count ? came(ranks, i, &in[i], err) : sent(ranks, i, err);
        if (done < 0)
            return lost(ranks, i, err);
        if (done) {
            step++;
            wait.looks = 0;
        } else if (!send_on(ranks, err)) {
            return false;
        } else if (!wait_on(&wait)) {
            return say_missing(ranks, err);
        }
    }
    hold_up(ranks);
    ranks->traffic.rounds++;
    ranks->traffic.seconds += host_seconds() - begun;
    return true;
}

bool ranks_round(struct ranks *ranks, const struct text *out, struct text *in, struct err *err)
{
    return ranks_begin_round(ranks, out, err) && ranks_end_round(ranks, in, err);
}

bool ranks_share(struct ranks *ranks, const struct text *mine, struct text *all, struct err *err)
{
    for (uint32_t i = 0; i < ranks->count; i++)
        ranks->same[i] = *mine;
    all[ranks->number].length = 0;
    text_add_bytes(&all[ranks->number], mine->at ? mine->at : "", mine->length);
    return ranks_round(ranks, ranks->same, all, err);
}

static void combine(struct ranks *ranks, uint64_t *numbers, size_t count, bool add)
{
    struct text mine = {.at = (char *)numbers, .length = count * sizeof *numbers};
    struct err unused;
    if (ranks_count(ranks) == 1)
        return;
    struct text *all = mem_alloc(ranks->count, sizeof *all);
    bool good = ranks_share(ranks, &mine, all, &unused);
    for (uint32_t i = 0; i < ranks->count; i++) {
        const uint64_t *other = (const uint64_t *)(const void *)all[i].at;
        bool counts = good && i != ranks->number && all[i].length == mine.length;
        for (size_t k = 0; k < count && counts; k++)
            numbers[k] = add ? numbers[k] + other[k] : other[k] > numbers[k] ? other[k] : numbers[k];
        text_fini(&all[i]);
    }
    mem_free(all);
}

void ranks_add(struct ranks *ranks, uint64_t *numbers, size_t count)
{
    combine(ranks, numbers, count, true);
}

void ranks_most(struct ranks *ranks, uint64_t *numbers, size_t count)
{
    combine(ranks, numbers, count, false);
}

/* ---- the end ---- */

/* MPI's own end waits for all ranks, and for ever. False: some rank does not come to it. */
static bool all_come_to_end(struct ranks *ranks, struct err *err)
{
    struct text none = {0};
    bool good = !ranks->number || send_pieces(ranks, 0, TAG_END, "", 0, err);
    for (uint32_t i = 1; i < ranks->count && !ranks->number && good; i++)
        good = await_letter(ranks, i, TAG_END, &none, err);
    text_fini(&none);
    return good;
}

void ranks_end(struct ranks *ranks)
{
    struct err err;
    if (!ranks)
        return;
    if (!ranks->is_lost && !all_come_to_end(ranks, &err)) {
        log_error("%s", err.text);
        ranks_kill(ranks, EXIT_FAILURE);
    }
    const struct ranks_traffic *traffic = &ranks->traffic;
    log_info("rank %u: %llu rounds, %llu messages, %llu bytes, %.3f s in rounds", ranks->number,
             (unsigned long long)traffic->rounds, (unsigned long long)traffic->messages,
             (unsigned long long)traffic->bytes, traffic->seconds);
    ranks->transport->end();
    mem_free(ranks->missing);
    mem_free(ranks->sending);
    mem_free(ranks->same);
    mem_free(ranks->hosts);
    mem_free(ranks);
}
