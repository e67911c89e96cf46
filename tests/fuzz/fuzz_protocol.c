/* Coherence protocols as text: what is read is valid, and is read again as it is printed. */
#include "base/mem.h"
#include "base/text.h"
#include "cache/protocol/protocol.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    struct err err;
    char *content = mem_alloc(count + 1, 1);
    if (count)
        memcpy(content, data, count);
    struct protocol *protocol = protocol_parse(content, "fuzz", &err);
    if (protocol) {
        struct text text = {0};
        protocol_print(protocol, &text);
        struct text again = {0};
        char *printed = mem_text(text.at);
        struct protocol *second = protocol_parse(printed, "fuzz", &err);
        if (!second)
            BUG("printed, but not read: %s", err.text);
        protocol_print(second, &again);
        if (strcmp(text.at, again.at))
            BUG("printed otherwise the second time");
        mem_free(printed);
        text_fini(&again);
        text_fini(&text);
        protocol_free(second);
        protocol_free(protocol);
    }
    mem_free(content);
    return 0;
}
