"""Which processes still run, whoever started them."""

from collections.abc import Iterable

import psutil


def still_running(processes: Iterable[psutil.Process | int]) -> list[psutil.Process]:
    """Without the dead ones for which nobody has waited.

    An orphan's exit code is for the machine's first process to fetch: when it does is no matter
    of the test's, and in a container it may be never.
    """
    found = []
    for process in processes:
        try:
            known = psutil.Process(process) if isinstance(process, int) else process
            if known.is_running() and known.status() != psutil.STATUS_ZOMBIE:
                found.append(known)
        except psutil.NoSuchProcess:
            continue
    return found


def spark_jvm() -> psutil.Process:
    """The one that Spark has started for this process, beside which a broker's may run."""
    children = psutil.Process().children()
    (found,) = (
        each for each in children if "org.apache.spark.deploy.SparkSubmit" in each.cmdline()
    )
    return found
