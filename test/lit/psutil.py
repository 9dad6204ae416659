"""The part of psutil that lit needs, for systems without it: to kill a test that takes too long and
its child processes (lit.util.killProcessAndChildren)."""
import os
import signal


class NoSuchProcess(Exception):
    pass


def _parents():
    """The parent of each visible process."""
    result = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat:
                    # The name of a program may contain spaces and brackets.
                    result[int(name)] = int(stat.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
    return result


class Process:
    def __init__(self, pid):
        self.pid = pid

    def children(self, recursive=True):
        parents, found = _parents(), [self.pid]
        for pid in found:  # grows
            found += [child for child, parent in parents.items() if parent == pid]
        return [Process(pid) for pid in found[1:]]

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            raise NoSuchProcess()
