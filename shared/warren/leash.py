"""Runs a command that dies when its parent does, even when that one is killed with -9.

Run as a file: `python -I -S leash.py <parent pid> <command> <arguments…>`. It asks the kernel for
the signal (Linux; elsewhere the stale-process check of the next start has to do) and then becomes
the command, so that no process of its own remains. Only the standard library: it starts in 20 ms.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>; survives exec


def leashed(command: list[str]) -> list[str]:
    """The command that runs it so. The kernel ties it to the thread that starts it: one that lives
    as long as the process should.
    """
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def main() -> None:
    parent = int(sys.argv[1])
    command = sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the request was made
            sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
