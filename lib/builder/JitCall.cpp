//===- JitCall.cpp - a call of a compiled function ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/CheckFailure.h"
#include "lib/builder/JitImpl.h"
#include "lib/builder/MeshCall.h"
#include "lib/profile/Profile.h"
#include "runtime/memory/FileMemory.h"

using namespace heddle;
using namespace heddle::detail;

/// The tensor in the layout and the memory of the program's value. The packed copy is kept with the
/// node for the next call.
static TensorRef packed(Node &node, const TensorRef &data, const ValueSpec &value,
                        const Program &program) {
  auto fits = [&](const TensorRef &tensor) {
    return tensor && tensor->layout() == value.layout && tensor->space() == value.space &&
           tensor->spec() == data->spec();
  };
  if (fits(data))
    return data;
  GraphLock lock;
  if (!fits(node.packed)) {
    node.packed = std::make_shared<RuntimeTensor>(data->spec(), value.layout, program.memory(value),
                                                  AllocationInfo{value.name, value.location});
    node.packed->copyFrom(*data);
  }
  return node.packed;
}

/// Moves the tensor to a file. The node then refers to the file, so that the memory is freed.
static TensorRef inFile(Node &node, const TensorRef &data, const ValueSpec &value) {
  if (data->memory() == fileMemoryName)
    return data;
  auto moved = std::make_shared<RuntimeTensor>(data->storedType(), fileMemory(),
                                               AllocationInfo{value.name, value.location});
  moved->copyFrom(*data);
  GraphLock lock;
  for (TensorRef *kept : {&node.data, &node.packed})
    if (*kept == data)
      *kept = moved;
  for (auto *split : {&node.split, &node.resplit})
    if (*split && (*split)->block == data) {
      auto with = std::make_shared<SplitTensor>(**split);
      with->block = moved;
      *split = std::move(with);
    }
  return moved;
}

/// Computes the values of arguments that have none yet, such as random weights, in one program.
/// Those that belong in files are computed later, one by one, since together they may exceed the
/// memory.
static void evaluateTogether(const std::vector<Leaf> &leaves, const EntrySpec &entry, Here here) {
  std::vector<NodeRef> nodes;
  {
    GraphLock lock;
    for (size_t i = 0; i < leaves.size(); ++i)
      if (const NodeRef &node = leaves[i].tensor->node;
          node && !node->isKnown() && node->donatedAt.empty() &&
          entry.values[size_t(entry.arguments[i])].memory.empty())
        nodes.push_back(node);
  }
  if (nodes.size() > 1)
    evaluate(nodes, here);
}

/// Throws Error for a variable that is passed as state twice, since it can hold only one formal
/// during the trace.
static void requireDistinctState(const std::vector<Leaf> &leaves, Here here) {
  DenseMap<Tensor *, const Leaf *> seen;
  for (const Leaf &leaf : leaves)
    if (auto [found, isNew] = seen.try_emplace(leaf.tensor, &leaf); !isNew)
      fail(here, "'" + found->second->path + "' and '" + leaf.path +
                     "' are one variable, which the function may update: expected two variables, "
                     "such as a copy");
}

/// True if the call is within another trace. `lacksValues`: some argument is not computed yet.
static bool isTraced(const std::vector<Leaf> &leaves, bool &lacksValues) {
  GraphLock lock;
  bool traced = false;
  for (const Leaf &leaf : leaves) {
    lacksValues |= !leaf.tensor->node->isKnown();
    traced |= leaf.tensor->node->formal || (!leaf.tensor->node->isKnown() && [&] {
                for (const NodeRef &node : dependencies(
                         {leaf.tensor->node}, [](const NodeRef &n) { return n->isKnown(); }))
                  if (node->formal && !node->data)
                    return true;
                return false;
              }());
  }
  return traced;
}

/// The function's results within another trace.
static Returned inlined(const std::string &name, const Trace &trace, Here here) {
  static thread_local int depth = 0;
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } level;
  if (depth > 500)
    fail(here, "'" + name +
                   "' calls itself, or more than 500 functions call each "
                   "other: expected recursion to end when the functions are traced; forLoop and "
                   "whileLoop end when they run");
  Traced traced = trace();
  Returned returned{{}, traced.shape};
  for (const Output &output : traced.outputs)
    returned.tensors.push_back(output.tensor);
  return returned;
}

namespace {
struct CallArguments {
  std::vector<TensorRef> tensors; ///< of the leaves, then of what the function captures
  std::vector<bool> donate;       ///< for each leaf: the program may reuse its memory
};
} // namespace

/// The tensors of a call as the program takes them: whole ones, or blocks if `split` is not null.
static CallArguments argumentsOf(const std::vector<Leaf> &leaves, const TraceFacts &facts,
                                 const Program &program, const EntrySpec &entry,
                                 const MeshCall *split, Here here) {
  CallArguments made;
  std::map<RuntimeTensor *, int> uses;
  auto add = [&](TensorRef data) {
    ++uses[data.get()];
    made.tensors.push_back(std::move(data));
  };
  for (size_t i = 0; i < leaves.size(); ++i) {
    Node &node = *nodeOf(*leaves[i].tensor, here);
    bool isKept = leaves[i].kept && facts.written[i] < 0;
    if (!node.isKnown())
      leaves[i].tensor->data(here);
    TensorRef data =
        split ? split->argument(i, *leaves[i].tensor, isKept, here) : wholeOf(node, here);
    const ValueSpec &value = entry.values[size_t(entry.arguments[i])];
    if (isKept)
      data = located(here, [&] { return packed(node, data, value, program); });
    if (value.memory == fileMemoryName)
      data = located(here, [&] { return inFile(node, data, value); });
    add(std::move(data));
  }
  for (const NodeRef &node : facts.captured) {
    if (!node->donatedAt.empty())
      fail(here,
           "a tensor that the function captures was donated to the call at " + node->donatedAt);
    Tensor tensor;
    tensor.node = node;
    size_t position = made.tensors.size();
    const ValueSpec &value = entry.values[size_t(entry.arguments[position])];
    add(split ? split->argument(position, tensor, true, here)
              : located(here, [&] { return packed(*node, wholeOf(*node, here), value, program); }));
  }
  // A donated value must have no other owner among the arguments.
  for (size_t i = 0; i < leaves.size(); ++i)
    made.donate.push_back(facts.written[i] >= 0 && uses[made.tensors[i].get()] == 1);
  return made;
}

/// All tensors of a call, as the user has them.
static std::vector<Tensor> wholeArguments(const std::vector<Leaf> &leaves,
                                          const TraceFacts &facts) {
  std::vector<Tensor> whole;
  for (const Leaf &leaf : leaves)
    whole.push_back(*leaf.tensor);
  for (const NodeRef &node : facts.captured)
    whole.emplace_back().node = node;
  return whole;
}

Returned JitCore::call(Inputs inputs, const Trace &trace, Here here) {
  std::vector<Leaf> &leaves = inputs.leaves;
  requireDistinctState(leaves, here);
  std::string signature = impl->signatureOf(inputs, here);
  bool lacksValues = false;
  if (isTraced(leaves, lacksValues))
    return inlined(impl->options.name, trace, here);
  auto compiled = impl->programs.find(signature);
  if (!compiled)
    compiled = impl->make(signature, inputs, trace, here);
  const TraceFacts &facts = compiled->facts;
  facts.requireOwnTensors(leaves, here);
  std::shared_ptr<Program> program = compiled->program.get();
  std::optional<MeshCall> split; // for a program on several ranks
  Ranks ranks;
  bool isForRanks = !program->manifest().mesh.axes.empty();
  if (isForRanks)
    ranks = impl->ranks(here);
  const EntrySpec &entry =
      program->entry(impl->options.name, ranks.job() ? ranks.job()->rank() : 0);
  if (lacksValues)
    evaluateTogether(leaves, entry, here);
  if (isForRanks)
    located(here, [&] {
      split.emplace(program->manifest(), entry, ranks.job(), wholeArguments(leaves, facts), here);
    });
  CallArguments arguments =
      argumentsOf(leaves, facts, *program, entry, split ? &*split : nullptr, here);
  if (impl->options.check)
    arguments.donate.assign(leaves.size(), false);
  CallOptions options;
  if (split) { // ranks may share this process, so each has its own thread team
    options.job = ranks.job();
    options.supplied = split->supplied();
  }
  if (!options.job)
    options.team = located(here, [&] { return sharedThreadTeam(impl->options.threads); });
  options.managed = impl->options.managedMemory;
  if (impl->options.timeline)
    options.profile = impl->options.timeline->profile();
  std::vector<NodeRef> passed;
  for (const Leaf &leaf : leaves)
    passed.push_back(leaf.tensor->node);
  auto results = located(
      here, [&] { return program->run(entry, arguments.tensors, options, arguments.donate); });
  if (impl->options.check)
    requireChecked(compiled->checks, results, here);
  auto resultOf = [&](size_t i) {
    return split ? split->result(i, results[i], here) : Tensor::fromData(results[i], here);
  };
  Returned returned{{}, facts.shape};
  size_t next = 0;
  for (bool given : facts.given)
    returned.tensors.push_back(given ? resultOf(next++) : Tensor());
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (facts.written[i] < 0)
      continue;
    if (!arguments.tensors[i]->donatedTo.empty())
      passed[i]->giveUp(Error::sourceLocation(here));
    *leaves[i].tensor = resultOf(size_t(facts.written[i]));
  }
  return returned;
}
