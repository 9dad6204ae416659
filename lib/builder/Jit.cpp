//===- Jit.cpp - compiled functions ---------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Jit.h"
#include "heddle/FastMath.h"
#include "lib/builder/CompileOnRanks.h"
#include "lib/builder/JitImpl.h"
#include "runtime/device/Device.h"
#include "runtime/device/ThreadCount.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace heddle;
using namespace heddle::detail;

Tensor Argument::of(double number, Here here) {
  if (std::isfinite(number) && !std::isfinite(float(number))) {
    std::string message;
    llvm::raw_string_ostream(message)
        << "expected a number that f32 has, got " << llvm::format("%g", number)
        << "; Tensor::of<double>({number}, {}) is one of f64";
    fail(here, message);
  }
  return Tensor::of<float>({float(number)}, {}, here);
}
Tensor Argument::of(int64_t number, bool isPositive, Here here) {
  if (isPositive && number < 0)
    fail(here, "expected a number that i64 can represent, got " + std::to_string(uint64_t(number)) +
                   "; Tensor::of<uint64_t>({number}, {}) has type ui64");
  return Tensor::of<int64_t>({number}, {}, here);
}

void heddle::detail::requireArgumentNames(const std::vector<std::string> &names, size_t count,
                                          const std::string &function, Here here) {
  if (names.size() > count)
    fail(here, "expected names for the " + std::to_string(count) + " arguments of '" + function +
                   "' (JitOptions::arguments), got " + std::to_string(names.size()));
  std::set<std::string> seen;
  for (const std::string &name : names) {
    (void)Name(name, here); // throws for other characters
    if (!seen.insert(name).second)
      fail(here,
           "two arguments of '" + function + "' are called '" + name + "' (JitOptions::arguments)");
  }
}

JitCore::Impl::Impl(JitOptions given, Here here) : options(std::move(given)), sizes(options, here) {
  if (options.name.empty() || std::any_of(options.name.begin(), options.name.end(),
                                          [](unsigned char c) { return c < ' ' || c == '"'; }))
    fail(here, "expected printable characters, none of them a quote, as the name of a function "
               "(JitOptions::name), got '" +
                   options.name + "'");
  if (options.threads < 0 || options.threads > 1024)
    fail(here, "expected 0 to 1024 threads (JitOptions::threads), got " +
                   std::to_string(options.threads));
  if (options.products && !isNarrowFloat(*options.products))
    fail(here, "expected a float type narrower than f32 for factors (JitOptions::products), got " +
                   std::string(spelling(*options.products)));
  for (const std::string &word : options.fastMath)
    if (unsigned granted = Strict; !permit(granted, word))
      fail(here,
           "expected one of " + fastMathList() + " in JitOptions::fastMath, got '" + word + "'");
  (void)located(here, [&] { return selectDevice(options.device); });
  if (llvm::Error error = loadExtensions(options.plugins, extensions))
    fail(here, llvm::toString(std::move(error)));
  plan = MeshPlan::of(options.mesh, options.rules, options.plan, here);
  // A single function has neither an optimiser whose state could be split nor a batch to divide.
  for (const char *setting : {"zero", "micro-batches"})
    if (auto found = plan.settings.find(setting); found != plan.settings.end())
      fail(here, std::string("'") + setting + " " + found->second.first + "'" +
                     found->second.second + " is a setting of trainers (TrainerOptions::plan), " +
                     "which jit can't follow: expected a plan of `mesh` and rules");
}

std::string JitCore::Impl::signatureOf(const std::vector<Leaf> &leaves, Here here) const {
  std::string signature;
  for (auto [leaf, type] : llvm::zip_equal(leaves, sizes.programTypes(leaves, here)))
    llvm::raw_string_ostream(signature) << leaf.path << type << ";";
  return signature;
}

std::string JitCore::Impl::signatureOf(const Inputs &inputs, Here here) const {
  std::string signature = signatureOf(inputs.leaves, here);
  for (const auto &[path, text] : inputs.plain)
    signature += path + "=" + text + ";";
  return signature;
}

CompileOptions JitCore::Impl::compileOptions(const std::vector<Leaf> &leaves, Here here) const {
  CompileOptions result;
  result.mesh = plan.mesh.str();
  for (const MeshRule &rule : plan.rules)
    if (rule.isOfOperators)
      result.shard.push_back(options.unmatchedRules ? rule.forSome() : rule.commented());
    else if (!options.unmatchedRules || llvm::any_of(leaves, [&](const Leaf &leaf) {
               return rule.fits(leaf.path) &&
                      (rule.name.empty() || nodeOf(*leaf.tensor, here)->type().has(rule.name));
             }))
      result.shard.push_back(rule.commented());
  // The graph is that of one of several functions that share the plan.
  for (const std::string &line : plan.statements)
    if (!options.unmatchedRules || !line.starts_with("graph "))
      result.shard.push_back(line);
  Device *device = located(here, [&] { return selectDevice(options.device); });
  result.targetCpu = device ? device->target() : options.targetCpu;
  result.programThreads = options.threads > 0 ? options.threads : usualThreads();
  result.useCache = options.cache;
  result.onProgress = options.onProgress;
  result.extensions = extensions;
  result.fastMath = options.fastMath;
  result.products = options.products;
  return result;
}

ProgramImage JitCore::Impl::compileFor(std::unique_ptr<PrivateModule> module,
                                       const CompileOptions &asked, CompileStatistics &found,
                                       Here here) const {
  Ranks together = plan.mesh.empty() ? Ranks() : ranks(here);
  if (!together.job() || !together.job()->channel())
    return compile(std::move(module), asked, &found, here);
  return located(here, [&] {
    return compileOnRanks(*together.job(), options.name, *module->module, asked, found,
                          [&](const CompileOptions &agreed, CompileStatistics &counted) {
                            return compile(std::move(module), agreed, &counted, here);
                          });
  });
}

std::shared_ptr<const Compiled> JitCore::Impl::make(const std::string &signature, Inputs &inputs,
                                                    const Trace &function, Here here) {
  std::vector<Leaf> &leaves = inputs.leaves;
  auto made = std::make_shared<Compiled>();
  std::promise<std::shared_ptr<Program>> promise;
  std::unique_ptr<PrivateModule> module;
  {
    GraphLock lock;
    if (auto other = programs.find(signature))
      return other;
    std::string tensors = signatureOf(leaves, here);
    programs.requireFewValues(tensors, inputs.plain, options.name, here);
    TracedModule traced = trace(leaves, function, here);
    traced.requireOwnTensors(leaves, here);
    programs.noteValues(tensors, inputs.plain);
    module = copyModule(*traced.module, here);
    traced.module = nullptr;
    made->facts = std::move(traced);
    made->program = promise.get_future().share();
    programs.add(signature, made);
  }
  try {
    CompileStatistics found;
    CompileOptions asked = compileOptions(leaves, here);
    asked.check = options.check;
    ProgramImage image = compileFor(std::move(module), asked, found, here);
    made->checks = std::move(found.checks);
    auto program = located(here, [&] {
      (void)selectDevice(options.device); // for this thread, which loads the program
      return std::make_shared<Program>(image);
    });
    made->image = std::move(image);
    programs.setStatistics({found.seconds, found.arenaBytes, found.liveBytes, found.steps,
                            found.kernels, found.cachedKernels});
    promise.set_value(std::move(program));
  } catch (...) {
    programs.remove(signature);
    promise.set_exception(std::current_exception());
  }
  return made;
}

JitCore::JitCore(JitOptions options, Here here)
    : impl(std::make_unique<Impl>(std::move(options), here)) {}
JitCore::~JitCore() = default;

JitStatistics JitCore::statistics() const { return impl->programs.statistics(); }

std::string JitCore::ir(Inputs inputs, const Trace &trace, Here here) {
  GraphLock lock;
  auto traced = impl->trace(inputs.leaves, trace, here);
  std::string text;
  llvm::raw_string_ostream stream(text);
  traced.module->print(stream);
  return text;
}

void JitCore::save(const std::string &path, Inputs inputs, const Trace &trace, Here here) {
  std::vector<Leaf> &leaves = inputs.leaves;
  // A call may have compiled the program for these types.
  auto compiled =
      impl->options.check ? nullptr : impl->programs.find(impl->signatureOf(inputs, here));
  if (compiled && compiled->facts.captured.empty() && compiled->program.get()) {
    located(here, [&] { compiled->image.write(path); });
    return;
  }
  std::unique_ptr<PrivateModule> module;
  {
    GraphLock lock;
    TracedModule traced = impl->trace(leaves, trace, here);
    if (!traced.captured.empty())
      fail(
          here, "the function captures tensors, of which the first is " + [&] {
            Tensor tensor;
            tensor.node = traced.captured[0];
            return tensor.type();
          }() + "; a program file takes everything as an argument");
    module = copyModule(*traced.module, here);
  }
  ProgramImage image =
      compile(std::move(module), impl->compileOptions(leaves, here), nullptr, here);
  located(here, [&] { image.write(path); });
}
