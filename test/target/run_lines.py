"""The RUN lines of a program that compare its values with those of the interpreter."""
import re
import shlex


def compared(path, dropped):
    """The words behind `heddle-run FILE` of each, up to a pipe or a redirection. `dropped`: flags that are left out, and how many
    words each of them takes."""
    found = []
    for line in re.findall(r"RUN: heddle-run %s (.*--compare.*)", path.read_text()):
        words = shlex.split(re.split(r"2?>|\||&&", line)[0].replace("%s", str(path)).replace("%S", str(path.parent)))
        kept = []
        while words:
            count = dropped.get(words[0], 0)
            kept += words[:1] if not count else []
            words = words[max(count, 1):]
        found.append(kept)
    return found
