//===- Compile.cpp - from a module to a program ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/Compile.h"

#include "dialects/nd/FunctionAttrs.h"
#include "lib/cost/Adjustment.h"

#include "lib/conversion/nest_to_steps/InsertCopies.h"
#include "lib/conversion/nest_to_steps/Outline.h"
#include "lib/conversion/nest_to_steps/PlanMemory.h"
#include "lib/conversion/nest_to_steps/PlanSteps.h"
#include "lib/conversion/nest_to_steps/PredictSteps.h"
#include "lib/pipelines/Cache.h"
#include "lib/pipelines/DescribeCode.h"
#include "lib/pipelines/Dump.h"
#include "lib/pipelines/Explain.h"
#include "lib/pipelines/Extension.h"
#include "lib/pipelines/Kernels.h"
#include "lib/pipelines/Memories.h"
#include "lib/pipelines/ProgramCache.h"
#include "lib/pipelines/Shardings.h"
#include "lib/pipelines/Signature.h"
#include "lib/pipelines/Version.h"
#include "lib/transforms/mesh/roles/Roles.h"
#include "lib/transforms/mesh/transfers/Transfers.h"
#include "lib/transforms/nd/NeutralNames.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <thread>

using namespace heddle;
using namespace mlir;

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

namespace {
/// Information that is known before the compilation.
struct Setting {
  std::shared_ptr<const Target> target;
  nest::MachineAttr machine; ///< as the target and the user state it: of code, and of cache keys
  nest::MachineAttr facts;   ///< of these, those that the user states; may be null
  nest::MachineAttr stated;  ///< for passes: without the number of threads
  cost::Machine choices;     ///< the same for schedules and steps, as extensions adjust it
  cost::Machine timed;       ///< for predicted times, which affect no code
  std::optional<KernelCache> cache;

  const KernelCache *kept() const { return cache ? &*cache : nullptr; }
};

} // namespace

/// The module's attribute `heddle.machine` overrides facts of the target.
static LogicalResult readFacts(ModuleOp module, Setting &setting) {
  Attribute given = module->getAttr(machineAttrName);
  if (!given)
    return success();
  setting.facts = dyn_cast<nest::MachineAttr>(given);
  if (!setting.facts)
    return module.emitError() << "expected #nest.machine as 'heddle.machine', got " << given;
  // A module can't enable an instruction that the machine lacks.
  for (NamedAttribute fact : setting.facts.getValues()) {
    StringRef name = fact.getName();
    if (name.starts_with("has_") && setting.facts.integer(name, 0) &&
        !setting.machine.integer(name, 0))
      return module.emitError() << "expected '" << name << "' to be 0 in 'heddle.machine', as the "
                                << "target has none, got " << setting.facts.integer(name, 0);
  }
  setting.machine = cost::withFacts(setting.machine, setting.facts);
  return success();
}

/// The machine facts on which choices may depend: all but the number of threads, so that the order
/// of additions does not depend on it.
static nest::MachineAttr machineOfOneThread(const Setting &setting) {
  MLIRContext *context = setting.machine.getContext();
  return cost::withFacts(setting.target->machine(context, /*threads=*/1), setting.facts);
}

/// The machine for predicted times: its rates may be measured.
static FailureOr<nest::MachineAttr> machineForTimes(ModuleOp module, const Setting &setting,
                                                    const CompileOptions &options) {
  MachineFile file = options.machine ? *options.machine : MachineFile::ofEnvironment();
  if (!file.error.empty())
    return module.emitError() << file.error, failure();
  MachineFacts measured;
  MachineFileError error;
  if (!file.path.empty()) {
    auto parsed = parseMachineFile(file.text, error);
    if (!parsed)
      return emitError(FileLineColLoc::get(module.getContext(), file.path, error.line, 1))
                 << error.message,
             failure();
    measured = std::move(*parsed);
  }
  return cost::withFacts(setting.target->machineForTimes(module.getContext(), measured),
                         setting.facts);
}

static FailureOr<Setting> prepare(ModuleOp module, const CompileOptions &options) {
  if (llvm::none_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
        return function.isPublic() && !function.isExternal();
      }))
    return module.emitError() << "the module has no public function to compile", failure();
  cost::setAdjustments(module.getContext(), {options.extensions.begin(), options.extensions.end()});
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() && failed(checkSignature(function)))
      return failure();
  auto target = findTarget(options.targetCpu);
  if (!target)
    return module.emitError() << llvm::toString(target.takeError()), failure();
  int threads = options.programThreads > 0 ? options.programThreads
                                           : std::max(1, int(std::thread::hardware_concurrency()));
  nest::MachineAttr machine = (*target)->machine(module.getContext(), threads);
  Setting setting{std::move(*target), machine, {}, {}, {}, {}, {}};
  if (failed(readFacts(module, setting)))
    return failure();
  auto timed = machineForTimes(module, setting, options);
  if (failed(timed))
    return failure();
  setting.timed = cost::Machine::of(cost::adjusted(*timed));
  setting.stated = machineOfOneThread(setting);
  setting.choices = cost::Machine::of(cost::adjusted(setting.stated));
  // An extension without a key could change what is cached under the keys of others.
  auto hasKey = [](const auto &extension) { return !extension->key.empty(); };
  if (options.useCache && llvm::all_of(options.extensions, hasKey))
    setting.cache.emplace(options.cacheDirectory);
  return setting;
}

/// If the caller inspects passes, runs and verifies them one by one. Otherwise verifies the module
/// only at the end of a pipeline, since verification takes as long as a pass.
static void observe(PassManager &passes, const CompileOptions &options) {
  MLIRContext *context = passes.getContext();
  bool isWatched = options.printAfterChange || !options.reproducer.empty();
  passes.enableVerifier(isWatched || !options.extensions.empty());
  if (isWatched)
    context->disableMultithreading();
  if (options.printAfterChange)
    passes.enableIRPrinting([](Pass *, Operation *) { return false; },
                            [](Pass *, Operation *) { return true; });
  if (!options.reproducer.empty())
    passes.enableCrashReproducerGeneration(options.reproducer);
}

static LogicalResult runNdPasses(ModuleOp module, const CompileOptions &options) {
  PassManager passes(module.getContext());
  observe(passes, options);
  buildNdPipeline(passes, options);
  return failure(failed(passes.run(module)) || failed(verify(module)));
}

/// While passes run, the module states all facts of its machine.
static LogicalResult runNestPasses(ModuleOp module, const CompileOptions &options,
                                   const Setting &setting, Explanation *explanation = nullptr) {
  module->setAttr(machineAttrName, setting.stated);
  llvm::scope_exit restored([&] {
    setting.facts ? module->setAttr(machineAttrName, setting.facts)
                  : void(module->removeAttr(machineAttrName));
  });
  SpelledDiagnostics spelled(module);
  PassManager passes(module.getContext());
  observe(passes, options);
  buildNestPipeline(passes, options, /*restoreNames=*/false, explanation);
  buildStepPipeline(passes);
  return failure(failed(passes.run(module)) || failed(verify(module)));
}

static LogicalResult restoreNames(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(nd::createNdRestoreNamesPass());
  return passes.run(module);
}

/// Schedules the distinct kernels, restores the users' names and converts the nests to steps. If
/// `show`, schedules become attributes of the nests.
static FailureOr<OutlinedProgram> makeSteps(ModuleOp module, const Setting &setting,
                                            const CompileOptions &options, bool show) {
  insertCopies(module);
  OutlinedKernels outlined = outlineKernels(module, cost::withoutRates(setting.facts));
  scheduleKernels(module, outlined, setting.choices, setting.timed, show ? nullptr : setting.kept(),
                  options);
  if (show)
    showSchedules(outlined);
  if (failed(restoreNames(module)))
    return failure();
  return outline(module, std::move(outlined.kernels));
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
  for (int64_t rank = 0; rank < manifest.mesh.ranks(); ++rank)
    if (manifest.mesh.coordinate(rank, role->axis.str()) == role->coordinate)
      made.ranks.push_back(int32_t(rank));
}

static FailureOr<ProgramImage> assemble(ModuleOp module, OutlinedProgram program,
                                        const Setting &setting, const CompileOptions &options,
                                        CompileStatistics &statistics, Explanation *explanation) {
  for (OutlinedEntry &entry : program.entries) {
    statistics.liveBytes += planMemory(entry);
    statistics.arenaBytes += entry.spec.arenaBytes;
    if (failed(checkSizes(entry)))
      return failure();
    establishPadding(program, entry);
  }
  keepDistinctKernels(program);
  predictSteps(program, setting.timed);
  if (options.explainLayouts && failed(explainKernels(program.kernels, *setting.target, options)))
    return failure();
  auto begin = Clock::now();
  auto kernels = compileKernels(program.kernels, *setting.target, setting.kept(), options);
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
    codes.push_back({kernel.symbol, kernel.code.chunks, kernel.code.scratchBytes, source.sizes});
  std::vector<EntrySource> sources;
  for (OutlinedEntry &entry : program.entries) {
    planSteps(entry, codes, setting.choices);
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
  auto entries = compileEntries(sources, *setting.target, setting.kept());
  if (failed(entries))
    return failure();
  std::move(entries->begin(), entries->end(), std::back_inserter(objects));
  auto block = setting.target->link(std::move(objects));
  if (!block)
    return module.emitError() << llvm::toString(block.takeError()), failure();
  ProgramImage image;
  image.code = std::move(block->bytes);
  image.constants = std::move(program.constants);
  Manifest &manifest = image.manifest;
  manifest.abiVersion = HEDDLE_ABI_VERSION;
  manifest.compilerVersion = compilerVersion();
  setting.target->describe(manifest);
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
static FailureOr<ProgramImage> runPasses(ModuleOp module, const Setting &setting,
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
    explanation.emplace(setting.timed, setting.choices);
  if (failed(runNestPasses(module, options, setting, explanation ? &*explanation : nullptr)))
    return failure();
  if (dump.isWanted("2-nest.mlir")) {
    OwningOpRef<ModuleOp> spelled = module.clone();
    if (failed(restoreNames(*spelled)) || failed(dump.write(*spelled, "2-nest.mlir")))
      return failure();
  }
  bool show = explanation || dump.isWanted("3-scheduled.mlir");
  auto program = makeSteps(module, setting, options, show);
  if (failed(program) || failed(dump.write(module, "3-scheduled.mlir")))
    return failure();
  counted.passSeconds = secondsSince(begin);
  if (dump.isWanted("kernels") &&
      failed(dumpKernels(module, dump, *program, *setting.target, options)))
    return failure();
  auto image = assemble(module, std::move(*program), setting, options, counted,
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
  auto setting = prepare(module, given);
  if (failed(setting))
    return failure();
  FailureOr<CompileOptions> stated = statePlan(module, given);
  if (failed(stated) || failed(checkMemories(module, *setting->target, given.explainLayouts)))
    return failure();
  const CompileOptions &options = *stated;
  std::string key;
  std::optional<ProgramImage> image;
  if (setting->cache && !mustRun(options, dump)) {
    key = programKey(module, options, setting->machine, setting->timed.facts, *setting->target);
    image = findProgram(*setting->cache, key, counted);
  }
  if (!image) {
    bool isSilent = true; // a cached program would not repeat warnings
    ScopedDiagnosticHandler heard(module.getContext(),
                                  [&](Diagnostic &) { return isSilent = false, failure(); });
    auto made = runPasses(module, *setting, options, dump, counted);
    if (failed(made))
      return failure();
    image = std::move(*made);
    if (!key.empty() && isSilent)
      storeProgram(*setting->cache, key, *image, counted);
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

std::optional<Stage> heddle::parseStage(StringRef word) {
  return llvm::StringSwitch<std::optional<Stage>>(word)
      .Case("nd", Stage::Nd)
      .Case("nest", Stage::Nest)
      .Case("kernels", Stage::Kernels)
      .Case("loops", Stage::Loops)
      .Case("llvm", Stage::LlvmIr)
      .Case("asm", Stage::Assembly)
      .Default(std::nullopt);
}

FailureOr<std::string> heddle::printStage(ModuleOp module, const CompileOptions &options,
                                          Stage stage) {
  auto printed = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << module << "\n";
    return text;
  };
  auto setting = prepare(module, options);
  if (failed(setting) || failed(runNdPasses(module, options)))
    return failure();
  if (stage == Stage::Nd)
    return printed();
  if (failed(runNestPasses(module, options, *setting)))
    return failure();
  auto program = makeSteps(module, *setting, options, /*show=*/stage == Stage::Nest);
  if (failed(program))
    return failure();
  if (stage == Stage::Nest)
    return printed();
  std::string all;
  for (const OutlinedKernel &kernel : program->kernels) {
    bool isMlir = stage == Stage::Kernels || stage == Stage::Loops;
    const char *mark = isMlir ? "// " : stage == Stage::LlvmIr ? "; " : "# ";
    all += mark + kernel.name + (kernel.key.empty() ? "" : " " + kernel.key) + "\n";
    KernelForm form = stage == Stage::Loops    ? KernelForm::Loops
                      : stage == Stage::LlvmIr ? KernelForm::LlvmIr
                                               : KernelForm::Assembly;
    auto text = stage == Stage::Kernels ? FailureOr<std::string>(kernel.source)
                                        : printKernel(kernel, *setting->target, options, form);
    if (failed(text))
      return failure();
    all += *text;
  }
  return all;
}

LogicalResult heddle::writeStage(ModuleOp module, const CompileOptions &options, Stage stage,
                                 const std::string &path) {
  auto text = printStage(module, options, stage);
  if (failed(text))
    return failure();
  if (!path.empty() && path != "-")
    return writeText(module, path, *text);
  llvm::outs() << *text;
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  llvm::outs().clear_error();
  if (error)
    return module.emitError() << "can't write to standard output: " << error.message();
  return success();
}
