/* The loader of checkpoints of timed runs. The input says which bytes of a good file change (so it stays of
 * use when the layout of the file does): four bytes where, one byte what they become. */
#include "resume.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct resume resume;
    if (!resume.program)
        resume_init(&resume);
    char *good = mem_alloc(resume.content.length, 1);
    memcpy(good, resume.content.at, resume.content.length);
    for (; size >= 5; data += 5, size -= 5) {
        uint32_t at;
        memcpy(&at, data, 4);
        resume.content.at[at % resume.content.length] = (char)data[4];
    }
    resume_try(&resume);
    memcpy(resume.content.at, good, resume.content.length);
    mem_free(good);
    return 0;
}
