"""Runs every bench_*.py beside this file and prints one table. `--json` prints the rows; names select files."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def show(rows: list[dict[str, Any]]) -> None:
    """The rows as a table of text."""
    titles = ("work", "ours", "peer", "unit", "ours/peer", "target", "note")
    table = [titles]
    for row in rows:
        cells = (row["name"], number(row["ours"]), number(row["peer"]), row.get("unit", ""), number(row["ratio"]))
        table.append((*cells, str(row["target"]), row.get("note", "")))
    widths = [max(len(line[i]) for line in table) for i in range(len(titles))]
    for index, line in enumerate(table):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        if index == 0:
            print("  ".join("-" * width for width in widths))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="such as engine for bench_engine.py; all by default")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    sys.path.insert(0, str(FOLDER))
    found = sorted(path.stem for path in FOLDER.glob("bench_*.py"))
    chosen = [f"bench_{name.removeprefix('bench_')}" for name in options.names] or found
    unknown = sorted(set(chosen) - set(found))
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)} (there are: {', '.join(found)})")
    rows: list[dict[str, Any]] = []
    failed = False
    for name in chosen:
        try:
            rows += importlib.import_module(name).run()
        except Exception:  # one that breaks does not take the others' figures away
            traceback.print_exc()
            failed = True
    if options.json:
        print(json.dumps({"version": 1, "rows": rows}, indent=1))
    else:
        show(rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
