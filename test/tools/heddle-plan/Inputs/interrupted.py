"""Starts a command that searches, sends it Ctrl-C after its first line, and prints the file that it then writes.
Usage: interrupted.py FILE COMMAND ..."""
import pathlib
import signal
import subprocess
import sys

path, *command = sys.argv[1:]
with subprocess.Popen([*command, "-o", path], stdout=subprocess.PIPE, text=True) as running:
    running.stdout.readline()
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=100)
print(f"status {running.returncode}")
print(pathlib.Path(path).read_text(), end="")
