//===- Jit.cpp - compiled functions and gradients -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Jit.h"
#include "dialects/nd/NdBuild.h"
#include "lib/builder/Execute.h"

#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/IRMapping.h"

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
  Traced trace(std::vector<Leaf> &leaves, const std::function<std::vector<Tensor>()> &function, Here here) {
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
    try {
      for (const Tensor &output : function())
        roots.push_back(nodeOf(output, here));
      traced.outputs = roots.size();
      for (size_t i = 0; i < leaves.size(); ++i) {
        bool changed = leaves[i].state && leaves[i].tensor->node != formals[i];
        traced.written.push_back(changed ? int(roots.size()) : -1);
        if (!changed)
          continue;
        NodeRef value = nodeOf(*leaves[i].tensor, here);
        if (value->type() != formals[i]->type())
          fail(here, "'" + leaves[i].path + "' is " + actuals[i].type() + " and was assigned a value of type " +
                         leaves[i].tensor->type());
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
        emission.function.setArgAttr(unsigned(i), "heddle.donate", builder.getI64IntegerAttr(traced.written[i]));
        emission.function.setResultAttr(unsigned(traced.written[i]), nd::nameAttrName, nameOf(leaves[i].path));
      }
    }
    for (size_t i = 0; i < traced.captured.size(); ++i)
      emission.function.setArgAttr(unsigned(leaves.size() + i), nd::nameAttrName,
                                   nameOf("captured" + std::to_string(i)));
    for (size_t i = 0; i < traced.outputs; ++i)
      emission.function.setResultAttr(unsigned(i), nd::nameAttrName, nameOf("result" + std::to_string(i)));
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

JitCore::JitCore(JitOptions options) : impl(std::make_unique<Impl>()) { impl->options = std::move(options); }
JitCore::~JitCore() = default;

JitStatistics JitCore::statistics() const { return impl->statistics; }

std::string JitCore::ir(std::vector<Leaf> leaves, const std::function<std::vector<Tensor>()> &trace, Here here) {
  GraphLock lock;
  auto traced = impl->trace(leaves, trace, here);
  std::string text;
  llvm::raw_string_ostream stream(text);
  traced.module->print(stream);
  return text;
}

void JitCore::save(const std::string &path, std::vector<Leaf> leaves,
                   const std::function<std::vector<Tensor>()> &trace, Here here) {
  Impl::Traced traced;
  {
    GraphLock lock;
    traced = impl->trace(leaves, trace, here);
    if (!traced.captured.empty())
      fail(here, "the function captures tensors, of which the first is " + [&] {
        Tensor tensor;
        tensor.node = traced.captured[0];
        return tensor.type();
      }() + "; a program file takes everything as an argument");
  }
  compile(*traced.module, impl->compileOptions(), nullptr, here).write(path);
}

std::vector<Tensor> JitCore::call(std::vector<Leaf> leaves, const std::function<std::vector<Tensor>()> &trace,
                                  Here here) {
  std::string signature;
  for (const Leaf &leaf : leaves)
    signature += leaf.path + (nodeOf(*leaf.tensor, here), leaf.tensor->type()) + ";";
  // Inside of another trace the function is simply part of it.
  bool nested = false;
  {
    GraphLock lock;
    for (const Leaf &leaf : leaves)
      nested |= leaf.tensor->node->formal ||
                (!leaf.tensor->node->data && [&] {
                  for (const NodeRef &node : dependencies({leaf.tensor->node}, [](const NodeRef &n) {
                         return n->data != nullptr;
                       }))
                    if (node->formal && !node->data)
                      return true;
                  return false;
                }());
  }
  if (nested)
    return trace();
  Compiled *compiled;
  {
    std::lock_guard guard(impl->mutex);
    compiled = &impl->compiled[signature];
    if (!compiled->program) {
      auto traced = impl->trace(leaves, trace, here);
      CompileStatistics statistics;
      compiled->program =
          std::make_shared<Program>(compile(*traced.module, impl->compileOptions(), &statistics, here));
      compiled->captured = traced.captured;
      compiled->written = traced.written;
      compiled->outputs = traced.outputs;
      impl->statistics = {statistics.seconds,   statistics.arenaBytes, statistics.liveBytes,
                          statistics.steps,     statistics.kernels,    statistics.cachedKernels};
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
      fail(here, "a tensor that the function captures was given up to the call at " + node->donatedAt);
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
    outputs.push_back(Tensor::fromData(results[i]));
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (compiled->written[i] < 0)
      continue;
    if (!arguments[i]->donatedTo.empty())
      given[i]->donatedAt = placeOf(here);
    *leaves[i].tensor = Tensor::fromData(results[size_t(compiled->written[i])]);
  }
  return outputs;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

Tensor heddle::detail::formalLike(const Tensor &like, const std::string &name) {
  NodeRef node = nodeOf(like, Here::current());
  Tensor formal;
  formal.node = makeLeaf(node->type(), Here::current());
  formal.node->formal = true;
  formal.node->name = name;
  return formal;
}

namespace {
/// Copies of nodes with formals replaced by other nodes.
class Substitution {
public:
  Substitution(const std::vector<NodeRef> &formals, const std::vector<NodeRef> &actuals) {
    for (size_t i = 0; i < formals.size(); ++i)
      copies[formals[i].get()] = actuals[i];
  }

  NodeRef apply(const NodeRef &root) {
    for (const NodeRef &node : dependencies({root}, [&](const NodeRef &n) { return copies.count(n.get()) > 0; }))
      if (!copies.count(node.get()))
        copies[node.get()] = copy(node);
    return copies[root.get()];
  }

private:
  std::map<Node *, NodeRef> copies;
  std::map<Group *, std::shared_ptr<Group>> groups;
  mlir::IRMapping mapping;

  NodeRef copy(const NodeRef &node) {
    bool changed = false;
    for (const NodeRef &operand : node->group->operands)
      changed |= copies[operand.get()] != operand;
    if (!changed)
      return node;
    auto &group = groups[node->group.get()];
    if (!group) {
      group = std::make_shared<Group>();
      group->callee = node->group->callee;
      group->stopsGradient = node->group->stopsGradient;
      for (const NodeRef &operand : node->group->operands) {
        group->operands.push_back(copies[operand.get()]);
        mapping.map(operand->value, copies[operand.get()]->value);
      }
      mlir::OpBuilder builder(graphContext());
      builder.setInsertionPointToEnd(group->block.get());
      for (mlir::Operation &op : *node->group->block)
        builder.clone(op, mapping);
    }
    auto result = std::make_shared<Node>();
    result->group = group;
    result->value = mapping.lookup(node->value);
    return result;
  }
};
} // namespace

GradientResult heddle::detail::gradient(const std::vector<Tensor> &formals, const std::vector<Tensor> &actuals,
                                const std::vector<Tensor> &outputs, Here here) {
  GraphLock lock;
  if (outputs.empty())
    fail(here, "expected a function that returns a scalar");
  NodeRef loss = nodeOf(outputs[0], here);
  if (loss->type().getDims().size() != 0 || !llvm::isa<mlir::FloatType>(loss->type().getElementType()))
    fail(here, "expected a scalar of a float type to differentiate, got " + outputs[0].type());
  std::vector<NodeRef> formalNodes, actualNodes;
  for (size_t i = 0; i < formals.size(); ++i) {
    formalNodes.push_back(formals[i].node);
    actualNodes.push_back(nodeOf(actuals[i], here));
  }
  Substitution substitution(formalNodes, actualNodes);

  // What depends on the formals is part of the function; the rest is captured.
  std::set<Node *> depends;
  for (const NodeRef &formal : formalNodes)
    depends.insert(formal.get());
  auto always = [](const NodeRef &) { return false; };
  for (const NodeRef &node : dependencies({loss}, always))
    if (!node->group->stopsGradient)
      for (const NodeRef &operand : node->group->operands)
        if (depends.count(operand.get()))
          depends.insert(node.get());
  auto callee = std::make_shared<Callee>();
  callee->module = mlir::ModuleOp::create(locationOf(here));
  Emission emission = emit(*callee->module, "f", formalNodes, {loss}, here, [&](const NodeRef &node) {
    bool isLiteral = node->group->operands.empty() && !node->formal && !node->data;
    return !depends.count(node.get()) && !isLiteral;
  });
  std::vector<NodeRef> operands = actualNodes;
  for (const NodeRef &node : emission.captured)
    operands.push_back(substitution.apply(node));
  std::vector<int64_t> wrt;
  for (size_t i = 0; i < formals.size(); ++i)
    if (llvm::isa<mlir::FloatType>(formalNodes[i]->type().getElementType()))
      wrt.push_back(int64_t(i));
  std::vector<Tensor> made = makeAll(
      here, operands,
      [&](mlir::OpBuilder &builder, mlir::Location loc) {
        llvm::SmallVector<mlir::Value> inputs;
        llvm::SmallVector<mlir::Type> results{loss->type()};
        for (const NodeRef &operand : operands)
          inputs.push_back(operand->value);
        for (int64_t position : wrt)
          results.push_back(formalNodes[size_t(position)]->type());
        mlir::Value one = nd::buildConstant(builder, loc, loss->type(), 1.0);
        auto op = nd::VjpOp::create(builder, loc, results, mlir::FlatSymbolRefAttr::get(builder.getContext(), "f"),
                                    inputs, mlir::ValueRange{one}, builder.getDenseI64ArrayAttr(wrt));
        return llvm::SmallVector<mlir::Value>(op.getResults());
      },
      callee);
  GradientResult result;
  result.values.push_back(made[0]);
  for (size_t i = 1; i < outputs.size(); ++i) {
    Tensor value;
    value.node = substitution.apply(nodeOf(outputs[i], here));
    result.values.push_back(value);
  }
  result.gradients.resize(formals.size());
  for (size_t k = 0; k < wrt.size(); ++k)
    result.gradients[size_t(wrt[k])] = made[k + 1];
  return result;
}
