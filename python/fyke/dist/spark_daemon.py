"""The process that forks Spark's Python workers: `spark.python.daemon.module=fyke.dist.spark_daemon`.

It is `pyspark.daemon` with PySpark as pip installed it, not from the archives that Spark puts first in
the path. Python reads the directories of the archives again, for each package, before each task, which
takes longer than a small task. Workers must have PySpark installed.
"""

import sys


def _leave_archives_out() -> None:
    """Removes the archives of Spark from the path."""
    archives = (".jar", ".zip")
    sys.path[:] = [entry for entry in sys.path if not entry.endswith(archives)]
    for entry in list(sys.path_importer_cache):
        if any(kind in entry for kind in archives):
            del sys.path_importer_cache[entry]


if __name__ == "__main__":
    _leave_archives_out()
    from pyspark import daemon

    daemon.manager()
