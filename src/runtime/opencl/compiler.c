/* The steps of a build: clang and its tools as processes, in a folder of their own. */
#include "runtime/opencl/compiler.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGEST_FILE (UINT64_C(1) << 30)

extern char **environ;

/* ---- what there is ---- */

/* Folders of LLVM's tools and of AMD's device libraries, the best first. A variable comes before all. */
static const char *const llvm_folders[] = {"/usr/lib/llvm-19/bin", "/usr/lib/llvm-18/bin",
                                           "/usr/lib/llvm-17/bin", "/opt/rocm/llvm/bin"};
static const char *const library_folders[] = {"/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
                                              "/opt/rocm/amdgcn/bitcode", "/usr/lib/amdgcn/bitcode"};

static const char *find_folder(const char *variable, const char *const *folders, size_t count,
                               const char *file)
{
    const char *own = getenv(variable);
    for (size_t i = 0; i < (own ? 1 : count); i++) {
        const char *folder = own ? own : folders[i];
        struct text path = {0};
        text_add(&path, "%s/%s", folder, file);
        bool there = !access(path.at, R_OK);
        text_fini(&path);
        if (there)
            return folder;
    }
    return NULL;
}

static const char *llvm(void)
{
    return find_folder("HEDDLE_LLVM", llvm_folders, COUNT_OF(llvm_folders), "clang");
}

static const char *libraries(void)
{
    return find_folder("HEDDLE_DEVICE_LIBS", library_folders, COUNT_OF(library_folders), "opencl.bc");
}

bool opencl_compiler_is_there(void)
{
    return llvm() && libraries();
}

/* Few programs show the log of a build: it is said on stderr, too, but once. */
static bool check_tools(struct text *log)
{
    static _Atomic bool said;
    if (opencl_compiler_is_there())
        return true;
    size_t before = log->length;
    text_add(log,
             "heddle: OpenCL C is compiled by clang with AMD's device libraries, and %s: "
             "apt install clang-19 lld-19 llvm-19 rocm-device-libs\n",
             llvm() ? "the libraries are not installed" : "clang is not installed");
    if (!said)
        fputs(log->at + before, stderr);
    said = true;
    return false;
}

/* ---- a folder for a build's files ---- */

struct workshop {
    char folder[256];
    struct text *log;
};

static bool open_workshop(struct workshop *shop, struct text *log)
{
    const char *temporary = getenv("TMPDIR");
    shop->log = log;
    snprintf(shop->folder, sizeof shop->folder, "%.200s/heddle-opencl-XXXXXX",
             temporary && *temporary == '/' ? temporary : "/tmp");
    if (mkdtemp(shop->folder))
        return true;
    text_add(log, "heddle: no folder for a build can be made in %s\n", shop->folder);
    return false;
}

static void remove_all(const char *folder)
{
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        struct text path = {0};
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        text_add(&path, "%s/%s", folder, entry->d_name);
        if (unlink(path.at))
            remove_all(path.at);
        text_fini(&path);
    }
    if (list)
        closedir(list);
    rmdir(folder);
}

static bool write_file(const struct workshop *shop, const char *name, const void *bytes, size_t count)
{
    struct text path = {0};
    text_add(&path, "%s/%s", shop->folder, name);
    FILE *file = fopen(path.at, "wb");
    bool good = file && fwrite(bytes, 1, count, file) == count;
    if (file)
        good = !fclose(file) && good;
    if (!good)
        text_add(shop->log, "heddle: %s cannot be written\n", path.at);
    text_fini(&path);
    return good;
}

static bool read_file(const struct workshop *shop, const char *name, struct text *content)
{
    struct text path = {0};
    struct err err;
    text_add(&path, "%s/%s", shop->folder, name);
    bool good = file_read(path.at, LARGEST_FILE, content, &err);
    text_fini(&path);
    return good;
}

/* ---- processes ---- */

/* Our environment without what puts Heddle into programs. */
static char **plain_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **plain = mem_alloc(count + 1, sizeof *plain);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            plain[kept++] = environ[i];
    }
    return plain;
}

/* A signal of the program's may come meanwhile. A program that ignores SIGCHLD never learns how a child
 * ended: then the file that the tool makes, or does not, tells. */
static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Tools start with no signal ignored or blocked, whatever the program does with its own. */
static int spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions, char **arguments,
                 char **environment)
{
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn(child, path, actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Runs a tool of LLVM's; what it says goes to the log. */
static bool run(const struct workshop *shop, const char *tool, struct opencl_words *words)
{
    struct text path = {0}, said = {0}, output = {0};
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_t actions;
    char **environment = plain_environment();
    text_add(&path, "%s/%s", llvm(), tool);
    text_add(&output, "%s/said", shop->folder);
    char **arguments = mem_alloc(words->count + 2, sizeof *arguments);
    arguments[0] = path.at;
    memcpy(arguments + 1, words->at, words->count * sizeof *arguments);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.at, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (spawn(&child, path.at, &actions, arguments, environment))
        text_add(shop->log, "heddle: %s cannot be started; apt install llvm-19 clang-19 lld-19\n", path.at);
    else
        status = wait_for(child);
    posix_spawn_file_actions_destroy(&actions);
    if (read_file(shop, "said", &said) && said.length)
        text_add_bytes(shop->log, said.at, said.length);
    mem_free(arguments);
    mem_free(environment);
    text_fini(&path);
    text_fini(&said);
    text_fini(&output);
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool run_and_free(const struct workshop *shop, const char *tool, struct opencl_words *words)
{
    bool good = run(shop, tool, words);
    opencl_words_fini(words);
    return good;
}

/* ---- the steps ---- */

static void add_target(struct opencl_words *words, const char *target)
{
    static const char *const usual[] = {"-target", "amdgcn-amd-amdhsa", "-mcode-object-version=4"};
    for (size_t i = 0; i < COUNT_OF(usual); i++)
        opencl_words_add(words, "%s", usual[i]);
    opencl_words_add(words, "-mcpu=%s", target);
}

static void add_options(struct opencl_words *words, const struct opencl_options *options)
{
    opencl_words_add(words, "-O3"); /* a later one of the program's holds */
    for (size_t i = 0; i < options->words.count; i++)
        opencl_words_add(words, "%s", options->words.at[i]);
}

static const char *const language[] = {
    "-x",
    "cl",
    "-cl-std=CL1.2",
    "-cl-kernel-arg-info",
    "-gline-tables-only",
    "-fno-color-diagnostics",
    "-D__OPENCL_VERSION__=120",
    "-D__IMAGE_SUPPORT__=1",
    "-I.",
};

static void add_language(const struct workshop *shop, struct opencl_words *words,
                         const struct opencl_options *options)
{
    for (size_t i = 0; i < COUNT_OF(language); i++)
        opencl_words_add(words, "%s", language[i]);
    opencl_words_add(words, "-I%s", shop->folder);
    add_options(words, options);
}

/* AMD's libraries, as clang itself would choose them. */
static void add_libraries(struct opencl_words *words, const char *target,
                          const struct opencl_options *options)
{
    char isa[32];
    snprintf(isa, sizeof isa, "oclc_isa_version_%s", target + strlen("gfx"));
    const char *const names[] = {
        "opencl",
        "ocml",
        "ockl",
        "oclc_daz_opt_on",
        options->unsafe_math ? "oclc_unsafe_math_on" : "oclc_unsafe_math_off",
        options->finite_only ? "oclc_finite_only_on" : "oclc_finite_only_off",
        options->correct_sqrt ? "oclc_correctly_rounded_sqrt_on" : "oclc_correctly_rounded_sqrt_off",
        "oclc_wavefrontsize64_on",
        isa,
        "oclc_abi_version_400",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        opencl_words_add(words, "-Xclang");
        opencl_words_add(words, "-mlink-builtin-bitcode");
        opencl_words_add(words, "-Xclang");
        opencl_words_add(words, "%s/%s.bc", libraries(), names[i]);
    }
}

static void add_in_out(const struct workshop *shop, struct opencl_words *words, const char *in,
                       const char *out)
{
    opencl_words_add(words, "%s/%s", shop->folder, in);
    opencl_words_add(words, "-o");
    opencl_words_add(words, "%s/%s", shop->folder, out);
}

/* abs_diff of two ints or longs in AMD's library subtracts signed numbers, which LLVM 19 takes not to
 * overflow. These, which have the names of the library's, count instead. */
static const char own_abs_diff[] =
    "#line 1 \"abs_diff\"\n"
    "%1$s uint heddle_abs_diff_int(int a, int b) __asm(\"_Z8abs_diffii\");\n"
    "uint heddle_abs_diff_int(int a, int b) { return a > b ? (uint)a - (uint)b : (uint)b - (uint)a; }\n"
    "%1$s ulong heddle_abs_diff_long(long a, long b) __asm(\"_Z8abs_diffll\");\n"
    "ulong heddle_abs_diff_long(long a, long b) { return a > b ? (ulong)a - (ulong)b : (ulong)b - (ulong)a; "
    "}\n";

/* Messages and lines of instructions have this name for the source. is_part: others are linked to it. */
static bool write_source(const struct workshop *shop, const char *source, bool is_part)
{
    struct text marked = {0};
    text_add(&marked, "# 1 \"program.cl\"\n%s\n", source);
    if (strstr(source, "abs_diff"))
        text_add(&marked, own_abs_diff, is_part ? "__attribute__((weak))" : "");
    bool good = write_file(shop, "program.cl", marked.at, marked.length);
    text_fini(&marked);
    return good;
}

static bool compile_at_once(const struct workshop *shop, const char *target,
                            const struct opencl_options *options)
{
    struct opencl_words words = {0};
    add_target(&words, target);
    add_language(shop, &words, options);
    opencl_words_add(&words, "--rocm-device-lib-path=%s", libraries());
    add_in_out(shop, &words, "program.cl", "code");
    return run_and_free(shop, "clang", &words);
}

static bool compile_object(const struct workshop *shop, const char *target,
                           const struct opencl_options *options)
{
    struct opencl_words words = {0};
    add_target(&words, target);
    add_language(shop, &words, options);
    static const char *const more[] = {"-nogpulib", "-emit-llvm", "-c", "-Xclang", "-disable-llvm-passes"};
    for (size_t i = 0; i < COUNT_OF(more); i++)
        opencl_words_add(&words, "%s", more[i]);
    add_in_out(shop, &words, "program.cl", "object.bc");
    return run_and_free(shop, "clang", &words);
}

/* printf becomes records in a buffer: before the libraries come, which have a printf of their own. */
static bool bind_printf(const struct workshop *shop, const char *in, const char *out)
{
    struct opencl_words words = {0};
    opencl_words_add(&words, "-passes=amdgpu-printf-runtime-binding");
    add_in_out(shop, &words, in, out);
    return run_and_free(shop, "opt", &words);
}

static bool make_code(const struct workshop *shop, const char *in, const char *target,
                      const struct opencl_options *options)
{
    struct opencl_words words = {0};
    add_target(&words, target);
    opencl_words_add(&words, "-x");
    opencl_words_add(&words, "ir");
    opencl_words_add(&words, "-nogpulib");
    opencl_words_add(&words, "-O3");
    for (size_t i = 0; i < options->words.count; i++) /* a later one holds */
        if (!strncmp(options->words.at[i], "-O", 2) || !strcmp(options->words.at[i], "-cl-opt-disable"))
            opencl_words_add(&words, "%s", options->words.at[i]);
    add_libraries(&words, target, options);
    add_in_out(shop, &words, in, "code");
    return run_and_free(shop, "clang", &words);
}

/* ---- builds ---- */

/* A tool that was upgraded makes other code. */
static void add_file_key(struct opencl_cache_key *key, const char *folder, const char *name)
{
    struct text path = {0};
    struct stat facts;
    text_add(&path, "%s/%s", folder, name);
    if (!stat(path.at, &facts)) {
        opencl_cache_add(key, &facts.st_size, sizeof facts.st_size);
        opencl_cache_add(key, &facts.st_mtime, sizeof facts.st_mtime);
    }
    text_fini(&path);
}

static void start_key(struct opencl_cache_key *key, const char *kind, const char *target,
                      const struct opencl_options *options)
{
    const char *const texts[] = {HEDDLE_VERSION, kind, target, llvm(), libraries()};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        opencl_cache_add(key, texts[i], strlen(texts[i]));
    for (size_t i = 0; i < COUNT_OF(language); i++)
        opencl_cache_add(key, language[i], strlen(language[i]));
    opencl_cache_add(key, own_abs_diff, sizeof own_abs_diff);
    add_file_key(key, llvm(), "clang");
    add_file_key(key, libraries(), "opencl.bc");
    for (size_t i = 0; i < options->words.count; i++)
        opencl_cache_add(key, options->words.at[i], strlen(options->words.at[i]));
    opencl_cache_add(key, &options->creates_library, sizeof options->creates_library);
}

/* What a source includes counts as well: it is the text that the preprocessor makes. */
static bool add_source_key(const struct workshop *shop, struct opencl_cache_key *key, const char *source,
                           const char *target, const struct opencl_options *options)
{
    struct opencl_words words = {0};
    struct text whole = {0};
    if (!strstr(source, "#include") && !strstr(source, "# include")) {
        opencl_cache_add(key, source, strlen(source));
        return true;
    }
    add_target(&words, target);
    add_language(shop, &words, options);
    opencl_words_add(&words, "-nogpulib");
    opencl_words_add(&words, "-E");
    opencl_words_add(&words, "-P");
    add_in_out(shop, &words, "program.cl", "whole");
    bool good = run_and_free(shop, "clang", &words) && read_file(shop, "whole", &whole);
    if (good)
        opencl_cache_add(key, whole.at, whole.length);
    text_fini(&whole);
    return good;
}

static bool build_code(const struct workshop *shop, const char *source, const char *target,
                       const struct opencl_options *options)
{
    if (!strstr(source, "printf"))
        return compile_at_once(shop, target, options);
    return compile_object(shop, target, options) && bind_printf(shop, "object.bc", "bound.bc") &&
           make_code(shop, "bound.bc", target, options);
}

enum opencl_built opencl_build(const char *source, const char *target, const struct opencl_options *options,
                               struct text *made, struct text *log)
{
    struct workshop shop;
    struct opencl_cache_key key = {{0}};
    if (!check_tools(log))
        return OPENCL_NO_COMPILER;
    if (!open_workshop(&shop, log))
        return OPENCL_BUILD_FAILED;
    start_key(&key, "code", target, options);
    bool good = write_source(&shop, source, false) && add_source_key(&shop, &key, source, target, options);
    if (good && !opencl_cache_get(&key, made, log)) {
        good = build_code(&shop, source, target, options) && read_file(&shop, "code", made);
        if (good)
            opencl_cache_put(&key, made, log);
    }
    remove_all(shop.folder);
    return good ? OPENCL_BUILT : OPENCL_BUILD_FAILED;
}

/* A header's name may have folders in it. */
static bool write_header(const struct workshop *shop, const struct opencl_header *header)
{
    struct text path = {0};
    bool inside = *header->name != '/' && !strstr(header->name, "..");
    text_add(&path, "%s/", shop->folder);
    for (const char *at = header->name; inside && *at; at++) {
        if (*at == '/')
            mkdir(path.at, 0700);
        text_add_bytes(&path, at, 1);
    }
    text_fini(&path);
    if (!inside)
        text_add(shop->log, "heddle: a header cannot have the name %s\n", header->name);
    return inside && write_file(shop, header->name, header->text, strlen(header->text));
}

enum opencl_built opencl_compile(const char *source, const struct opencl_header *headers, size_t header_count,
                                 const char *target, const struct opencl_options *options, struct text *made,
                                 struct text *log)
{
    struct workshop shop;
    if (!check_tools(log))
        return OPENCL_NO_COMPILER;
    if (!open_workshop(&shop, log))
        return OPENCL_BUILD_FAILED;
    bool good = write_source(&shop, source, true);
    for (size_t i = 0; i < header_count && good; i++)
        good = write_header(&shop, &headers[i]);
    good = good && compile_object(&shop, target, options) && read_file(&shop, "object.bc", made);
    remove_all(shop.folder);
    return good ? OPENCL_BUILT : OPENCL_BUILD_FAILED;
}

static bool link_objects(const struct workshop *shop, const struct opencl_bytes *objects, size_t count)
{
    struct opencl_words words = {0};
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        char name[32];
        snprintf(name, sizeof name, "part%zu.bc", i);
        good = write_file(shop, name, objects[i].at, objects[i].bytes);
        opencl_words_add(&words, "%s/%s", shop->folder, name);
    }
    opencl_words_add(&words, "-o");
    opencl_words_add(&words, "%s/linked.bc", shop->folder);
    bool linked = run_and_free(shop, "llvm-link", &words);
    return good && linked;
}

enum opencl_built opencl_link(const struct opencl_bytes *objects, size_t count, const char *target,
                              const struct opencl_options *options, struct text *made, struct text *log)
{
    struct workshop shop;
    if (!check_tools(log))
        return OPENCL_NO_COMPILER;
    if (!open_workshop(&shop, log))
        return OPENCL_BUILD_FAILED;
    bool good = link_objects(&shop, objects, count);
    if (good && options->creates_library)
        good = read_file(&shop, "linked.bc", made);
    else if (good)
        good = bind_printf(&shop, "linked.bc", "bound.bc") && make_code(&shop, "bound.bc", target, options) &&
               read_file(&shop, "code", made);
    remove_all(shop.folder);
    return good ? OPENCL_BUILT : OPENCL_BUILD_FAILED;
}
