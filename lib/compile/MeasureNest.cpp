//===- MeasureNest.cpp - compiles one nest and measures it ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/MeasureNest.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdTypical.h"
#include "dialects/nest/NestBuild.h"
#include "lib/compile/Version.h"
#include "lib/cost/Machine.h"
#include "lib/interp/HostTensor.h"
#include "lib/transforms/names/NameRewriter.h"
#include "runtime/program/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <random>

using namespace heddle;
using namespace mlir;

// Enough for a stable median; a nest that takes long is called less often.
static constexpr size_t fewestSamples = 10, mostSamples = 1000;
static constexpr double secondsOfSamples = 0.04;

std::string heddle::measurementVersion() { return "1 " + compilerVersion(); }

namespace {
/// The time of each call, without its preparation.
class CallTimes : public StepObserver {
public:
  std::vector<double> seconds;

  void add(const EntrySpec &, const std::vector<Begin> &times, int) override {
    seconds.push_back(
        std::chrono::duration<double>(times.back().second - times.front().second).count());
  }
};
} // namespace

/// Small numbers, so that sums do not overflow; indices among them are clamped.
static TensorRef draw(const ValueSpec &value) {
  ElementType element = value.type.element;
  auto width = size_t(byteSize(element));
  std::vector<std::byte> pattern(4096 * width);
  std::mt19937_64 random(width);
  for (size_t i = 0; i < pattern.size(); i += width) {
    uint64_t bits = random();
    interp::storeElement(element,
                         isFloat(element) ? interp::exactly(double(bits >> 11) * 0x1p-51 - 2)
                                          : interp::integer(bits >> 63, 64),
                         &pattern[i]);
  }
  size_t count = 1;
  std::vector<std::string> names;
  for (const auto &[name, size] : constantSizes(value.type)) {
    names.push_back(name);
    count *= size_t(size);
  }
  std::vector<std::byte> dense(count * width);
  for (size_t i = 0; i < dense.size(); i += pattern.size())
    std::copy_n(pattern.begin(), std::min(pattern.size(), dense.size() - i), dense.begin() + i);
  auto tensor = std::make_shared<RuntimeTensor>(value.type, value.layout);
  tensor->copyFrom(dense.data(), names);
  return tensor;
}

static tuning::Measurement summary(std::vector<double> seconds) {
  llvm::sort(seconds);
  auto at = [&](double part) { return seconds[size_t(part * double(seconds.size() - 1))]; };
  double median = std::max(at(0.5), 1e-9); // the clock may not have moved
  return {median, int(seconds.size()), (at(0.75) - at(0.25)) / median};
}

static llvm::Expected<tuning::Measurement> call(ProgramImage image, int threads) {
  Program program(std::move(image));
  const EntrySpec &entry = program.manifest().entries.front();
  if (entry.steps.size() != 1) // copies, or none
    return llvm::createStringError("it takes " + std::to_string(entry.steps.size()) + " steps");
  std::vector<TensorRef> arguments;
  for (int32_t index : entry.arguments)
    arguments.push_back(draw(entry.values[size_t(index)]));
  std::vector<bool> donated(arguments.size());
  for (auto [argument, result] : entry.donations)
    donated[size_t(argument)] = true;
  CallTimes times;
  CallOptions how;
  how.team = sharedThreadTeam(threads);
  auto runOnce = [&] {
    std::vector<TensorRef> results = program.run(entry, arguments, how, donated);
    for (auto [argument, result] : entry.donations)
      arguments[size_t(argument)] = results[size_t(result)];
  };
  runOnce(); // allocates, and fills the caches
  how.profile = &times;
  double sum = 0;
  while (times.seconds.size() < fewestSamples ||
         (sum < secondsOfSamples && times.seconds.size() < mostSamples)) {
    runOnce();
    sum += times.seconds.back();
  }
  return summary(std::move(times.seconds));
}

/// Gives each size symbol, such as the coordinate of a device, its typical value.
static void fixSymbols(func::FuncOp function) {
  auto symbols = dyn_cast_or_null<ArrayAttr>(function->removeAttr(nd::symbolsAttrName));
  if (!symbols)
    return;
  NameRewriter rewriter;
  for (auto symbol : symbols.getAsRange<StringAttr>())
    rewriter.symbols[symbol.str()] = Expr(nd::typicalOf(symbol.getValue()));
  function.walk([&](nest::IndexOp index) {
    auto value = rewriter.symbols.find(index.getName().str());
    if (value == rewriter.symbols.end())
      return;
    OpBuilder builder(index);
    index.replaceAllUsesWith(
        arith::ConstantIndexOp::create(builder, index.getLoc(), *value->second.constant())
            .getResult());
    index.erase();
  });
  rewriter.rewrite(function);
}

llvm::Expected<tuning::Measurement>
heddle::measureNest(func::FuncOp kernel, nest::MachineAttr facts, CompileOptions options) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(kernel.getLoc()));
  func::FuncOp copy = kernel.clone();
  copy.setPublic();
  fixSymbols(copy);
  module->push_back(copy);
  if (facts)
    (*module)->setAttr(machineAttrName, facts);
  // An update changes its destination in place, where programs let it.
  auto updated = dyn_cast_or_null<BlockArgument>(nest::updatedBy(&copy.front().front()));
  if (updated)
    copy.setArgAttr(updated.getArgNumber(), "heddle.donate",
                    Builder(copy.getContext()).getI64IntegerAttr(0));
  options.assignLayouts = false; // or else a step could copy operands to other layouts
  options.progress = false;
  std::string said;
  FailureOr<ProgramImage> image = failure();
  {
    ScopedDiagnosticHandler handler(kernel.getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && said.empty())
        said = diagnostic.str();
      return success();
    });
    image = compileProgram(*module, options);
  }
  if (failed(image))
    return llvm::createStringError(said);
  if (updated && image->manifest.entries.front().donations.empty())
    return llvm::createStringError("it copies what it should change in place");
  try {
    return call(std::move(*image), options.programThreads);
  } catch (const std::exception &error) {
    return llvm::createStringError(error.what());
  }
}
