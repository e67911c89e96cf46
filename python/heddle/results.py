"""Files that Heddle writes: statistics of runs, studies, and others in JSON."""
from __future__ import annotations

import json
from typing import Any, Dict, List

from ._library import HeddleError
from .tables import Table

LAYOUT = 2  # of the files of --stats


def _flat(row: Dict[str, Any]) -> Dict[str, Any]:
    """A launch or kernel as a row: its metrics are columns."""
    flat: Dict[str, Any] = {}
    for name, value in row.items():
        if name == "metrics":
            flat.update(value)
        elif isinstance(value, list) and all(isinstance(one, (int, float)) for one in value):
            flat[name] = "x".join(map(str, value))
        elif not isinstance(value, (dict, list)):
            flat[name] = value
    return flat


class Results:
    """A file of --stats (of `run`, `bench` or `replay`). `data` is all of it, as JSON has it."""

    def __init__(self, data: Dict[str, Any]) -> None:
        self.data = data

    @property
    def system(self) -> str:
        """The name of the system."""
        return str(self.data.get("system", ""))

    @property
    def time_ps(self) -> int:
        """Simulated time, in picoseconds; 0 without timing."""
        return int(self.data.get("time_ps", 0))

    @property
    def kernels(self) -> Table:
        """A row for each kernel."""
        return Table(map(_flat, self.data["kernels"]))

    @property
    def launches(self) -> Table:
        """A row for each launch that was kept (--stats-launches)."""
        return Table(map(_flat, self.data.get("launches", [])))

    @property
    def copies(self) -> Table:
        """A row for each kind of copies."""
        copies = self.data.get("copies", {})
        return Table({"kind": kind, **figures} for kind, figures in copies.items() if isinstance(figures, dict))

    def __repr__(self) -> str:
        return f"<heddle.Results of {self.data.get('program')} on {self.system}>"


def read_json(path: str) -> Any:
    """A JSON file of Heddle, such as of `study --json`; HeddleError if it is none."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise HeddleError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise HeddleError(f"{path}: {error}") from None
    if not isinstance(data, dict) or "heddle" not in data:
        raise HeddleError(f"{path} is no file of Heddle")
    return data


def read_stats(path: str) -> Results:
    """Reads what `run --stats`, `bench --json` or `replay --stats` wrote."""
    data = read_json(path)
    if data.get("layout") != LAYOUT or not isinstance(data.get("kernels"), list):
        raise HeddleError(f"{path} has no statistics of layout {LAYOUT}: it has {data.get('layout', 'none')}")
    return Results(data)


def compare(before: Results, after: Results, metric: str) -> Table:
    """A metric of the kernels of two runs: name, before, after, ratio."""
    rows = Table()
    older = {row["kernel"]: row for row in before.kernels}
    names: List[str] = [row["kernel"] for row in after.kernels if row["kernel"] in older]
    for row in after.kernels:
        if row["kernel"] in names:
            was, now = older[row["kernel"]].get(metric), row.get(metric)
            rows.append({"kernel": row["kernel"], "before": was, "after": now, "ratio": now / was if was and now else None})
    return rows
