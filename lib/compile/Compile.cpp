//===- Compile.cpp - from a module to a program ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/Compile.h"

#include "dialects/nd/FunctionAttrs.h"

#include "lib/compile/CompileKernels.h"
#include "lib/compile/DescribeCode.h"
#include "lib/compile/Dump.h"
#include "lib/compile/Explain.h"
#include "lib/compile/ProgramCache.h"
#include "lib/compile/RunPasses.h"
#include "lib/compile/ShardingSection.h"
#include "lib/compile/Version.h"
#include "lib/conversion/nest_to_steps/AssignSpaces.h"
#include "lib/conversion/nest_to_steps/DistributeSteps.h"
#include "lib/conversion/nest_to_steps/PlanMemory.h"
#include "lib/conversion/nest_to_steps/PredictSteps.h"
#include "lib/target/CheckMemories.h"
#include "lib/transforms/mesh/roles/Roles.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace heddle;
using namespace mlir;

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

static std::string symbolOf(OutlinedEntry &entry) {
  return "entry." + entry.function.getName().str();
}

/// Lists the ranks of the entry's role.
static void addRole(Manifest &manifest, OutlinedEntry &entry) {
  auto role = mesh::Role::of(entry.function);
  if (!role || manifest.roleOf(entry.spec))
    return;
  RoleSpec &made = manifest.roles.emplace_back(RoleSpec{entry.spec.role, {}});
  auto isOf = [&](int64_t rank) {
    return llvm::all_of(llvm::enumerate(role->axes.axes), [&](auto axis) {
      return manifest.mesh.coordinate(rank, axis.value()) ==
             role->axes.coordinate(role->number, axis.index());
    });
  };
  for (int64_t rank = 0; rank < manifest.mesh.ranks(); ++rank)
    if (isOf(rank))
      made.ranks.push_back(int32_t(rank));
}

static FailureOr<ProgramImage> assemble(ModuleOp module, OutlinedProgram program,
                                        const ResolvedOptions &resolved,
                                        const CompileOptions &options,
                                        CompileStatistics &statistics, Explanation *explanation) {
  ProgramImage image;
  Manifest &manifest = image.manifest;
  resolved.target->describe(manifest);
  for (OutlinedEntry &entry : program.entries) {
    statistics.liveBytes += planMemory(entry);
    statistics.arenaBytes += entry.spec.arenaBytes;
    if (failed(checkSizes(entry)))
      return failure();
    establishPadding(program, entry);
    if (!resolved.target->sharesHostMemory())
      assignSpaces(entry, manifest.target);
  }
  keepDistinctKernels(program);
  predictSteps(program, resolved.timed);
  if (options.explainLayouts && failed(explainKernels(program.kernels, *resolved.target, options)))
    return failure();
  auto begin = Clock::now();
  auto kernels = compileKernels(program.kernels, *resolved.target, resolved.kept(), options);
  if (failed(kernels))
    return failure();
  statistics.kernelSeconds = secondsSince(begin);
  std::vector<Object> objects;
  llvm::StringSet<> shared; // several kernels may have the same object
  for (CompiledKernel &kernel : *kernels) {
    for (auto [i, object] : llvm::enumerate(kernel.code.objects))
      if (i == 0 || shared.insert(object.bytes).second)
        objects.push_back(std::move(object));
    statistics.cachedKernels += kernel.cached;
  }
  statistics.kernels = int(kernels->size());
  std::vector<StepCode> codes;
  for (auto [kernel, source] : llvm::zip_equal(*kernels, program.kernels))
    codes.push_back({kernel.symbol, kernel.code.chunks, kernel.code.scratchBytes, source.sizes,
                     source.seconds});
  std::vector<EntrySource> sources;
  for (OutlinedEntry &entry : program.entries) {
    distributeSteps(entry, codes, resolved.choices);
    if (failed(checkSizes(entry)))
      return failure();
    for (const StepSpec &step : entry.spec.steps) {
      statistics.serialSteps += step.serial;
      statistics.barriers += step.waits;
    }
    statistics.steps += int(entry.spec.steps.size());
    if (explanation)
      explanation->addSteps(entry, options.explainLayouts);
    sources.push_back(
        {entry.spec.name, symbolOf(entry), entry.function.getLoc(), entry.spec.steps});
  }
  auto entries = compileEntries(sources, *resolved.target, resolved.kept());
  if (failed(entries))
    return failure();
  std::move(entries->begin(), entries->end(), std::back_inserter(objects));
  auto block = resolved.target->link(std::move(objects));
  if (!block)
    return LogicalResult(module.emitError() << llvm::toString(block.takeError()));
  image.code = std::move(block->bytes);
  image.constants = std::move(program.constants);
  manifest.abiVersion = HEDDLE_ABI_VERSION;
  manifest.compilerVersion = compilerVersion();
  for (OutlinedEntry &entry : program.entries) {
    if (mesh::MeshAttr mesh = mesh::meshOf(entry.function))
      manifest.mesh = mesh.getSpec();
    addRole(manifest, entry);
    addShardings(image.shardings, entry.function, entry.spec);
    entry.spec.codeOffset = block->symbols.at(symbolOf(entry));
    manifest.entries.push_back(std::move(entry.spec));
  }
  manifest.functions = describeFunctions(*block, manifest.entries, program.kernels, *kernels);
  return image;
}

static LogicalResult dumpKernels(ModuleOp module, const Dump &dump, const OutlinedProgram &program,
                                 const Target &target, const CompileOptions &options) {
  for (auto [i, kernel] : llvm::enumerate(program.kernels)) {
    std::string name = "kernels/" + std::to_string(i) + "-" + kernel.name;
    llvm::replace(name, ' ', '-');
    if (failed(dump.write(module, name + ".mlir", kernel.source)))
      return failure();
    for (auto [form, ending] :
         {std::pair(KernelForm::Loops, ".loops.mlir"), std::pair(KernelForm::LlvmIr, ".ll"),
          std::pair(KernelForm::Assembly, ".s")}) {
      auto text = printKernel(kernel, target, options, form);
      if (failed(text) || failed(dump.write(module, name + ending, *text)))
        return failure();
    }
  }
  return success();
}

/// Runs all passes; sets `counted` except for the total seconds.
static FailureOr<ProgramImage> runPasses(ModuleOp module, const ResolvedOptions &resolved,
                                         const CompileOptions &options, const Dump &dump,
                                         CompileStatistics &counted) {
  auto begin = Clock::now();
  if (failed(dump.write(module, "0-input.mlir")) || failed(runNdPasses(module, options)) ||
      failed(dump.write(module, "1-nd.mlir")))
    return failure();
  if (options.check)
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() && counted.checks.empty())
        for (auto message :
             function->getAttrOfType<ArrayAttr>(nd::checksAttrName).getAsRange<StringAttr>())
          counted.checks.push_back(message.str());
  std::optional<Explanation> explanation;
  if (options.explainLayouts || !options.explainJson.empty() || !options.explainHtml.empty())
    explanation.emplace(resolved.timed, resolved.choices);
  if (failed(runNestPasses(module, options, resolved,
                           explanation ? explanation->listeners() : DecisionListeners())))
    return failure();
  if (dump.isWanted("2-nest.mlir")) {
    OwningOpRef<ModuleOp> spelled = module.clone();
    if (failed(restoreNames(*spelled)) || failed(dump.write(*spelled, "2-nest.mlir")))
      return failure();
  }
  bool show = explanation || dump.isWanted("3-scheduled.mlir");
  auto program = makeSteps(module, resolved, options, show);
  if (failed(program) || failed(dump.write(module, "3-scheduled.mlir")))
    return failure();
  counted.passSeconds = secondsSince(begin);
  if (dump.isWanted("kernels") &&
      failed(dumpKernels(module, dump, *program, *resolved.target, options)))
    return failure();
  auto image = assemble(module, std::move(*program), resolved, options, counted,
                        explanation ? &*explanation : nullptr);
  if (failed(image) ||
      (explanation &&
       failed(explanation->write(module, options.explainJson, options.explainHtml))) ||
      (dump.isWanted("4-manifest.json") &&
       failed(dump.write(module, "4-manifest.json", image->manifest.toJson()))) ||
      (dump.isWanted("5-program.heddle") &&
       failed(dump.write(module, "5-program.heddle", image->bytes()))))
    return failure();
  return image;
}

/// Writes the mesh and the shardings to the module, so that the program's cache key includes them,
/// and warnings about rules are emitted each time. Returns the options of the other passes.
static FailureOr<CompileOptions> statePlan(ModuleOp module, const CompileOptions &options) {
  CompileOptions others = options;
  others.recordShardings = true;
  if (options.mesh.empty() && options.shard.empty() && options.plan.empty())
    return others;
  PassManager passes(module.getContext());
  addPlanPass(passes, options);
  if (failed(passes.run(module)))
    return failure();
  others.mesh.clear();
  others.shard.clear();
  others.plan.clear();
  return others;
}

/// Whether the passes must run even if the cache has the program, because a user inspects them.
static bool mustRun(const CompileOptions &options, const Dump &dump) {
  return dump.isOn() || options.explainLayouts || options.printAfterChange ||
         !(options.reproducer + options.explainJson + options.explainHtml).empty();
}

FailureOr<ProgramImage> heddle::compileProgram(ModuleOp module, const CompileOptions &given,
                                               CompileStatistics *statistics) {
  auto begin = Clock::now();
  CompileStatistics counted;
  Dump dump(module, given.dumpDirectory);
  FailureOr<CompileOptions> stated = statePlan(module, given); // also the links of the machine
  if (failed(stated))
    return failure();
  auto resolved = resolveOptions(module, given);
  if (failed(resolved) || failed(checkMemories(module, *resolved->target, given.explainLayouts)))
    return failure();
  const CompileOptions &options = *stated;
  std::string key;
  std::optional<ProgramImage> image;
  if (resolved->cache && !mustRun(options, dump)) {
    key = programKey(module, options, resolved->machine, resolved->timed.facts, *resolved->target);
    image = findProgram(*resolved->cache, key, counted);
  }
  if (!image) {
    bool isSilent = true; // a cached program would not repeat warnings
    ScopedDiagnosticHandler heard(module.getContext(), [&](Diagnostic &) {
      isSilent = false;
      return failure(); // passes it on
    });
    auto made = runPasses(module, *resolved, options, dump, counted);
    if (failed(made))
      return failure();
    image = std::move(*made);
    if (!key.empty() && isSilent)
      storeProgram(*resolved->cache, key, *image, counted);
  }
  counted.codeBytes = int64_t(image->code.size());
  counted.constantBytes = int64_t(image->constants.size());
  counted.seconds = secondsSince(begin);
  if (statistics)
    *statistics = counted;
  return std::move(*image);
}

std::string CompileStatistics::str() const {
  return llvm::formatv(
             "{0} steps ({1} serial, {2} barriers), {3} kernels ({4} cached), {5} bytes of "
             "code, {6} of constants, arena {7} (at least {8}), {9:f3} s (passes {10:f3} s, "
             "kernels {11:f3} s)",
             steps, serialSteps, barriers, kernels, cachedKernels, codeBytes, constantBytes,
             arenaBytes, liveBytes, seconds, passSeconds, kernelSeconds)
      .str();
}
