//===- ProgramCache.cpp - compiled programs on disk -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/ProgramCache.h"

#include "lib/compile/CompileKernels.h"
#include "lib/compile/Version.h"

#include "llvm/Support/JSON.h"

using namespace heddle;
using namespace mlir;

std::string heddle::programKey(ModuleOp module, const CompileOptions &options,
                               nest::MachineAttr machine, nest::MachineAttr timed,
                               const Target &target) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, OpPrintingFlags().enableDebugInfo().assumeVerified());
  out << "|" << machine << "|" << target.key() << "|" << options.assignLayouts << options.check
      << "|" << (options.products ? spelling(*options.products) : "");
  for (const std::string &word : options.fastMath)
    out << "|" << word;
  out << "|" << timed << "|" << passesVersion();
  return "p_" + cacheKey(text, options.extensions);
}

/// The numbers of `statistics` and their names in the cache.
template <typename Visit>
static void forEachNumber(CompileStatistics &statistics, Visit visit) {
  visit("steps", statistics.steps);
  visit("serial", statistics.serialSteps);
  visit("barriers", statistics.barriers);
  visit("kernels", statistics.kernels);
  visit("arena", statistics.arenaBytes);
  visit("live", statistics.liveBytes);
}

std::string heddle::packProgram(const ProgramImage &image, const CompileStatistics &statistics) {
  llvm::json::Object object{{"checks", llvm::json::Array(statistics.checks)}};
  CompileStatistics counted = statistics;
  forEachNumber(counted, [&](const char *name, auto &number) { object[name] = int64_t(number); });
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object)) << "\n";
  return text + image.bytes();
}

std::optional<ProgramImage> heddle::unpackProgram(StringRef text, CompileStatistics &statistics) {
  auto [line, bytes] = text.split('\n');
  std::optional<llvm::json::Value> value = llvm::expectedToOptional(llvm::json::parse(line));
  if (!value)
    return std::nullopt;
  const llvm::json::Object *numbers = value->getAsObject();
  const llvm::json::Array *checks = numbers ? numbers->getArray("checks") : nullptr;
  std::optional<ProgramImage> image = ProgramImage::parseIfValid(bytes);
  if (!checks || !image)
    return std::nullopt;
  forEachNumber(statistics, [&](const char *name, auto &number) {
    number = std::decay_t<decltype(number)>(numbers->getInteger(name).value_or(0));
  });
  statistics.cachedKernels = statistics.kernels;
  for (const llvm::json::Value &check : *checks)
    statistics.checks.push_back(check.getAsString().value_or("").str());
  return image;
}

std::optional<ProgramImage> heddle::findProgram(const KernelCache &cache, const std::string &key,
                                                CompileStatistics &statistics) {
  std::optional<std::string> found = cache.find(key);
  return found ? unpackProgram(*found, statistics) : std::nullopt;
}

void heddle::storeProgram(const KernelCache &cache, const std::string &key,
                          const ProgramImage &image, const CompileStatistics &statistics) {
  cache.store(key, packProgram(image, statistics));
}
