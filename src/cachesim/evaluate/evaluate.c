/* Traces, points, figures, files. */
#include "cachesim/evaluate/evaluate.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"

enum { ACCESSES = 500000, ACCESSES_QUICK = 200 };

/* ---- points ---- */

static bool same_key(const struct point_key *a, const struct point_key *b)
{
    return a->workload == b->workload && a->machine == b->machine && a->tiles == b->tiles &&
           a->l1_ways == b->l1_ways && a->quantum == b->quantum && a->accesses == b->accesses &&
           a->host == b->host && a->per_block == b->per_block;
}

const struct evaluate_point *evaluation_point(struct evaluation *e, const struct point_key *key)
{
    for (size_t i = 0; i < e->point_count; i++) {
        if (same_key(&e->points[i].key, key))
            return &e->points[i];
    }
    mem_grow(e->points, e->point_count, e->point_capacity);
    e->points[e->point_count] = (struct evaluate_point){.key = *key};
    return &e->points[e->point_count++];
}

/* ---- the machine ---- */

static char *cpu_name(void)
{
    struct text info = {0};
    struct err err;
    char *name = NULL;
    if (file_read("/proc/cpuinfo", 1 << 24, &info, &err)) {
        const char *at = strstr(info.at, "model name");
        at = at ? strchr(at, ':') : NULL;
        struct text line = {0};
        if (at)
            text_add(&line, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        name = at ? mem_text(text_trim(line.at)) : NULL;
        text_fini(&line);
    }
    text_fini(&info);
    return name ? name : mem_text("unknown");
}

/* One small machine is kept on the GPU: what is used all the time need not be set up again each time. */
static struct caches *find_gpu(struct evaluation *e, struct err *err)
{
    const struct caches_request *r = e->r;
    struct point_key key = {.tiles = 1, .accesses = 1, .host = EVALUATE_GPU};
    struct caches_spec spec = evaluate_point_spec(&key);
    if (e->no_gpu) {
        e->gpu = mem_text("--device says so");
        return NULL;
    }
    struct caches *caches = caches_cuda.make(&spec, &r->host, err);
    e->has_gpu = caches;
    e->gpu = mem_text(caches ? caches_cuda.device(caches) : err->text);
    if (!caches)
        err_add(err, "; --device %s measures without one", caches_devices->backend->name);
    return caches;
}

/* ---- files ---- */

static bool open_in(const struct evaluation *e, const char *name, const char *ending,
                    struct file_writer *writer, struct err *err)
{
    struct text path = {0};
    text_add(&path, "%s/%s%s", e->folder, name, ending);
    bool good = file_open(writer, path.at, err);
    text_fini(&path);
    return good;
}

static bool write_all(const struct evaluation *e, struct err *err)
{
    struct file_writer writer;
    for (size_t i = 0; i < e->sheet_count; i++) {
        if (!open_in(e, e->sheets[i].name, ".svg", &writer, err))
            return false;
        sheet_svg(&e->sheets[i], writer.stream);
        if (!file_close(&writer, err))
            return false;
    }
    if (!open_in(e, "evaluation", ".json", &writer, err))
        return false;
    evaluation_json(e, writer.stream);
    if (!file_close(&writer, err) || !open_in(e, "evaluation", ".md", &writer, err))
        return false;
    evaluation_markdown(e, writer.stream);
    return file_close(&writer, err);
}

/* ---- all ---- */

static bool measure(struct evaluation *e, struct err *err)
{
    double start = host_seconds();
    evaluation_figures(e); /* to know the points */
    evaluation_forget_figures(e);
    if (!evaluation_measure(e, err))
        return false;
    e->seconds = host_seconds() - start;
    size_t measured = e->point_count;
    evaluation_figures(e);
    if (e->point_count != measured)
        BUG("a figure asks for other points when it knows what came of them");
    return write_all(e, err);
}

bool evaluation_run(struct evaluation *e, struct err *err)
{
    if (!e->accesses)
        e->accesses = e->quick ? ACCESSES_QUICK : ACCESSES;
    e->cpu = cpu_name();
    e->cores = host_cores();
    struct caches *gpu = find_gpu(e, err);
    bool good = (e->has_gpu || !e->needs_gpu) && evaluation_record(e, err) && measure(e, err);
    if (gpu)
        caches_cuda.close(gpu);
    return good;
}

void evaluation_fini(struct evaluation *e)
{
    evaluation_forget_figures(e);
    mem_free(e->sheets);
    mem_free(e->points);
    mem_free(e->cpu);
    mem_free(e->gpu);
}
