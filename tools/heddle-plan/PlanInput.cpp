//===- PlanInput.cpp - what commands read and write -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanInput.h"

#include "lib/pipelines/Pipelines.h"
#include "runtime/base/AtomicFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <atomic>
#include <csignal>

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

bool heddle::fail(const Twine &what) {
  llvm::WithColor::error(llvm::errs(), "heddle-plan") << what << "\n";
  return false;
}

std::string heddle::milliseconds(int64_t picoseconds) {
  return llvm::formatv("{0:f3} ms", double(picoseconds) * 1e-9).str();
}

bool heddle::writeText(const std::string &path, const std::string &text) {
  if (path == "-") {
    llvm::outs() << text;
    return true;
  }
  std::string reason = writeAtomically(path, text);
  return reason.empty() || fail(reason);
}

std::function<bool()> heddle::untilInterrupted() {
  static std::atomic<bool> isStopped = false;
  std::signal(SIGINT, [](int) { isStopped = true; });
  return [] { return isStopped.load(); };
}

static const DialectRegistry &registry() {
  static DialectRegistry dialects;
  registerCompilerDialects(dialects);
  return dialects;
}

PlanInput::PlanInput(const PlanOptions &options) : module(registry()), options(options) {}

bool PlanInput::read() {
  auto file = llvm::MemoryBuffer::getFile(options.topology);
  if (!file)
    return fail("can't read the topology '" + options.topology + "': " + file.getError().message());
  std::string problem;
  auto read = parseTopology((*file)->getBuffer().str(), options.topology, problem);
  if (!read)
    return fail(problem);
  topology = std::move(*read);
  return module.read(options.input) && findEntry();
}

bool PlanInput::findEntry() {
  std::vector<std::string> names;
  for (auto function : module.get().getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      names.push_back(function.getName().str());
  if (options.entry.empty() && names.size() == 1)
    entry = names[0];
  else if (llvm::is_contained(names, options.entry))
    entry = options.entry;
  else
    return fail("expected --entry with one of the functions " + llvm::join(names, ", ") +
                (options.entry.empty() ? "" : ", got '" + options.entry + "'"));
  for (auto function : llvm::make_early_inc_range(module.get().getOps<func::FuncOp>()))
    if (function.isPublic() && function.getName() != entry)
      function.setPrivate();
  return true;
}
