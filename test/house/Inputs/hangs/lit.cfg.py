# Run by limit.test with a limit of its own.
import os
import sys
import tempfile

import lit.formats

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "..", "lit"))
config.name = "hangs"
config.suffixes = [".test"]
config.test_format = lit.formats.ShTest()
config.test_exec_root = tempfile.mkdtemp()
