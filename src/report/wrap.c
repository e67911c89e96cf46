#include "report/wrap.h"

#include <stdbool.h>
#include <string.h>

enum { WIDTH = 120 };

static bool stays(const char *line)
{
    return *line == '|' || *line == '<' || *line == '#' || !strncmp(line, "![", 2) ||
           !strncmp(line, "    ", 4);
}

/* Where the text of a line begins: behind spaces, and "- " or "12. ". */
static size_t indent_of(const char *line)
{
    size_t spaces = strspn(line, " "), digits = strspn(line + spaces, "0123456789");
    if (!strncmp(line + spaces, "- ", 2))
        return spaces + 2;
    return digits && !strncmp(line + spaces + digits, ". ", 2) ? spaces + digits + 2 : spaces;
}

/* How many bytes of the text go to one line: up to the last space that fits, or the first there is. */
static size_t fitting(const char *text, size_t length, size_t width)
{
    if (length <= width)
        return length;
    for (size_t end = width; end; end--) {
        if (text[end] == ' ')
            return end;
    }
    const char *space = memchr(text, ' ', length);
    return space ? (size_t)(space - text) : length;
}

static void wrap_line(const char *line, size_t length, FILE *file)
{
    size_t indent = indent_of(line), part = indent + fitting(line + indent, length - indent, WIDTH - indent);
    fwrite(line, 1, part, file);
    for (line += part, length -= part; length > 1; line += part, length -= part) {
        line++, length--; /* the space that the line was cut at */
        part = fitting(line, length, WIDTH - indent);
        fprintf(file, "\n%*s%.*s", (int)indent, "", (int)part, line);
    }
    fputc('\n', file);
}

void wrap_markdown(const char *text, FILE *file)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (stays(line))
            fprintf(file, "%.*s\n", (int)length, line);
        else
            wrap_line(line, length, file);
        line += length + (line[length] == '\n');
    }
}
