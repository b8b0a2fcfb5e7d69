"""Runs a command for as long as standard input is open.

The command and all that it starts share one process group. When whoever
started this ends, in whatever way, the pipe closes and the whole group is
killed: an emulator must not outlive its user, nor leave functions behind.
"""

import os
import signal
import subprocess
import sys
import threading


def end(*_):
    os.killpg(0, signal.SIGKILL)


def end_with_input():
    while os.read(0, 1024):
        pass
    end()


def main():
    if os.getpgrp() != os.getpid():
        os.setpgrp()
    signal.signal(signal.SIGTERM, end)
    threading.Thread(target=end_with_input, daemon=True).start()
    status = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL).wait()
    # What the command left behind ends with it; we have a status to report.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
