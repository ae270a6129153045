"""What Spark remembers of the query of silver: how far it has read the table of events."""

import json

from pyspark.sql import SparkSession

from warren_archiver.lake.small_files import SmallFiles


class Checkpoint:
    """Of a query that does not run now; what is done can be asked for while it runs."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._path = path
        self._files = SmallFiles(spark, path)

    def goes_on_at(self) -> int | None:
        """The version that is read next; None before anything was."""
        done = self.newest("commits")
        batch = self.newest() if done < 0 else done
        return None if batch < 0 else int(json.loads(self._read(batch)[-1])["reservoirVersion"])

    def begun(self) -> bool:
        """Whether a batch was begun that is not done."""
        return self.newest() > self.newest("commits")

    def is_whole(self) -> bool:
        """Whether all can be read that Spark reads when the query starts: what is half-written, as
        by a backup or a full disk, would end it each time."""
        begun, done = self._numbers("offsets"), self.newest("commits")
        try:
            is_known = self._files.exists(metadata := f"{self._path}/metadata") and bool(
                json.loads(self._files.read(metadata))["id"]
            )
            if not begun:
                return done < 0
            for number in {max(begun[-1] - 1, 0), begun[-1]}:
                if number not in begun:
                    return False
                _, about, *sources = self._read(number)
                if len([json.loads(about)["batchTimestampMs"], *map(json.loads, sources)]) < 2:
                    return False
            if done >= 0:
                json.loads(self._files.read(f"{self._path}/commits/{done}").splitlines()[1])
            return is_known
        except (ValueError, LookupError, TypeError):
            return False

    def has_read_another(self, table_id: str, newest: int) -> bool:
        """Whether the table had another id, or the query has come further than its newest
        version."""
        if self.newest() < 0:
            return False
        offset = json.loads(self._read(self.newest())[-1])
        # Where all was read, the version that comes next is noted.
        return bool(offset["reservoirId"] != table_id or offset["reservoirVersion"] > newest + 1)

    def delete(self) -> None:
        """The query begins anew. What is left of it where that is killed is not whole."""
        self._files.delete(f"{self._path}/metadata")
        self._files.delete(self._path)

    def newest(self, of: str = "offsets") -> int:
        """Number of the last batch that was begun, or is done ("commits"); -1 for none."""
        return max(self._numbers(of), default=-1)

    def _numbers(self, of: str) -> list[int]:
        """Of batches, in order."""
        return self._files.numbers(f"{self._path}/{of}")

    def _read(self, batch: int) -> list[str]:
        return self._files.read(f"{self._path}/offsets/{batch}").splitlines()
