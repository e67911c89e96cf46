#include "cli/rank_hosts.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/unit.h"
#include "cli/cli.h"
#include "ranks/ranks.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the file ---- */

static bool expected(const struct rank_hosts *hosts, unsigned line, const char *text, struct err *err)
{
    return err_set(err, "%.200s:%u: expected NAME or NAME slots=N, not '%.80s'", hosts->path, line, text);
}

/* No name begins with a dash: it would be an option of the shell that it is given to. */
static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || (length && strchr("-._", text[length]) && text[length]))
        length++;
    return length;
}

static bool read_line(struct rank_hosts *hosts, char *text, unsigned line, struct err *err)
{
    text[strcspn(text, "#")] = 0;
    char *at = text_trim(text), *rest, *end;
    size_t length = name_length(at);
    unsigned long slots = 1;
    if (!*at)
        return true;
    if (!length || (at[length] && at[length] != ':' && !isspace((unsigned char)at[length])))
        return expected(hosts, line, at, err);
    rest = at[length] == ':' ? at + length + 1 : text_trim(at + length);
    if (at[length] != ':' && !strncmp(rest, "slots=", 6))
        rest += 6;
    else if (at[length] != ':' && *rest)
        return expected(hosts, line, at, err);
    if (at[length]) {
        slots = strtoul(rest, &end, 10);
        if (!isdigit((unsigned char)*rest) || *end || !slots || slots > RANKS_MOST)
            return expected(hosts, line, at, err);
    }
    mem_grow(hosts->list, hosts->count, hosts->capacity);
    hosts->list[hosts->count] = (struct rank_host){.slots = (uint32_t)slots, .line = line};
    at[length] = 0;
    hosts->list[hosts->count++].name = mem_text(at);
    return hosts->count <= RANKS_MOST ||
           err_set(err, "%.200s:%u: more than %d machines", hosts->path, line, RANKS_MOST);
}

bool rank_hosts_read(struct rank_hosts *hosts, const char *path, struct err *err)
{
    enum { MOST = 1 << 20 };
    struct text content = {0};
    unsigned line = 0;
    *hosts = (struct rank_hosts){.path = path};
    bool good = file_read(path, MOST, &content, err);
    if (good && strlen(content.at ? content.at : "") != content.length)
        good = err_set(err, "%.200s: it is no text", path);
    for (char *at = content.at, *next; good && at && *at; at = next) {
        next = at + strcspn(at, "\n");
        if (*next)
            *next++ = 0;
        good = read_line(hosts, at, ++line, err);
    }
    text_fini(&content);
    return good && (hosts->count || err_set(err, "%.200s: it names no machine", path));
}

void rank_hosts_fini(struct rank_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        mem_free(hosts->list[i].name);
    mem_free(hosts->list);
    *hosts = (struct rank_hosts){0};
}

void rank_hosts_add(const struct rank_hosts *hosts, struct text *list)
{
    for (size_t i = 0; i < hosts->count; i++)
        text_add(list, "%s%s:%u", i ? "," : "", hosts->list[i].name, hosts->list[i].slots);
}

/* ---- names ---- */

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    if (!a || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return !memcmp(&((const struct sockaddr_in *)(const void *)a)->sin_addr,
                       &((const struct sockaddr_in *)(const void *)b)->sin_addr, sizeof(struct in_addr));
    return a->sa_family == AF_INET6 &&
           !memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                   &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr, sizeof(struct in6_addr));
}

static bool is_own(const struct addrinfo *found, const struct ifaddrs *own)
{
    for (; found; found = found->ai_next)
        for (const struct ifaddrs *at = own; at; at = at->ifa_next)
            if (same_address(at->ifa_addr, found->ai_addr))
                return true;
    return false;
}

static bool look_up(const struct rank_hosts *hosts, const char *self_name, struct err *err)
{
    struct ifaddrs *own = NULL;
    bool good = true;
    if (getifaddrs(&own))
        own = NULL;
    for (struct rank_host *host = hosts->list; host < hosts->list + hosts->count && good; host++) {
        struct addrinfo *found = NULL;
        host->is_here = !strcmp(host->name, self_name);
        if (host->is_here)
            continue;
        int why = getaddrinfo(host->name, NULL, &(struct addrinfo){.ai_socktype = SOCK_STREAM}, &found);
        if (why)
            good = err_set(err, "%.200s:%u: unknown machine %s: %s", hosts->path, host->line, host->name,
                           gai_strerror(why));
        host->is_here = good && is_own(found, own);
        if (found)
            freeaddrinfo(found);
    }
    if (own)
        freeifaddrs(own);
    return good;
}

static bool put_this_first(struct rank_hosts *hosts, const char *self_name, struct err *err)
{
    size_t here = 0;
    while (here < hosts->count && !hosts->list[here].is_here)
        here++;
    if (here == hosts->count)
        return err_set(err, "%.200s: this machine (%s) is not among them, and it has rank 0", hosts->path,
                       self_name);
    struct rank_host own = hosts->list[here];
    memmove(hosts->list + 1, hosts->list, here * sizeof *hosts->list);
    hosts->list[0] = own;
    return true;
}

/* ---- questions: a process for each other machine, all at a time ---- */

struct question {
    pid_t process; /* 0: none is asked; it has a group of its own */
    int from;      /* what it prints; -1: it has ended */
    int status;    /* as waitpid gives it */
    struct text answer;
};

static const double PATIENCE_S = 30;

/* In the child. The shell's words are those of a launcher: `ssh`, `ssh -p 2222`. */
static _Noreturn void become_shell(const char *shell, const char *host, const char *command, int to)
{
    enum { WORDS = 32 };
    const char *words[WORDS + 8];
    char *text = mem_text(shell), *save = NULL;
    size_t count = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    for (char *word = strtok_r(text, " ", &save); word && count < WORDS; word = strtok_r(NULL, " ", &save))
        words[count++] = word;
    if (count && !strcmp(words[0], "ssh")) { /* nobody is there to be asked for a password */
        words[count++] = "-oBatchMode=yes";
        words[count++] = "-oConnectTimeout=10";
    }
    words[count++] = host;
    words[count++] = command;
    words[count] = NULL;
    execvp(words[0], (char **)(uintptr_t)words);
    dprintf(STDERR_FILENO, "cannot start %s: %s", words[0], strerror(errno));
    _exit(EXIT_SIGNAL - 1);
}

static void begin_question(struct question *question, const char *shell, const char *host,
                           const char *command)
{
    int ends[2];
    question->from = -1;
    if (pipe2(ends, O_CLOEXEC))
        return;
    question->process = fork();
    if (!question->process)
        become_shell(shell, host, command, ends[1]);
    close(ends[1]);
    if (question->process < 0) {
        close(ends[0]);
        return;
    }
    setpgid(question->process, question->process); /* as it does itself, whoever comes first */
    question->from = ends[0];
}

static void take_answer(struct question *question)
{
    char some[4096];
    ssize_t count = read(question->from, some, sizeof some);
    if (count > 0 && question->answer.length < sizeof some)
        text_add_bytes(&question->answer, some, (size_t)count);
    if (count > 0 || (count < 0 && errno == EINTR))
        return;
    close(question->from);
    question->from = -1;
}

/* Until all have answered, or have had their time. */
static void wait_for_answers(struct question *questions, size_t count, double until)
{
    struct pollfd *files = mem_alloc(count + 1, sizeof *files);
    for (;;) {
        size_t open = 0;
        for (size_t i = 0; i < count; i++) {
            files[i] = (struct pollfd){.fd = questions[i].from, .events = POLLIN};
            open += questions[i].from >= 0;
        }
        double left = until - host_seconds();
        if (!open || left <= 0 || interrupted)
            break;
        poll(files, count, (int)(left * 1000) + 1);
        for (size_t i = 0; i < count; i++)
            if (questions[i].from >= 0 && files[i].revents)
                take_answer(&questions[i]);
    }
    mem_free(files);
}

/* The last line of what was printed, which says why ssh failed. */
static const char *last_line(struct text *answer)
{
    char *text = answer->at ? text_trim(answer->at) : NULL;
    char *line = text ? strrchr(text, '\n') : NULL;
    return line ? line + 1 : text ? text : "";
}

/* What does not end by itself is ended, with all that it has started. */
static void end_question(struct question *question)
{
    enum { TRIES = 100, TRY_US = 10000 };
    pid_t ended = 0;
    for (int i = 0; i < TRIES && question->from < 0 && !ended; i++) {
        ended = waitpid(question->process, &question->status, WNOHANG);
        if (!ended)
            usleep(TRY_US);
    }
    if (ended)
        return;
    kill(-question->process, SIGKILL);
    waitpid(question->process, &question->status, 0);
}

static bool judge(const struct rank_hosts *hosts, const struct rank_host *host, struct question *question,
                  const char *self, double patience, struct err *err)
{
    static const char version[] = "heddle " HEDDLE_VERSION;
    bool is_late = question->from >= 0;
    int code = WIFEXITED(question->status) ? WEXITSTATUS(question->status) : EXIT_SIGNAL;
    const char *line = last_line(&question->answer);
    err_set(err, "%.200s:%u: machine %s ", hosts->path, host->line, host->name);
    if (interrupted)
        err_set(err, "interrupted while machines were asked");
    else if (question->process <= 0)
        err_add(err, "cannot be asked: %s", strerror(EAGAIN));
    else if (is_late)
        err_add(err, "has not answered for %g s", patience);
    else if (!code && !strcmp(line, version))
        return true;
    else if (!code)
        err_add(err, "has another heddle: '%.80s', and this one is '%s'", line, version);
    else if (code == EXIT_SIGNAL - 2 || (code == EXIT_SIGNAL - 1 && strncmp(line, "cannot start", 12) != 0))
        err_add(err, "has no %s that it can run", self);
    else
        err_add(err, "cannot be reached: %.200s", *line ? line : "the remote shell has failed");
    return false;
}

/* How long each may take: HEDDLE_RANKS_PATIENCE, if that is less than usual. */
static double patience_s(void)
{
    const char *text = getenv("HEDDLE_RANKS_PATIENCE");
    struct err unused;
    uint64_t ps;
    bool is_told = text && unit_parse(UNIT_time, text, &ps, &unused) && ps;
    return is_told && (double)ps * 1e-12 < PATIENCE_S ? (double)ps * 1e-12 : PATIENCE_S;
}

static bool ask_others(const struct rank_hosts *hosts, const char *self, const char *shell, struct err *err)
{
    struct question *questions = mem_alloc(hosts->count + 1, sizeof *questions);
    struct text command = {0};
    double patience = patience_s();
    bool good = true;
    text_add(&command, "'%s' --version", self);
    for (size_t i = 0; i < hosts->count; i++) {
        questions[i].from = -1;
        if (!hosts->list[i].is_here)
            begin_question(&questions[i], shell, hosts->list[i].name, command.at);
    }
    wait_for_answers(questions, hosts->count, host_seconds() + patience);
    for (size_t i = 0; i < hosts->count; i++) {
        struct question *question = &questions[i];
        if (question->process > 0)
            end_question(question);
        if (good && !hosts->list[i].is_here)
            good = judge(hosts, &hosts->list[i], question, self, patience, err);
        if (question->from >= 0)
            close(question->from);
        text_fini(&question->answer);
    }
    text_fini(&command);
    mem_free(questions);
    return good;
}

bool rank_hosts_check(struct rank_hosts *hosts, const char *self, const char *shell, struct err *err)
{
    char self_name[256] = "";
    gethostname(self_name, sizeof self_name - 1);
    return look_up(hosts, self_name, err) && put_this_first(hosts, self_name, err) &&
           ask_others(hosts, self, shell, err);
}
