"""Executes one instruction on a wave."""
import data_share
import images
import memory
import packed
import scalar
import vector
from instruction import BadText, Instruction

# Instructions that change no register or memory of a wave.
SILENT = {"s_nop", "s_waitcnt", "s_sleep", "s_setprio", "s_icache_inv", "s_incperflevel", "s_decperflevel", "s_ttracedata",
          "s_barrier", "s_sendmsg"}


def execute(wave, instruction):
    """instruction: an Instruction, or its text (then of one word)."""
    if isinstance(instruction, str):
        instruction = Instruction(instruction)
    name = instruction.name
    before = wave.special["pc"]
    if name in SILENT:
        done = True
    elif name.startswith("v_"):
        done = vector.run(wave, instruction) or packed.run(wave, instruction)
    elif name.startswith("ds_"):
        done = data_share.run(wave, instruction)
    elif name.startswith("s_"):
        done = scalar.run(wave, instruction) or memory.run(wave, instruction)
    else:
        done = images.run(wave, instruction) or memory.run(wave, instruction)
    if not done:
        raise BadText(f"not known: {instruction.text}")
    if ("pc", 0) not in wave.written:
        wave.special["pc"] = before + 4 * instruction.words
    return wave
