"""A pass that does what a test says. Arguments: a file of words, one for each pass, and one in
which each pass writes its process id when it has begun."""

import os
import signal
import sys
from pathlib import Path

from warren_archiver.passes.shared_metrics import DIRECTORY, PASS, share_metrics


def main(words: Path, begun: Path) -> None:
    share_metrics(PASS, os.environ[DIRECTORY])
    from warren.metrics.archiver import ARCHIVER_BEHIND, ARCHIVER_ROWS, ARCHIVER_STALLED

    number = len(begun.read_text().splitlines()) if begun.exists() else 0
    given = words.read_text().split()
    word = given[number] if number < len(given) else "lasts"
    if word == "lasts":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    ARCHIVER_ROWS.labels("offsets").inc(10)
    ARCHIVER_BEHIND.labels("offsets").set(number)
    ARCHIVER_STALLED.labels("archive").set(5)
    with begun.open("a") as file:
        print(os.getpid(), file=file)
    match word:
        case "fails":
            print("warren-archiver: no broker answers", file=sys.stderr)
            sys.exit("what a JVM says as it ends")
        case "breaks":
            raise RuntimeError("a bug")
        case "wrong":
            print("warren-archiver: archiver.jars_dir: must be there", file=sys.stderr)
            sys.exit(2)
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "lasts":
            while True:
                signal.pause()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
