//===- heddle-probe.cpp - measures a machine ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/Progress.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/device/CpuFeatures.h"
#include "runtime/device/ThreadCount.h"
#include "tools/CompileFlags.h"
#include "tools/heddle-probe/Measure.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/TargetParser/Host.h"

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  CLI::App app("Measures this machine and writes the facts that predicted times need. Nothing else "
               "should run meanwhile. The compiler reads the file that $HEDDLE_MACHINE names.",
               "heddle-probe");
  std::string output = "-";
  double seconds = 15;
  int threads = 0;
  app.footer("Example:\n  heddle-probe -o machine.json && export HEDDLE_MACHINE=$PWD/machine.json");
  app.set_version_flag("--version", heddle::compilerVersion());
  heddle::sayPlainly(app);
  app.add_option("-o,--output", output, "Output file; -: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--seconds", seconds, "About how long to measure, at most 50")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 50.0).description(""));
  app.add_option("--threads", threads, "Threads that measure together; 0: all cores")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""));
  CLI11_PARSE(app, argc, argv);
  return heddle::runTool("heddle-probe", [&] {
    using namespace heddle;
    Progress progress("measuring", probe::measurements, /*enabled=*/true);
    probe::Caches caches{cacheBytes(1, 32 << 10), cacheBytes(2, 1 << 20), cacheBytes(3, 16 << 20)};
    auto measured = probe::measure(threads > 0 ? threads : usualThreads(), caches, seconds,
                                   [&] { progress.advance(); });
    progress.finish();
    std::string text = measured.json(llvm::sys::getHostCPUName().str());
    if (output == "-") {
      llvm::outs() << text;
      return 0;
    }
    if (std::string reason = writeAtomically(output, text); !reason.empty())
      throw Error(reason);
    return 0;
  });
}
