"""One scan over many objects, divided into tasks that run anywhere.

    python -m fyke.dist scan --engine local --patterns words.txt FOLDER -o matches.parquet
    python -m fyke.dist count --engine local --patterns words.txt FOLDER -o counts.parquet

A task is a range of an object, and owns the matches that end in it. So any division gives the same
rows: none is lost, none comes twice. pyarrow reads files and writes the rows, obstore reads objects
of stores. An engine runs the tasks: `local`, `ray` or `spark`, each a module.
"""

from fyke.dist.listed import ChangedError
from fyke.dist.plan import Plan, ScanTask, make_plan

__all__ = ["ChangedError", "Plan", "ScanTask", "make_plan"]
