#include "engine/mail.h"
#include "base/zone.h"

void mail_grow(struct mail *mail, size_t need)
{
    size_t capacity = mail->capacity ? 2 * mail->capacity : 4096;
    while (capacity < mail->used + need)
        capacity *= 2;
    struct zone_pause pause = zone_pause(); /* mail is the worker's, whichever island writes it */
    mail->bytes = mem_resize(mail->bytes, mail->used, capacity, 1);
    zone_go_on(pause);
    mail->capacity = capacity;
}
