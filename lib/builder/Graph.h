//===- Graph.h - the graph behind tensors -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operation of the builder makes real nd (or nest) ops at once, in a block of its own, so that
// types are inferred and errors reported at the call. A `Node` is one result. When a value is
// needed or a function is compiled, the blocks that it depends on are cloned, in order, into a
// function:
//
//     Tensor c = a * b;                node c: block { nd.pointwise(a, b) }, operands {a, b}
//     emit(module, "f", {a, b}, {c})   func.func @f(%a, %b) { %c = nd.pointwise %a, %b; return %c }
//
// Leaves are formals of a function being traced and tensors in memory; the latter become hidden
// arguments of the functions that use them. Nodes live in one MLIR context; `GraphLock` guards it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_GRAPH_H
#define HEDDLE_LIB_BUILDER_GRAPH_H

#include "dialects/nd/Nd.h"
#include "dialects/nest/Nest.h"
#include "heddle/Scope.h"
#include "heddle/Tensor.h"
#include "runtime/base/Fork.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle::detail {

struct Node;
using NodeRef = std::shared_ptr<Node>;

/// A function that an op of the graph refers to (the one that nd.vjp differentiates, or nd.call
/// calls).
struct Callee {
  mlir::OwningOpRef<ModuleOp> module; ///< contains it, under the name "f", and its callees
};

/// The ops of one operation of the builder.
struct Fragment {
  std::unique_ptr<Block> block = std::make_unique<Block>();
  std::vector<NodeRef> operands;
  std::shared_ptr<Callee> callee;
  ~Fragment();
};

struct Node {
  std::shared_ptr<Fragment> fragment;
  Value value; ///< a result of an op of the block, or its argument for a leaf
  std::shared_ptr<RuntimeTensor> data;   ///< of a leaf in memory, or of a node that was evaluated
  std::shared_ptr<RuntimeTensor> packed; ///< the same in the layout of a `kept` argument
  std::shared_ptr<const SplitTensor> split;   ///< of a leaf: this rank's block; `data` is the whole
  std::shared_ptr<const SplitTensor> resplit; ///< the same in the sharding of a `kept` argument
  bool formal = false;
  std::string name; ///< of a formal
  /// For formals and results of calls, whose ops are elsewhere: `includedIn` of the actual value,
  /// or a leaf of its type if it is unknown here.
  NodeRef included;
  NodeRef actual;           ///< for `included` of a formal: the value that a call passes
  std::string donatedAt;    ///< location of the call to which it was donated; empty: not donated
  uint64_t number = made(); ///< nodes are numbered in the order of creation

  /// The number of nodes so far; increments it first if `more`.
  static uint64_t made(bool more = true);

  void giveUp(std::string location) {
    donatedAt = std::move(location);
    packed = nullptr;
    split = resplit = nullptr;
  }
  /// True for a leaf in memory, and for a node that was evaluated.
  bool isKnown() const { return data || split; }
  nd::NdTensorType type() const { return llvm::cast<nd::NdTensorType>(value.getType()); }
};

/// The context of all graphs, with every dialect loaded.
MLIRContext *graphContext();

/// Held while a graph is read or extended.
struct GraphLock {
  GraphLock();
  std::unique_lock<ForkMutex> lock;
};

Location locationOf(Here here);
/// ` (from file:line)`, or nothing if the location is not in a file.
std::string originOf(Location loc);
/// The type of a tensor and where it was made, for messages that compare it with another.
std::string typeAndOrigin(const Tensor &tensor);

/// Throws Error with the source location `here` (or that of a CallScope), unless it is `Here()`.
[[noreturn]] void fail(Here here, const std::string &message);
/// Runs `action` and adds the source location `here` to an Error that it throws without one.
template <typename Action>
auto located(Here here, Action &&action) {
  here = CallScope::placed(here);
  try {
    return action();
  } catch (const ExecutionError &) {
    throw; // has the op's source location
  } catch (const Error &error) {
    if (StringRef(error.what()).starts_with(Error::sourceLocation(here) + ": "))
      throw; // has this location
    fail(here, error.what());
  }
}
/// Throws Error if `value` is not representable in the element type, such as 0.5 in i64.
void requireNumber(double value, Type element, Here here);

/// The node of a tensor; throws if it is empty or was donated.
NodeRef nodeOf(const Tensor &tensor, Here here);
std::vector<NodeRef> nodesOf(const std::vector<Tensor> &tensors, Here here);
SmallVector<Value> valuesOf(ArrayRef<NodeRef> nodes);
SmallVector<StringRef> strings(const Names &names);
/// The whole tensor of a known node: gathers it, together with all ranks, if it is split. The
/// caller must not hold GraphLock, which ranks of one process share.
std::shared_ptr<RuntimeTensor> wholeOf(Node &node, Here here);

/// Runs `build` with a builder that appends to a new fragment, verifies its ops and returns the
/// results as tensors. Diagnostics become an Error with the source location.
std::vector<Tensor> makeAll(Here here, const std::vector<NodeRef> &operands,
                            function_ref<SmallVector<Value>(OpBuilder &, Location)> build,
                            std::shared_ptr<Callee> callee = nullptr);
Tensor make(Here here, const std::vector<NodeRef> &operands,
            function_ref<Value(OpBuilder &, Location)> build);

/// A tensor of ones whose excluded elements are those that windows exclude from the node, with only
/// the names that these depend on (nd::buildIncluded); null if nothing is excluded.
NodeRef includedIn(const NodeRef &node, Here here);
/// True for a leaf without a value.
bool isHidden(const NodeRef &included);

/// A leaf of the given type.
NodeRef makeLeaf(nd::NdTensorType type, Here here);

Type toMlir(ElementType type);
std::optional<ElementType> fromMlir(Type type);
/// Converts the user's extents to dims; throws Error for duplicate names and negative sizes.
SmallVector<nd::Dim> dimsOf(const std::vector<Extent> &extents, Here here);

/// The results of `emit`.
struct Emission {
  func::FuncOp function;
  std::vector<NodeRef> captured; ///< leaves in memory, arguments after the formals
};
/// Builds function `name` of `module`: its arguments are `formals`, then captured tensors; it
/// returns `roots`. Captures data leaves, and other nodes for which `captures` returns true.
Emission emit(ModuleOp module, StringRef name, const std::vector<NodeRef> &formals,
              const std::vector<NodeRef> &roots, Here here,
              function_ref<bool(const NodeRef &)> captures = nullptr);

/// The nodes that `roots` depend on, operands first. Does not visit the operands of nodes for which
/// `stop` returns true.
std::vector<NodeRef> dependencies(const std::vector<NodeRef> &roots,
                                  function_ref<bool(const NodeRef &)> stop);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_GRAPH_H
