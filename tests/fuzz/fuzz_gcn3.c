/* Any bytes as GCN3 code: decoded within their bounds, and whatever is an instruction has a text. */
#include "base/err.h"
#include "base/text.h"
#include "gcn3/gcn3.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct text text = {0};
    for (int target = 0; target < GCN3_TARGETS; target++)
        for (size_t at = 0; at < bytes;) {
            struct gcn3_inst inst;
            uint64_t to;
            bool valid = gcn3_decode((enum gcn3_target)target, data + at, bytes - at, &inst);
            if (valid && (inst.bytes > bytes - at || inst.op >= GCN3_OP_COUNT))
                BUG("an instruction of %u bytes where %zu are left", inst.bytes, bytes - at);
            text.length = 0;
            if (valid) {
                gcn3_print(&inst, &text);
                gcn3_branch(&inst, at, &to);
            }
            at += valid ? inst.bytes : 4;
        }
    text_fini(&text);
    return 0;
}
