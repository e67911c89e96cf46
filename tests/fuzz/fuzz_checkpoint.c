/* The checkpoint loader. A damaged file is refused by its digest before anything else is looked at, so the
 * input here is put behind the head of a real checkpoint and gets a digest that fits: what is behind the
 * digest must hold on its own. */
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench/bench.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char description[] =
    "[node.a]\nsends = 9\nhops = 1\nservice = 3ns\n[node.b]\nsends = 9\n[node.c]\nisland = b\n"
    "[link.ab]\nends = a.x b.x\ncredits = 2\nbandwidth = 1GB/s\n"
    "[link.abc]\nends = a.y b.y c.y\nlatency = 1ns\n";

/* The head of a checkpoint of this model: magic, two versions, an empty note, the digest of the model's
 * shape. */
enum { HEAD_BYTES = 40 };

struct model {
    struct config config;
    const struct param_group **groups;
    struct bench_model bench;
};

static void require(bool good, const struct err *err)
{
    if (!good) {
        fprintf(stderr, "%s\n", err->text);
        abort();
    }
}

static void model_init(struct model *model)
{
    struct err err;
    const struct bench *bench = bench_find("network");
    model->groups = bench_groups(bench);
    config_init(&model->config, model->groups);
    require(config_read_text(&model->config, "fuzz.ini", description, sizeof description - 1, &err), &err);
    require(bench_model_init(&model->bench, bench, &model->config, NULL, &err), &err);
}

static void model_fini(struct model *model)
{
    bench_model_fini(&model->bench);
    config_fini(&model->config);
    mem_free(model->groups);
}

/* The head, and a path for files; with HEDDLE_SEED set, also writes the rest of a real checkpoint there, for
 * the corpus. */
static const char *prepare(char head[HEAD_BYTES])
{
    static char path[64];
    struct model model;
    struct err err;
    struct text content = {0};
    snprintf(path, sizeof path, "/tmp/heddle-fuzz-%d.hcp", (int)getpid());
    model_init(&model);
    engine_run(model.bench.engine, &(struct engine_run){.until = 30000}, &err);
    require(engine_save(model.bench.engine, path, "", &err), &err);
    require(file_read(path, 1 << 20, &content, &err), &err);
    memcpy(head, content.at, HEAD_BYTES);
    if (getenv("HEDDLE_SEED")) {
        struct file_writer writer;
        require(file_open(&writer, getenv("HEDDLE_SEED"), &err), &err);
        fwrite(content.at + HEAD_BYTES, 1, content.length - HEAD_BYTES - 8, writer.stream);
        require(file_close(&writer, &err), &err);
    }
    text_fini(&content);
    model_fini(&model);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char head[HEAD_BYTES];
    static const char *path;
    struct text content = {0};
    struct model model;
    struct err err;
    if (!path)
        path = prepare(head);
    text_add_bytes(&content, head, sizeof head);
    text_add_bytes(&content, (const char *)data, size);
    uint64_t digest = digest_bytes(0, content.at, content.length);
    text_add_bytes(&content, (const char *)&digest, sizeof digest);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(content.at, 1, content.length, file) != content.length || fclose(file))
        abort();
    model_init(&model);
    if (engine_load(model.bench.engine, path, &err)) {
        struct text again = {0}; /* what was loaded is what is saved */
        require(engine_save(model.bench.engine, path, "", &err), &err);
        require(file_read(path, 1 << 24, &again, &err), &err);
        if (again.length != content.length)
            abort();
        text_fini(&again);
    }
    model_fini(&model);
    unlink(path);
    text_fini(&content);
    return 0;
}
