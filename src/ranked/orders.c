#include "ranked/orders.h"

static void flag_archive(bool *flag, struct archive *archive)
{
    *flag = archive_number(archive, *flag, 1);
}

void told_machine_archive(struct told_machine *machine, struct archive *archive)
{
    ARCHIVE_VALUE(archive, machine->layout);
    archive_text(archive, &machine->config);
    ARCHIVE_VALUE(archive, machine->threads);
    ARCHIVE_VALUE(archive, machine->wishes);
    ARCHIVE_VALUE(archive, machine->checkpoint_at);
    ARCHIVE_VALUE(archive, machine->checkpoint_every);
    flag_archive(&machine->writes, archive);
    flag_archive(&machine->stops, archive);
    flag_archive(&machine->resumes, archive);
    archive_text(archive, &machine->resumed);
    flag_archive(&machine->measures, archive);
    flag_archive(&machine->is_placed, archive);
    archive_text(archive, &machine->placement);
    archive_text(archive, &machine->placed_by);
}

void told_machine_fini(struct told_machine *machine)
{
    text_fini(&machine->config);
    text_fini(&machine->resumed);
    text_fini(&machine->placement);
    text_fini(&machine->placed_by);
}
