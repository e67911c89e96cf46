/* Words that choices get while the program runs, such as policies of plugins. A parameter's range that ends
 * in
 * "|+FAMILY" has the words of the family behind its own (base/param.h). They are added before descriptions
 * are read, and stay. */
#ifndef BASE_LEXICON_H
#define BASE_LEXICON_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { LEXICON_MOST = 16 }; /* of a family */

/* Letters, digits, _ and -, from a letter on. The word must stay where it is. */
bool lexicon_add(const char *family, const char *word, struct err *err);

/* NULL behind the last one. `length` is that of the family's name. */
const char *lexicon_at(const char *family, size_t length, uint32_t number);

#endif
