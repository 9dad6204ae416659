//===- JitTrace.cpp - traces a function into a module ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/JitTrace.h"

#include "dialects/nd/FunctionAttrs.h"
#include "lib/builder/Execute.h"

#include "llvm/ADT/ScopeExit.h"

#include <set>

using namespace heddle;
using namespace heddle::detail;

void TraceFacts::requireOwnTensors(const std::vector<Leaf> &leaves, Here here) const {
  for (const std::vector<size_t> &together : updated) {
    DenseMap<Node *, size_t> seen;
    for (size_t i : together)
      if (auto [found, isNew] = seen.try_emplace(leaves[i].tensor->node.get(), i); !isNew)
        fail(here, "'" + leaves[found->second].path + "' and '" + leaves[i].path +
                       "' are one tensor, and this call would assign different values to them: to "
                       "share weights, use one member twice; to start from equal values, give "
                       "each its own tensor, such as x * 1.0");
  }
}

namespace {
class Tracer {
public:
  Tracer(const JitOptions &options, const JitSizes &sizes, std::vector<Leaf> &leaves, Here here)
      : options(options), sizes(sizes), leaves(leaves), here(here) {}
  TracedModule run(const Trace &function, bool hasMesh);

private:
  const JitOptions &options;
  const JitSizes &sizes;
  std::vector<Leaf> &leaves;
  Here here;
  std::vector<Tensor> actuals; ///< of the leaves, while these hold formals
  std::vector<NodeRef> formals;
  std::vector<NodeRef> roots;     ///< the results: outputs, then written leaves
  std::vector<std::string> names; ///< of the results
  TracedModule traced;

  void requireDistinctPaths() const;
  void bindFormals();
  void addOutputs(const Traced &given);
  void addWritten();
  void addUpdated(ArrayRef<std::vector<NodeRef>> differentiated);
  void nameResults();
  void describe(func::FuncOp function) const;
  bool isWritten(size_t leaf) const { return traced.written[leaf] >= 0; }
};
} // namespace

void Tracer::requireDistinctPaths() const {
  std::set<std::string> paths;
  for (const Leaf &leaf : leaves)
    if (!paths.insert(leaf.path).second)
      fail(here, "two tensors among the arguments of '" + options.name + "' are called '" +
                     leaf.path + "': expected another name in JitOptions::arguments");
}

void Tracer::bindFormals() {
  std::vector<nd::NdTensorType> types = sizes.programTypes(leaves, here);
  sizes.requireNames(types, here);
  requireDistinctPaths();
  for (auto [leaf, type] : llvm::zip_equal(leaves, types)) {
    actuals.push_back(*leaf.tensor);
    NodeRef formal = makeLeaf(type, here);
    formal->formal = true;
    formal->name = leaf.path;
    leaf.tensor->node = formal;
    formals.push_back(formal);
  }
}

void Tracer::addOutputs(const Traced &given) {
  traced.shape = given.shape;
  if (!given.outputs.empty() &&
      llvm::none_of(given.outputs, [](const Output &output) { return !output.tensor.empty(); }))
    nodeOf(given.outputs[0].tensor, here); // throws
  for (const Output &output : given.outputs) {
    traced.given.push_back(!output.tensor.empty());
    if (output.tensor.empty())
      continue;
    roots.push_back(nodeOf(output.tensor, here));
    names.push_back(output.path);
  }
  traced.outputs = roots.size();
}

void Tracer::addWritten() {
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
}

void Tracer::addUpdated(ArrayRef<std::vector<NodeRef>> differentiated) {
  for (const std::vector<NodeRef> &together : differentiated) {
    DenseSet<Node *> nodes;
    for (const NodeRef &node : together)
      nodes.insert(node.get());
    std::vector<size_t> &updated = traced.updated.emplace_back();
    for (size_t i = 0; i < leaves.size(); ++i)
      if (isWritten(i) && nodes.contains(formals[i].get()))
        updated.push_back(i);
  }
}

/// "result" for a single tensor, "result0", ... for those of a pair; renamed if state has the same
/// path.
void Tracer::nameResults() {
  for (std::string &name : names) {
    if (name.empty() || (name[0] >= '0' && name[0] <= '9'))
      name = "result" + name;
    for (size_t i = 0; i < leaves.size(); ++i)
      if (isWritten(i) && leaves[i].path == name)
        name = "result." + name;
  }
  for (size_t i = 0; i < leaves.size(); ++i)
    if (isWritten(i))
      names.push_back(leaves[i].path);
}

/// Writes names, donation and layouts of arguments and results.
void Tracer::describe(func::FuncOp function) const {
  mlir::Builder builder(graphContext());
  auto nameOf = [&](const std::string &text) { return builder.getStringAttr(text); };
  nd::setArgAttrs(function, nd::nameAttrName, [&](unsigned i) {
    return nameOf(i < leaves.size() ? leaves[i].path
                                    : "captured" + std::to_string(i - leaves.size()));
  });
  nd::setArgAttrs(function, "heddle.donate", [&](unsigned i) {
    return i < leaves.size() && isWritten(i) ? builder.getI64IntegerAttr(traced.written[i])
                                             : Attribute();
  });
  nd::setArgAttrs(function, "nd.layout", [&](unsigned i) {
    return i < leaves.size() && !isWritten(i) && leaves[i].kept ? nameOf("any") : Attribute();
  });
  nd::setResultAttrs(function, nd::nameAttrName, [&](unsigned i) { return nameOf(names[i]); });
}

TracedModule Tracer::run(const Trace &function, bool hasMesh) {
  TraceScope scope;
  bindFormals();
  {
    llvm::scope_exit restored([&] {
      for (auto [leaf, actual] : llvm::zip_equal(leaves, actuals))
        *leaf.tensor = actual;
    });
    addOutputs(function());
    addWritten();
    addUpdated(scope.differentiated);
  }
  nameResults();
  traced.module = ModuleOp::create(locationOf(here));
  Emission emission = emit(*traced.module, options.name, formals, roots, here);
  traced.captured = emission.captured;
  if (!hasMesh)
    dropConstraints(*traced.module);
  sizes.declareRanges(emission.function);
  describe(emission.function);
  return std::move(traced);
}

TracedModule heddle::detail::traceFunction(const JitOptions &options, const JitSizes &sizes,
                                           bool hasMesh, std::vector<Leaf> &leaves,
                                           const Trace &function, Here here) {
  GraphLock lock;
  return Tracer(options, sizes, leaves, here).run(function, hasMesh);
}
