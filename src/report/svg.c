#include "report/svg.h"
#include "base/bits.h"

#include <math.h>
#include <string.h>

static const char *const colours[] = {"#1f77b4", "#d9601a", "#2a9d4a", "#c2343b", "#8a63c2",
                                      "#8c6d31", "#d65fa6", "#1aa3b3", "#7f7f7f", "#9aa51f"};
static const char *const dashes[] = {"", "7 4", "2 3", "9 3 2 3"};

bool svg_check_name(const char *option, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return !dot || !strcmp(dot, ".svg") ||
           err_set(err, "%s: a drawing is written as SVG, so its file is named .svg, not %.120s", option,
                   path);
}

void svg_begin(FILE *f, int width, int height)
{
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d' "
            "font-family='sans-serif' font-size='12'>\n"
            "<style>.b{fill:#fff}text{fill:#222}.g{stroke:#ddd}.f{fill:none;stroke:#666}\n"
            "@media (prefers-color-scheme:dark){.b{fill:#16181c}text{fill:#ddd}.g{stroke:#3a3d44}"
            ".f{stroke:#999}}</style>\n"
            "<rect class='b' width='%d' height='%d'/>\n",
            width, height, width, height, width, height);
}

void svg_end(FILE *f)
{
    fputs("</svg>\n", f);
}

void svg_text(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '&' || *text == '<' || *text == '>')
            fprintf(f, "&#%d;", *text);
        else
            fputc((unsigned char)*text < ' ' ? '?' : *text, f);
    }
}

const char *svg_colour(size_t number)
{
    return colours[number % COUNT_OF(colours)];
}

const char *svg_dash(size_t number)
{
    return dashes[number / COUNT_OF(colours) % COUNT_OF(dashes)];
}

double svg_round_up(double value)
{
    double power = pow(10, floor(log10(fmax(value, 0.001))));
    double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (value <= steps[i] * power)
            return steps[i] * power;
    }
    return 10 * power;
}
