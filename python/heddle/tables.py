"""Tables: lists of rows, each a dict by the names of columns."""
from __future__ import annotations

import csv
import io
from typing import Any, Callable, Dict, Iterable, List, Optional

Row = Dict[str, Any]


class Table(List[Row]):
    """A list of dicts. What a row does not have is None in columns, and empty in CSV."""

    @property
    def columns(self) -> List[str]:
        """The names of all columns, in the order in which rows first have them."""
        names: Dict[str, None] = {}
        for row in self:
            names.update(dict.fromkeys(row))
        return list(names)

    def column(self, name: str) -> List[Any]:
        """One column's values, row by row. KeyError if no row has it."""
        if self and not any(name in row for row in self):
            raise KeyError(name)
        return [row.get(name) for row in self]

    def select(self, *names: str) -> Table:
        """These columns alone, in this order."""
        return Table({name: row.get(name) for name in names} for row in self)

    def where(self, holds: Callable[[Row], bool]) -> Table:
        """The rows for which `holds(row)` is true."""
        return Table(row for row in self if holds(row))

    def to_csv(self, path: Optional[str] = None) -> str:
        """The table as CSV; also written to a file, if there is a path."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: "" if value is None else value for name, value in row.items()} for row in self)
        if path is not None:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text.getvalue())
        return text.getvalue()


def _cell(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text if text else None


def from_csv(lines: Iterable[str]) -> Table:
    """A table of lines of CSV, the first of which has the names. Cells that are numbers become numbers."""
    return Table({name: _cell(value or "") for name, value in row.items()} for row in csv.DictReader(lines))
