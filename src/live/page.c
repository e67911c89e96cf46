#include "live/page.h"

#define FILE_BYTES(symbol, file)                                                                             \
    extern const char symbol[], symbol##_end[];                                                              \
    __asm__(".pushsection .rodata\n.balign 16\n" #symbol ":\n.incbin \"" file "\"\n" #symbol                 \
            "_end:\n.byte 0\n.popsection\n");

FILE_BYTES(live_page_html, LIVE_FOLDER "/live.html")
FILE_BYTES(live_page_style, LIVE_STYLE_FILE)
FILE_BYTES(live_page_looks, LIVE_FOLDER "/live.css")
FILE_BYTES(live_page_script, LIVE_FOLDER "/live.js")
FILE_BYTES(live_page_icon, LIVE_FOLDER "/icon.svg")

#define FILE_OF(symbol, type)                                                                                \
    {                                                                                                        \
        type, symbol, (size_t)(symbol##_end - symbol)                                                        \
    }

struct live_file live_file(enum live_path path)
{
    const struct live_file files[] = {
        [LIVE_PAGE] = FILE_OF(live_page_html, "text/html; charset=utf-8"),
        [LIVE_STYLE] = FILE_OF(live_page_style, "text/css; charset=utf-8"),
        [LIVE_LOOKS] = FILE_OF(live_page_looks, "text/css; charset=utf-8"),
        [LIVE_SCRIPT] = FILE_OF(live_page_script, "text/javascript; charset=utf-8"),
        [LIVE_ICON] = FILE_OF(live_page_icon, "image/svg+xml"),
    };
    return files[path];
}
