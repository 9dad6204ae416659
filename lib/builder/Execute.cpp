//===- Execute.cpp - compiling and running graphs -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/Execute.h"

#include "dialects/mesh/MeshDialect.h"
#include "lib/support/LargeStack.h"

#include "mlir/Parser/Parser.h"

#include <atomic>

using namespace heddle;
using namespace heddle::detail;

static thread_local int64_t traceCounter = -1;

int64_t heddle::detail::nextFresh() {
  static std::atomic<int64_t> outside{1000000};
  return traceCounter >= 0 ? ++traceCounter : ++outside;
}

static thread_local TraceScope *innermostTrace = nullptr;

TraceScope::TraceScope() : saved(traceCounter), outer(std::exchange(innermostTrace, this)) {
  traceCounter = std::max<int64_t>(saved, 0);
}
TraceScope::~TraceScope() {
  traceCounter = saved;
  innermostTrace = outer;
}
TraceScope *TraceScope::current() { return innermostTrace; }

std::unique_ptr<PrivateModule> heddle::detail::copyModule(ModuleOp module, Here here) {
  std::string text;
  {
    GraphLock lock;
    llvm::raw_string_ostream stream(text);
    module.print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  }
  auto copy = std::make_unique<PrivateModule>();
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  copy->context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  copy->context->loadAllAvailableDialects();
  copy->handler = std::make_unique<mlir::ScopedDiagnosticHandler>(
      copy->context.get(), [raw = copy.get()](mlir::Diagnostic &diagnostic) {
        std::string location;
        if (auto loc = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
          location = loc.getFilename().str() + ":" + std::to_string(loc.getLine()) + ":" +
                     std::to_string(loc.getColumn()) + ": ";
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          raw->diagnostics += (raw->diagnostics.empty() ? "" : "\n") + location + diagnostic.str();
        return mlir::success();
      });
  onLargeStack(
      [&] { copy->module = mlir::parseSourceString<ModuleOp>(text, copy->context.get()); });
  if (!copy->module)
    fail(here, "the traced program is not valid: " + copy->diagnostics);
  return copy;
}

void heddle::detail::dropConstraints(ModuleOp module) {
  module.walk([](mesh::ConstrainOp op) {
    op.replaceAllUsesWith(op.getInput());
    op.erase();
  });
}

ProgramImage heddle::detail::compile(std::unique_ptr<PrivateModule> module,
                                     const CompileOptions &options, CompileStatistics *statistics,
                                     Here here) {
  FailureOr<ProgramImage> image = mlir::failure();
  onLargeStack([&] { image = compileProgram(*module->module, options, statistics); });
  if (mlir::failed(image))
    throw Error(module->diagnostics.empty()
                    ? Error::sourceLocation(here) + ": the program could not be compiled"
                    : module->diagnostics);
  return std::move(*image);
}

namespace {
/// Caches the programs of `evaluate` by their IR without locations: eager code, such as a C++ loop
/// over tensors, often computes the same graph again. Requires GraphLock.
class KnownPrograms {
public:
  std::shared_ptr<Program> find(ModuleOp module, Here here) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    if (auto found = programs.find(text); found != programs.end())
      return found->second;
    ProgramImage image = compile(copyModule(module, here), {}, nullptr, here);
    auto program = located(here, [&] { return std::make_shared<Program>(std::move(image)); });
    if (programs.size() == most)
      programs.clear();
    programs.emplace(std::move(text), program);
    return program;
  }

private:
  static constexpr size_t most = 256;
  std::map<std::string, std::shared_ptr<Program>> programs;
};
} // namespace

void heddle::detail::evaluate(const std::vector<NodeRef> &nodes, Here here) {
  std::vector<NodeRef> order;
  {
    GraphLock lock;
    order = dependencies(nodes, [](const NodeRef &node) { return node->isKnown(); });
  }
  for (const NodeRef &node : order)
    wholeOf(*node, here);
  GraphLock lock;
  mlir::OwningOpRef<ModuleOp> module = ModuleOp::create(locationOf(here));
  for (const NodeRef &node : order)
    if (node->formal && !node->data)
      fail(here, "this value depends on " +
                     (node->name.empty() ? "an argument" : "'" + node->name + "', an argument") +
                     " of a function that is being traced: it has no value until the function is "
                     "called");
  Emission emission = emit(*module, "evaluate", {}, nodes, here);
  dropConstraints(*module);
  static KnownPrograms &known =
      *new KnownPrograms; // never destroyed: static destructors may use it
  std::shared_ptr<Program> program = known.find(*module, here);
  std::vector<TensorRef> arguments;
  for (const NodeRef &node : emission.captured) {
    if (!node->donatedAt.empty())
      fail(here,
           "a tensor that this value depends on was donated to the call at " + node->donatedAt);
    arguments.push_back(node->data);
  }
  auto results = located(here, [&] { return program->run(program->entry("evaluate"), arguments); });
  for (size_t i = 0; i < nodes.size(); ++i)
    nodes[i]->data = results[i];
}
