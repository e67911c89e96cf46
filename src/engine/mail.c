#include "engine/mail.h"

void mail_grow(struct mail *mail, size_t need)
{
    size_t capacity = mail->capacity ? 2 * mail->capacity : 4096;
    while (capacity < mail->used + need)
        capacity *= 2;
    mail->bytes = mem_resize(mail->bytes, mail->used, capacity, 1);
    mail->capacity = capacity;
}
