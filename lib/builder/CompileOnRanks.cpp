//===- CompileOnRanks.cpp - one program for all ranks ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/CompileOnRanks.h"

#include "lib/compile/ProgramCache.h"
#include "lib/pipelines/Extension.h"
#include "lib/transforms/names/GraphHash.h"
#include "runtime/control/OncePerHost.h"
#include "runtime/device/CpuFeatures.h"
#include "runtime/device/ThreadCount.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace heddle;
using namespace heddle::detail;

namespace {
/// The message that each rank sends to the others before the program is compiled.
struct Announcement {
  std::string program; ///< a hash of the program and its options
  std::string machine; ///< the properties of this CPU on which code depends
  uint64_t threads = 1;
  MachineFile measured; ///< on rank 0
  std::vector<std::string> features;

  std::string pack() const {
    BodyWriter body;
    body.text(program)
        .text(machine)
        .number(threads)
        .text(measured.path)
        .text(measured.text)
        .text(measured.error);
    for (const std::string &feature : features)
      body.text(feature);
    return body.take();
  }
  static Announcement parse(std::string_view said) {
    BodyReader body(said);
    Announcement result;
    result.program = body.text();
    result.machine = body.text();
    result.threads = body.number();
    result.measured.path = body.text();
    result.measured.text = body.text();
    result.measured.error = body.text();
    while (!body.isAtEnd())
      result.features.push_back(body.text());
    return result;
  }
};
} // namespace

/// The text of a program, which does not depend on the numbers of `fresh`.
static std::string contentsOf(ModuleOp module) {
  mlir::OwningOpRef<ModuleOp> copy = module.clone();
  renumberFresh(*copy);
  std::string text;
  llvm::raw_string_ostream stream(text);
  copy->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return text;
}

static std::string keyOf(ModuleOp module, const CompileOptions &options) {
  std::string text = contentsOf(module);
  llvm::raw_string_ostream out(text);
  out << "|" << options.targetCpu << "|" << options.assignLayouts << "|" << options.check << "|"
      << (options.products ? spelling(*options.products) : "") << "|" << options.mesh << "|"
      << llvm::join(options.shard, "|") << "|" << llvm::join(options.fastMath, "|");
  for (const auto &extension : options.extensions)
    out << "|" << extension->key;
  return KernelCache::keyOf(text);
}

static std::string machineText(const CompileOptions &options) {
  auto target = findTarget(options.targetCpu);
  if (!target)
    throw Error(llvm::toString(target.takeError()));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nest::NestDialect>();
  std::string text = (*target)->key() + "|";
  llvm::raw_string_ostream(text) << (*target)->machine(&context, /*threads=*/1);
  return text;
}

static std::vector<std::string> commonFeatures(const std::vector<Announcement> &all) {
  std::vector<std::string> common = all[0].features;
  for (const Announcement &each : all)
    llvm::erase_if(common, [&](const std::string &feature) {
      return !llvm::is_contained(each.features, feature);
    });
  return common;
}

/// Throws on all ranks if a rank's CPU lacks a feature that the program needs.
static void requireThatAllCanRun(const ProgramImage &image, const std::vector<Announcement> &all,
                                 const std::vector<Member> &members, const std::string &name) {
  std::set<std::string> known; // features of instruction sets, without tuning flags
  for (const Announcement &each : all)
    known.insert(each.features.begin(), each.features.end());
  for (auto [rank, each] : llvm::enumerate(all))
    for (const std::string &needed : image.manifest.features)
      if (known.contains(needed) && !llvm::is_contained(each.features, needed))
        throw Error("'" + name + "' is compiled for CPUs with " + needed + ", which the CPU of " +
                    members[rank].describe() + " lacks");
}

/// All ranks use rank 0's facts.
static MachineFile measuredOn(const Job &job, const CompileOptions &options) {
  return job.rank() != 0   ? MachineFile()
         : options.machine ? *options.machine
                           : MachineFile::ofEnvironment();
}

ProgramImage heddle::detail::compileOnRanks(Job &job, const std::string &name, ModuleOp module,
                                            const CompileOptions &options,
                                            CompileStatistics &statistics,
                                            const CompileForRank &compile) {
  if (!job.channel())
    return compile(options, statistics);
  std::string what = "compiling '" + name + "'";
  uint64_t threads = uint64_t(options.programThreads > 0 ? options.programThreads : usualThreads());
  std::vector<Announcement> all;
  for (const std::string &said :
       job.exchange(what, Announcement{keyOf(module, options), machineText(options), threads,
                                       measuredOn(job, options), cpuFeatures()}
                              .pack()))
    all.push_back(Announcement::parse(said));
  const std::vector<Member> &members = job.channel()->members();
  CompileOptions agreed = options;
  agreed.programThreads = int(all[0].threads);
  agreed.machine = all[0].measured;
  for (auto [rank, each] : llvm::enumerate(all)) {
    if (each.program != all[0].program)
      throw Error(members[rank].describe() + " compiles another program or other options as '" +
                  name + "' than " + members[0].describe());
    if (each.machine == all[0].machine)
      continue;
    if (commonFeatures(all).empty())
      throw Error(members[rank].describe() + " has another CPU than " + members[0].describe() +
                  "; expected a target CPU that fits both (JitOptions::targetCpu, --target-cpu)");
    agreed.targetCpu = targetWith(commonFeatures(all));
  }
  bool compiles = false;
  CompileStatistics counted;
  std::string bytes = oncePerHost(job, what, [&] {
    compiles = true;
    ProgramImage image = compile(agreed, counted);
    return packProgram(image, counted);
  });
  CompileStatistics loaded;
  std::optional<ProgramImage> image = unpackProgram(bytes, loaded);
  if (!image)
    throw Error("the program '" + name + "' that another rank has compiled is damaged");
  statistics = compiles ? counted : loaded;
  requireThatAllCanRun(*image, all, members, name);
  return std::move(*image);
}
