/* What was measured, for people (Markdown) and programs (JSON). */
#include "cachesim/evaluate/evaluate.h"
#include "report/json.h"

/* ---- commands ---- */

static void add_traces(struct text *text, const struct evaluate_workload *workload)
{
    uint32_t programs = evaluate_workload_programs(workload);
    text_add(text, " traces/%s", programs > 1 ? "{" : "");
    for (uint32_t i = 0; i < programs; i++)
        text_add(text, "%s%s", i ? "," : "", workload->programs[i]);
    text_add(text, "%s-%u.", programs > 1 ? "}" : "", workload->threads);
    text_add(text, workload->threads > 1 ? "{1..%u}.htrace" : "%u.htrace", workload->threads);
}

void evaluate_point_command(struct text *text, const struct point_key *key)
{
    const struct evaluate_workload *workload = &evaluate_workloads[key->workload];
    struct caches_spec spec = evaluate_point_spec(key);
    text_add(text, "heddle caches --machine ");
    setting_print("machine", &spec, text);
    text_add(text, " --tiles %u --snoop %u --accesses %llu", key->tiles, spec.snoop,
             (unsigned long long)key->accesses);
    if (key->l1_ways)
        text_add(text, " --l1 64KiB,%u,64", key->l1_ways);
    if (key->quantum)
        text_add(text, " --quantum %llu --compare-exact", (unsigned long long)key->quantum);
    if (evaluate_host_is_gpu(key->host))
        text_add(text, " --device cuda");
    if (key->host == EVALUATE_CPU_ONE)
        text_add(text, " --threads 1");
    if (key->host == EVALUATE_GPU_SERIAL)
        text_add(text, " --no-overlap");
    if (key->host == EVALUATE_GPU_RESIDENT)
        text_add(text, " --resident");
    if (key->per_block)
        text_add(text, " --per-block %u", key->per_block);
    if (workload->generate) {
        text_add(text, " --generate %s", workload->generate);
    } else {
        text_add(text, " --offset %d", OFFSET);
        add_traces(text, workload);
    }
}

/* ---- Markdown ---- */

static void write_sheet(const struct sheet *sheet, FILE *f)
{
    char cell[CELL];
    fprintf(f, "\n## %s\n\n%s%s\n\n![%s](%s.svg)\n\n| %s |", sheet->title, sheet->text,
            sheet->note.length ? sheet->note.at : "", sheet->title, sheet->name, sheet->across);
    for (size_t i = 0; i < sheet->column_count; i++)
        fprintf(f, " %s |", sheet->columns[i]);
    fputs("\n| --- |", f);
    for (size_t i = 0; i < sheet->column_count; i++)
        fputs(" ---: |", f);
    for (size_t s = 0; s < sheet->series_count; s++) {
        fprintf(f, "\n| %s%s%s |", sheet->series[s].name, sheet->series[s].is_right ? ": " : "",
                sheet->series[s].is_right ? sheet->right : "");
        for (size_t i = 0; i < sheet->column_count; i++)
            fprintf(f, " %s |", evaluate_number_of(cell, sheet_value(sheet, s, i)));
    }
    fputc('\n', f);
    if (sheet->commands.length)
        fprintf(f, "\n```\n%s```\n", sheet->commands.at);
}

static void write_workloads(FILE *f)
{
    fputs("\n| workload | programs, and whose role they have | traces |\n| --- | --- | --- |\n", f);
    for (size_t i = 0; i < WORKLOADS; i++) {
        const struct evaluate_workload *workload = &evaluate_workloads[i];
        fprintf(f, "| %s |", workload->label);
        if (workload->generate)
            fprintf(f, " `--generate %s`", workload->generate);
        for (uint32_t k = 0; k < evaluate_workload_programs(workload); k++)
            fprintf(f, "%s %s (%s)", k ? "," : "", workload->programs[k],
                    evaluate_program_role(workload->programs[k]));
        if (workload->generate)
            fputs(" | - |\n", f);
        else
            fprintf(f, " | %u each |\n", workload->threads);
    }
}

void evaluation_markdown(const struct evaluation *e, FILE *f)
{
    char cell[CELL];
    fprintf(f, "# Many caches, measured\n\nBy `heddle caches --evaluate`%s: %zu points in %.0f s.\n\n",
            e->quick ? " --quick, which tells nothing but that it works" : "", e->point_count, e->seconds);
    fprintf(f, "- CPU: %s, %u cores, %u threads\n- GPU: %s%s\n", e->cpu, e->cores, e->r->host.threads,
            e->has_gpu ? "" : "none was measured: ", e->gpu);
    fprintf(f, "- Accesses of each tile: %s, or as many as make 134 million of all tiles together\n",
            cell_whole(cell, e->accesses));
    fputs(
        "- Caches: L1 64 KiB, 16 ways; L2 512 KiB of each tile, 16 ways; lines of 64 bytes; LRU\n"
        "- Times are of simulation alone, by the wall's clock: accesses are in the host's memory before, and "
        "the first quarter of them is simulated before the clock starts. \"Resident\": they are in the "
        "GPU's memory before. The better of two runs counts where they take less than half a second.\n"
        "- All points that were simulated in several places were counted the same there, cache by cache.\n"
        "- Commands are for this folder; their time is with reading the traces.\n",
        f);
    write_workloads(f);
    for (size_t i = 0; i < e->sheet_count; i++)
        write_sheet(&e->sheets[i], f);
}

/* ---- JSON ---- */

static void write_counters(struct json_writer *json, const char *name, const struct coherent_counters *count)
{
    json_open_object(json, name);
#define X(counter, help) json_put_count(json, #counter, count->counter);
    COHERENT_COUNTERS(X)
#undef X
    json_close(json);
}

static void write_point(struct json_writer *json, const struct evaluate_point *point)
{
    const struct point_key *key = &point->key;
    struct caches_spec spec = evaluate_point_spec(key);
    struct text text = {0};
    json_open_object(json, NULL);
    json_put_text(json, "workload", evaluate_workloads[key->workload].label);
    setting_print("machine", &spec, &text);
    json_put_text(json, "machine", text.at);
    json_put_count(json, "tiles", key->tiles);
    json_put_count(json, "l1_ways", spec.l1.ways);
    json_put_count(json, "quantum", key->quantum);
    json_put_count(json, "accesses_of_each_tile", key->accesses);
    json_put_text(json, "host", evaluate_hosts[key->host]);
    if (key->per_block)
        json_put_count(json, "per_block", key->per_block);
    json_put_real(json, "seconds", point->seconds);
    json_put_real(json, "million_accesses_per_s", point->million_per_s);
    if (evaluate_host_is_gpu(key->host)) {
        json_put_real(json, "transfer_s", point->transfer_s);
        json_put_real(json, "l1_s", point->l1_s);
        json_put_real(json, "l2_s", point->l2_s);
    }
    json_put_count(json, "accesses", point->result.accesses);
    write_counters(json, "l1", &point->result.l1);
    if (key->machine != CACHES_L1) {
        write_counters(json, "l2", &point->result.l2);
        json_put_real(json, "l2_busiest_to_mean", point->imbalance);
    }
    json_close(json);
    text_fini(&text);
}

static void write_figure(struct json_writer *json, const struct sheet *sheet)
{
    json_open_object(json, NULL);
    json_put_text(json, "name", sheet->name);
    json_put_text(json, "title", sheet->title);
    json_put_text(json, "across", sheet->across);
    json_put_text(json, "upwards", sheet->upwards);
    json_open_list(json, "columns");
    for (size_t i = 0; i < sheet->column_count; i++)
        json_put_text(json, NULL, sheet->columns[i]);
    json_close(json);
    json_open_list(json, "series");
    for (size_t s = 0; s < sheet->series_count; s++) {
        json_open_object(json, NULL);
        json_put_text(json, "name", sheet->series[s].name);
        json_put_text(json, "of", sheet->series[s].is_right ? sheet->right : sheet->upwards);
        json_open_list(json, "values");
        for (size_t i = 0; i < sheet->column_count; i++)
            json_put_real(json, NULL, sheet_value(sheet, s, i));
        json_close(json);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

void evaluation_json(const struct evaluation *e, FILE *f)
{
    struct json_writer json;
    json_begin(&json, f);
    json_open_object(&json, NULL);
    json_put_text(&json, "heddle", HEDDLE_VERSION);
    json_put_bool(&json, "quick", e->quick);
    json_put_count(&json, "accesses_of_each_tile_most", e->accesses);
    json_put_real(&json, "seconds", e->seconds);
    json_open_object(&json, "host");
    json_put_text(&json, "cpu", e->cpu);
    json_put_count(&json, "cores", e->cores);
    json_put_count(&json, "threads", e->r->host.threads);
    json_put_text(&json, e->has_gpu ? "gpu" : "no_gpu", e->gpu);
    json_close(&json);
    json_open_list(&json, "figures");
    for (size_t i = 0; i < e->sheet_count; i++)
        write_figure(&json, &e->sheets[i]);
    json_close(&json);
    json_open_list(&json, "points");
    for (size_t i = 0; i < e->point_count; i++)
        write_point(&json, &e->points[i]);
    json_close(&json);
    json_close(&json);
    fputc('\n', f);
}
