//===- Jit.cpp - compiled functions and gradients -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Jit.h"
#include "dialects/nd/NdBuild.h"
#include "lib/builder/Execute.h"

using namespace heddle;
using namespace heddle::detail;

//===----------------------------------------------------------------------===//
// Compiled functions
//===----------------------------------------------------------------------===//

namespace {
/// One signature's program.
struct Compiled {
  std::shared_ptr<Program> program;
  std::vector<NodeRef> captured;
  std::vector<int> written; ///< for each leaf, the result that it becomes; -1: unchanged
  size_t outputs = 0;
  bool traced = false;
};
} // namespace

struct JitCore::Impl {
  JitOptions options;
  std::mutex mutex;
  std::map<std::string, Compiled> compiled;
  JitStatistics statistics;

  struct Traced {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::vector<NodeRef> captured;
    std::vector<int> written;
    size_t outputs;
  };

  /// Traces the function on formals of the leaves' types and restores the leaves.
  Traced trace(std::vector<Leaf> &leaves, const Trace &function, Here here) {
    GraphLock lock;
    TraceScope scope;
    std::vector<Tensor> actuals;
    std::vector<NodeRef> formals;
    for (Leaf &leaf : leaves) {
      actuals.push_back(*leaf.tensor);
      *leaf.tensor = formalLike(*leaf.tensor, leaf.path);
      formals.push_back(leaf.tensor->node);
    }
    auto restore = [&] {
      for (size_t i = 0; i < leaves.size(); ++i)
        *leaves[i].tensor = actuals[i];
    };
    Traced traced;
    std::vector<NodeRef> roots;
    std::vector<std::string> names;
    try {
      for (const Output &output : function()) {
        roots.push_back(nodeOf(output.tensor, here));
        names.push_back(output.path);
      }
      traced.outputs = roots.size();
      for (size_t i = 0; i < leaves.size(); ++i) {
        bool changed = leaves[i].state && leaves[i].tensor->node != formals[i];
        traced.written.push_back(changed ? int(roots.size()) : -1);
        if (!changed)
          continue;
        NodeRef value = nodeOf(*leaves[i].tensor, here);
        if (value->type() != formals[i]->type())
          fail(here, "'" + leaves[i].path + "' is " + actuals[i].type() +
                         " and was assigned a value of type " + leaves[i].tensor->type());
        roots.push_back(value);
      }
    } catch (...) {
      restore();
      throw;
    }
    restore();
    traced.module = mlir::ModuleOp::create(locationOf(here));
    Emission emission = emit(*traced.module, options.name, formals, roots, here);
    traced.captured = emission.captured;
    mlir::Builder builder(graphContext());
    auto nameOf = [&](const std::string &text) { return builder.getStringAttr(text); };
    for (size_t i = 0; i < leaves.size(); ++i) {
      emission.function.setArgAttr(unsigned(i), nd::nameAttrName, nameOf(leaves[i].path));
      if (traced.written[i] >= 0) {
        emission.function.setArgAttr(unsigned(i), "heddle.donate",
                                     builder.getI64IntegerAttr(traced.written[i]));
        emission.function.setResultAttr(unsigned(traced.written[i]), nd::nameAttrName,
                                        nameOf(leaves[i].path));
      }
    }
    for (size_t i = 0; i < traced.captured.size(); ++i)
      emission.function.setArgAttr(unsigned(leaves.size() + i), nd::nameAttrName,
                                   nameOf("captured" + std::to_string(i)));
    // "result" for a lone tensor, "result0", ... for those of a pair; a path that state has too
    // steps aside.
    for (size_t i = 0; i < traced.outputs; ++i) {
      std::string &name = names[i];
      if (name.empty() || (name[0] >= '0' && name[0] <= '9'))
        name = "result" + name;
      for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
        if (traced.written[leaf] >= 0 && leaves[leaf].path == name)
          name = "result." + name;
      emission.function.setResultAttr(unsigned(i), nd::nameAttrName, nameOf(name));
    }
    // Helper functions are no entries.
    for (auto function : traced.module->getOps<mlir::func::FuncOp>())
      if (function != emission.function)
        function.setPrivate();
    return traced;
  }

  CompileOptions compileOptions() const {
    CompileOptions result;
    result.targetCpu = options.targetCpu;
    result.programThreads = options.threads;
    result.useCache = options.cache;
    return result;
  }
};

JitCore::JitCore(JitOptions options) : impl(std::make_unique<Impl>()) {
  impl->options = std::move(options);
}
JitCore::~JitCore() = default;

JitStatistics JitCore::statistics() const { return impl->statistics; }

std::string JitCore::ir(std::vector<Leaf> leaves, const Trace &trace, Here here) {
  GraphLock lock;
  auto traced = impl->trace(leaves, trace, here);
  std::string text;
  llvm::raw_string_ostream stream(text);
  traced.module->print(stream);
  return text;
}

void JitCore::save(const std::string &path, std::vector<Leaf> leaves, const Trace &trace,
                   Here here) {
  Impl::Traced traced;
  {
    GraphLock lock;
    traced = impl->trace(leaves, trace, here);
    if (!traced.captured.empty())
      fail(
          here, "the function captures tensors, of which the first is " + [&] {
            Tensor tensor;
            tensor.node = traced.captured[0];
            return tensor.type();
          }() + "; a program file takes everything as an argument");
  }
  compile(*traced.module, impl->compileOptions(), nullptr, here).write(path);
}

std::vector<Tensor> JitCore::call(std::vector<Leaf> leaves, const Trace &trace, Here here) {
  std::string signature;
  for (const Leaf &leaf : leaves)
    signature += leaf.path + (nodeOf(*leaf.tensor, here), leaf.tensor->type()) + ";";
  // Inside of another trace the function is simply part of it.
  bool nested = false;
  {
    GraphLock lock;
    for (const Leaf &leaf : leaves)
      nested |=
          leaf.tensor->node->formal || (!leaf.tensor->node->data && [&] {
            for (const NodeRef &node : dependencies(
                     {leaf.tensor->node}, [](const NodeRef &n) { return n->data != nullptr; }))
              if (node->formal && !node->data)
                return true;
            return false;
          }());
  }
  if (nested) {
    std::vector<Tensor> outputs;
    for (const Output &output : trace())
      outputs.push_back(output.tensor);
    return outputs;
  }
  Compiled *compiled;
  {
    std::lock_guard guard(impl->mutex);
    compiled = &impl->compiled[signature];
    if (!compiled->program) {
      auto traced = impl->trace(leaves, trace, here);
      CompileStatistics statistics;
      compiled->program = std::make_shared<Program>(
          compile(*traced.module, impl->compileOptions(), &statistics, here));
      compiled->captured = traced.captured;
      compiled->written = traced.written;
      compiled->outputs = traced.outputs;
      impl->statistics = {statistics.seconds, statistics.arenaBytes, statistics.liveBytes,
                          statistics.steps,   statistics.kernels,    statistics.cachedKernels};
      GraphLock lock;
      traced.module = nullptr;
    }
  }
  // A value that is given up must have no other owner among the arguments.
  std::vector<TensorRef> arguments;
  std::vector<bool> donate;
  std::map<RuntimeTensor *, int> uses;
  for (const Leaf &leaf : leaves) {
    arguments.push_back(leaf.tensor->data(here));
    ++uses[arguments.back().get()];
  }
  for (const NodeRef &node : compiled->captured) {
    if (!node->donatedAt.empty())
      fail(here,
           "a tensor that the function captures was given up to the call at " + node->donatedAt);
    arguments.push_back(node->data);
    ++uses[arguments.back().get()];
  }
  for (size_t i = 0; i < leaves.size(); ++i)
    donate.push_back(compiled->written[i] >= 0 && uses[arguments[i].get()] == 1);
  CallOptions options;
  options.team = sharedThreadTeam(impl->options.threads);
  options.managed = impl->options.managedMemory;
  std::vector<NodeRef> given;
  for (const Leaf &leaf : leaves)
    given.push_back(leaf.tensor->node);
  const EntrySpec &entry = compiled->program->entry(impl->options.name);
  auto results = compiled->program->run(entry, arguments, options, donate);
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < compiled->outputs; ++i)
    outputs.push_back(Tensor::fromData(results[i], here));
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (compiled->written[i] < 0)
      continue;
    if (!arguments[i]->donatedTo.empty())
      given[i]->donatedAt = placeOf(here);
    *leaves[i].tensor = Tensor::fromData(results[size_t(compiled->written[i])], here);
  }
  return outputs;
}
