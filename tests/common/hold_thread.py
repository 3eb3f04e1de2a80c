#!/usr/bin/python3
"""Holds one thread of a process for a test, as a disk that hangs holds a writer: inside a call of the system.

    /usr/bin/python3 tests/common/hold_thread.py PID THREAD_NAME

Prints "held" on one line of standard output once the thread is held, and lets it go when standard input ends. Uses
ptrace on that thread alone; the others run on.
"""

import ctypes
import os
import pathlib
import sys

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WAIT_FOR_THREADS = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, thread):
    if libc.ptrace(request, thread, None, None) != 0:
        number = ctypes.get_errno()
        sys.exit(f"ptrace of thread {thread}: {os.strerror(number)}")


def find(process, name):
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        # Names are cut off at 15 characters.
        if (task / "comm").read_text().strip() == name[:15]:
            return int(task.name)
    sys.exit(f"process {process} has no thread {name}")


def hold(process, thread):
    """Stops the thread outside of its own code, where it may hold a lock that a disk would not keep it from giving back."""
    while True:
        ptrace(SEIZE, thread)
        ptrace(INTERRUPT, thread)
        os.waitpid(thread, WAIT_FOR_THREADS)
        if not pathlib.Path(f"/proc/{process}/task/{thread}/syscall").read_text().startswith("-1"):
            return
        ptrace(DETACH, thread)


def main():
    process, name = int(sys.argv[1]), sys.argv[2]
    thread = find(process, name)
    hold(process, thread)
    print("held", flush=True)
    sys.stdin.read()
    ptrace(DETACH, thread)


if __name__ == "__main__":
    main()
