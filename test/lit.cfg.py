# How lit runs the tests of this tree: `lit build/test`, or the target check-heddle.
import ctypes
import glob
import os
import shutil
import sys

import lit.formats

config.name = "Heddle"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "Inputs", "CMakeLists.txt", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.heddle_build_dir, "test")
if "HEDDLE_MUTANT" in os.environ:  # faults write into folders of their own (test/mutants/run)
    config.test_exec_root = os.path.join(os.environ["TMPDIR"], "test")

# Our tools, and LLVM's under their plain names (Debian suffixes those in /usr/bin).
config.environment["PATH"] = os.pathsep.join(
    [config.heddle_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
for tool in ["heddle-opt", "heddle-run", "heddlec", "heddle-reduce", "heddle-translate", "heddle-lsp-server", "heddle-launch", "heddle-probe", "heddle-plan", "heddle-bench"]:
    path = os.path.join(config.heddle_tools_dir, tool)
    # Not as part of a path: the package test runs the installed tools.
    config.substitutions.append((rf"(?<![\w/.-]){tool}\b", path))
    if os.path.exists(path):
        config.available_features.add(tool)
for tool in ["FileCheck", "not", "count"]:
    config.substitutions.append((rf"(?<![\w/.-]){tool}(?![\w-])", os.path.join(config.llvm_tools_dir, tool)))

mpi = os.path.join(config.heddle_tools_dir, "..", "lib", "libheddle_collectives_mpi.so")
if os.path.exists(mpi) and shutil.which("mpirun"):
    config.available_features.add("mpi")
    config.substitutions.append((r"%\{mpirun\}", "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe"))

# A device for GPU code: the OpenCL runtime for CPUs that scripts/install-packages has put into the build folder, or what
# the system's loader finds.
opencl = os.environ.get("HEDDLE_OPENCL") or os.path.join(config.heddle_build_dir, "gpu", "lib", "libintelocl.so")
if os.path.exists(opencl):
    config.environment["HEDDLE_OPENCL"] = opencl
config.environment["HEDDLE_OPENCL_OPTIONS"] = "-cl-opt-disable"  # it compiles 20 times faster


def opencl_takes_spirv():
    """Whether the first device of the first platform takes SPIR-V."""
    try:
        library = ctypes.CDLL(config.environment.get("HEDDLE_OPENCL", "libOpenCL.so.1"))
    except OSError:
        return False
    platform, device, formats = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(1000)
    every, il_version = ctypes.c_ulonglong(0xFFFFFFFF), 0x105B
    return (
        library.clGetPlatformIDs(1, ctypes.byref(platform), None) == 0
        and library.clGetDeviceIDs(platform, every, 1, ctypes.byref(device), None) == 0
        and library.clGetDeviceInfo(device, il_version, len(formats), formats, None) == 0
        and b"SPIR-V" in formats.value
    )


if opencl_takes_spirv():
    config.available_features.add("opencl")
    if "intelocl" in opencl:
        config.available_features.add("shuffles")  # where it optimises
else:
    lit_config.note("no OpenCL device that takes SPIR-V, whose tests are skipped (scripts/install-packages gpu)")
# NVIDIA's assembler: the one of the build folder, which is pinned, or that of PATH. Only tests that name it use it.
folder = os.path.join(config.heddle_build_dir, "gpu", "lib", "python*", "site-packages", "nvidia", "cu*", "bin", "ptxas")
ptxas = os.environ.get("HEDDLE_PTXAS") or next(iter(glob.glob(folder)), "ptxas")
config.environment["HEDDLE_PTXAS"] = ""
config.substitutions.append((r"%\{ptxas\}", shutil.which(ptxas, path=config.environment["PATH"]) or ""))
for feature, needed in {
    "ptxas": [ptxas],
    "lld": ["ld.lld-22"],
    "spirv-val": ["spirv-val"],
    "oclgrind": ["oclgrind", "llvm-spirv-14", "spirv-dis", "spirv-as", "clang"],
}.items():
    if all(shutil.which(tool, path=config.environment["PATH"]) for tool in needed):
        config.available_features.add(feature)
    else:
        lit_config.note(f"tests that need {', '.join(needed)} are skipped ({feature})")

if shutil.which("mkdocs"):
    config.available_features.add("mkdocs")
if shutil.which("patch"):
    config.available_features.add("patch")

for name in ["fake", "old"]:
    library = os.path.join(config.heddle_build_dir, "test", "unit", "runtime", f"libheddle_{name}_opencl.so")
    config.substitutions.append((rf"%\{{{name}-opencl\}}", library))
expand_after = os.path.join(config.heddle_build_dir, "test", "unit", "transforms", "nd", "libheddle_expand_after.so")
config.substitutions.append(("%{expand-after}", expand_after))
config.substitutions.append(("%{lit}", config.lit))
config.substitutions.append(("%{tools}", config.heddle_tools_dir))
config.substitutions.append(("%{source}", config.heddle_source_dir))
config.substitutions.append(("%{clang-format}", os.path.join(config.llvm_tools_dir, "clang-format")))
config.substitutions.append(("%{mlir-tblgen}", os.path.join(config.llvm_tools_dir, "mlir-tblgen")))

# Tests that take long run on their own (`--param slow=1`).
slow = lit_config.params.get("slow")
if slow:
    config.available_features.add("slow")

# A test that hangs is killed after minutes and named. (`--timeout` overrides the limit in seconds.)
sys.path.append(os.path.join(config.test_source_root, "lit"))  # after psutil, if that is installed
lit_config.maxIndividualTestTime = 7200 if slow else 900

# Tests do not share caches with the user who runs them.
config.environment["HEDDLE_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
for variable in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "OMP_NUM_THREADS", "HEDDLE_MUTANT"]:
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
