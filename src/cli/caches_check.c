#include "cli/caches_check.h"
#include "base/file.h"
#include "cachesim/evaluate/evaluate.h"
#include "report/svg.h"
#include "trace/source.h"

#include <string.h>

static bool makes_sense(const struct caches_asked *asked, struct err *err)
{
    const struct caches_request *r = &asked->request;
    if (!r->trace_count && !r->generate)
        return err_set(err, "caches: expected traces, or --generate (see `heddle help caches`)");
    if (r->trace_count && r->generate)
        return err_set(err, "--generate %.80s: there is a trace, too: %.200s", r->generate, r->traces[0]);
    if (r->generate && !r->accesses)
        return err_set(err, "--generate needs --accesses N");
    if (r->generate && r->offset)
        return err_set(err, "--offset: only traces have one");
    if (asked->quick)
        return err_set(err, "--quick needs --evaluate FOLDER");
    if (asked->plot && !r->sweep_text)
        return err_set(err, "--plot needs --sweep");
    if (r->results && !r->sweep_text)
        return err_set(err, "--results needs --sweep");
    if (r->resume && !r->results)
        return err_set(err, "--resume needs --results FILE");
    if (r->compare_exact && r->sweep_text)
        return err_set(err, "--compare-exact: a sweep does that with quantum=exact:N");
    if (r->compare_exact && !r->spec.quantum)
        return err_set(err, "--compare-exact needs --quantum N");
    if (asked->json && asked->plot && !file_is_endless(asked->json) && file_same(asked->json, asked->plot))
        return err_set(err, "--json and --plot name the same file, %s", asked->json);
    if (asked->plot && !svg_check_name("--plot", asked->plot, err))
        return false;
    return (!asked->json || file_check(asked->json, err)) && (!asked->plot || file_check(asked->plot, err));
}

/* No output may be one of the traces. */
static bool traces_are_safe(const struct caches_asked *asked, struct err *err)
{
    const struct caches_request *r = &asked->request;
    for (uint32_t i = 0; i < r->trace_count; i++) {
        const char *trace = source_file(r->traces[i]);
        if (file_is_endless(trace))
            continue;
        if ((asked->json && file_same(asked->json, trace)) ||
            (asked->plot && file_same(asked->plot, trace)) || (r->results && file_same(r->results, trace)))
            return err_set(err, "%s would be written over: it is a trace", trace);
    }
    return true;
}

bool cmd_caches_check_asked(const struct caches_asked *asked, struct err *err)
{
    return makes_sense(asked, err) && traces_are_safe(asked, err);
}

bool cmd_caches_check_evaluate(const struct caches_asked *asked, struct err *err)
{
    const struct caches_request *r = &asked->request;
    bool other = r->trace_count || r->generate || r->sweep_text || asked->json || asked->plot ||
                 r->tiles_told || r->snoop_told || r->offset || r->batch || r->per_cache ||
                 r->compare_exact || r->results || r->resume || r->host.no_overlap || r->host.resident ||
                 r->host.per_block;
    struct caches_spec usual = evaluate_point_spec(&(struct point_key){.tiles = 0});
    other |= r->spec.machine != usual.machine || memcmp(&r->spec.l1, &usual.l1, sizeof usual.l1) ||
             memcmp(&r->spec.l2, &usual.l2, sizeof usual.l2) || r->spec.policy || r->spec.quantum ||
             r->spec.seed != usual.seed;
    if (other)
        return err_set(err, "--evaluate has machines and traces of its own; it takes only --accesses, "
                            "--threads, --device, --quick and --no-progress");
    if (r->accesses > EVALUATION_ACCESSES_MOST)
        return err_set(err, "--accesses: with --evaluate, expected %d at most", EVALUATION_ACCESSES_MOST);
    return *asked->evaluate || err_set(err, "--evaluate: expected a folder");
}
