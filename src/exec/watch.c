#include "exec/watch.h"
#include "exec/team.h"

enum { LINES = 64, SECTORS = WATCH_LINE / WATCH_SECTOR };

/* What an instruction touches, line by line, in the order of its lanes. */
struct touched {
    const struct request *request;
    void (*accessed)(void *user, uint64_t at, uint32_t bytes, bool writes);
    void *user;
    struct {
        uint64_t line;
        uint32_t sectors; /* a bit each */
    } lines[LINES];
    uint32_t count;
};

static void tell_line(const struct touched *touched, uint64_t line, uint32_t sectors)
{
    const struct request *request = touched->request;
    bool is_atomic = request->of.kind == REQUEST_ATOMIC;
    bool writes =
        request->of.kind == REQUEST_STORE || (request->of.kind == REQUEST_PIECES && request->writes);
    while (sectors) {
        uint32_t first = (uint32_t)__builtin_ctz(sectors);
        uint32_t count = (uint32_t)__builtin_ctz(~(sectors >> first));
        uint64_t at = line * WATCH_LINE + first * WATCH_SECTOR;
        touched->accessed(touched->user, at, count * WATCH_SECTOR, writes);
        if (is_atomic)
            touched->accessed(touched->user, at, count * WATCH_SECTOR, true);
        sectors &= ~(((UINT32_C(1) << count) - 1) << first);
    }
}

static void tell(struct touched *touched)
{
    for (uint32_t i = 0; i < touched->count; i++)
        tell_line(touched, touched->lines[i].line, touched->lines[i].sectors);
    touched->count = 0;
}

static void touch_line(struct touched *touched, uint64_t line, uint32_t sectors)
{
    for (uint32_t i = touched->count; i-- > 0;) { /* mostly the last */
        if (touched->lines[i].line == line) {
            touched->lines[i].sectors |= sectors;
            return;
        }
    }
    if (touched->count == LINES)
        tell(touched);
    touched->lines[touched->count].line = line;
    touched->lines[touched->count++].sectors = sectors;
}

static void touch(struct touched *touched, uint64_t at, uint64_t bytes)
{
    for (uint64_t sector = at / WATCH_SECTOR; sector <= (at + bytes - 1) / WATCH_SECTOR; sector++)
        touch_line(touched, sector / SECTORS, UINT32_C(1) << sector % SECTORS);
}

void watch_leave(struct team *team)
{
    struct watch *watch = team->grid.launch->watch;
    uint64_t now = team->worker->result.warp_instructions;
    if (watch)
        watch->instructions[team->worker->sm] += now - team->told;
    team->told = now;
}

void watch_sectors(const struct request *request,
                   void (*accessed)(void *user, uint64_t at, uint32_t bytes, bool writes), void *user)
{
    struct touched touched; /* most of it is never looked at */
    if (request->of.kind == REQUEST_NONE || request->of.kind == REQUEST_CONSTANT)
        return;
    touched.request = request;
    touched.accessed = accessed;
    touched.user = user;
    touched.count = 0;
    if (request->of.kind == REQUEST_PIECES) {
        for (size_t i = 0; i < request->piece_count; i++)
            if (request->pieces[i].at >= PIECE_AT_MOST)
                touch(&touched, request->pieces[i].at, request->pieces[i].bytes);
    } else {
        EACH_LANE (i, request->of.lanes & ~request->cluster)
            touch(&touched, request->of.at[i], request->of.bytes);
    }
    tell(&touched);
}

static void tell_watch(void *user, uint64_t at, uint32_t bytes, bool writes)
{
    const struct team *team = user;
    struct watch *watch = team->grid.launch->watch;
    watch->accessed(watch, team->worker->sm, at, bytes, writes);
}

void watch_request(struct team *team)
{
    const struct request *request = &team->request;
    if (!team->grid.launch->watch || request->of.kind == REQUEST_NONE || request->of.kind == REQUEST_CONSTANT)
        return;
    watch_leave(team);
    watch_sectors(request, tell_watch, team);
}
