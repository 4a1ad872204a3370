"""One scan over many objects, divided into tasks that run anywhere.

    python -m fyke.dist scan --engine local --patterns words.txt FOLDER -o matches.parquet

A task is a range of an object, and owns the matches that end in it. So any division gives the same
rows: none is lost, none comes twice. pyarrow reads the objects and writes the rows.
"""

from fyke.dist.plan import ChangedError, Plan, ScanTask, make_plan

__all__ = ["ChangedError", "Plan", "ScanTask", "make_plan"]
