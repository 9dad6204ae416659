//===- Kernel.cpp - kernels as index expressions --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel collects the reads of its bodies, finds the iteration space and its sizes, and makes one
// nest.compute. A computed index that is not an affine expression of loaded integers becomes a
// kernel of its own, whose result is read instead.
//
//===----------------------------------------------------------------------===//

#include "heddle/Kernel.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"
#include "dialects/nest/NestGradient.h"
#include "lib/builder/KernelIteration.h"
#include "lib/builder/Pointwise.h"
#include "lib/builder/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

using Kind = Scalar::Node::Kind;

static Scalar read(const Tensor &tensor, const std::vector<Coordinate> &coordinates,
                   std::optional<double> otherwise, Here here) {
  Scalar::Node node{.kind = Kind::Read, .here = here, .tensor = tensor, .otherwise = otherwise};
  NodeRef source = nodeOf(tensor, here);
  for (const Coordinate &coordinate : coordinates) {
    if (!source->type().has(coordinate.name.str()))
      fail(here, "unknown name '" + coordinate.name.str() + "': the tensor read is " +
                     typeAndOrigin(tensor));
    if (!node.coordinates.emplace(coordinate.name.str(), coordinate.index).second)
      fail(here, "the name '" + coordinate.name.str() + "' has two coordinates");
  }
  return Scalar(std::make_shared<const Scalar::Node>(std::move(node)));
}

Scalar heddle::at(const Tensor &tensor, const std::vector<Coordinate> &coordinates, Here here) {
  return read(tensor, coordinates, std::nullopt, here);
}
Scalar heddle::atOr(const Tensor &tensor, const std::vector<Coordinate> &coordinates,
                    double otherwise, Here here) {
  return read(tensor, coordinates, otherwise, here);
}

KernelBuilder &KernelBuilder::combineBy(const std::string &kind, const Names &names) {
  if (!combiner.empty() && (combiner != kind || !combined.empty()))
    fail(here, "a kernel has one combiner, got '" + combiner + "' and '" + kind + "'");
  combiner = kind;
  for (const Name &name : names)
    reduced.push_back(name);
  return *this;
}
KernelBuilder &KernelBuilder::reduce(const std::string &kind, const Names &names) {
  auto known = nd::parseCombinerKind(kind);
  if (!known || *known == nd::CombinerKind::General)
    fail(here, "unknown combiner '" + kind + "'");
  return combineBy(kind, names);
}
KernelBuilder &KernelBuilder::reduce(const Names &names, std::vector<double> neutralElements,
                                     const Combine &combine) {
  combineBy("general", names);
  combined = ScalarCombiner(combine, neutralElements.size(), here).results;
  neutral = std::move(neutralElements);
  return *this;
}
KernelBuilder &KernelBuilder::reduce(const Names &names, double neutralElement,
                                     const std::function<Scalar(Scalar, Scalar)> &combine) {
  return reduce(names, std::vector<double>{neutralElement},
                [&](const Scalars &a, const Scalars &b) { return Scalars{combine(a[0], b[0])}; });
}
KernelBuilder &KernelBuilder::accumulate(ElementType type) {
  accumulator = type;
  return *this;
}
KernelBuilder &KernelBuilder::size(const Name &name, const Size &size) {
  if (size.isNumber() && int64_t(size) < 0)
    fail(here, "the size of '" + name.str() + "' is negative: " + size.expr().str());
  sizes[name.str()] = size.expr();
  return *this;
}
KernelBuilder &KernelBuilder::where(const Expr &condition) {
  conditions.push_back(condition);
  return *this;
}
KernelBuilder &KernelBuilder::where(const Scalar &condition) {
  predicates.push_back(condition);
  return *this;
}

/// Builds the nest of a kernel with the given bodies: names and sizes, indices, types, code.
class KernelBuilder::Nest {
public:
  Nest(const KernelBuilder &kernel, const Scalars &bodies) : kernel(kernel), bodies(bodies) {
    roots = bodies;
    roots.insert(roots.end(), kernel.predicates.begin(), kernel.predicates.end());
    listNames();
    reads = collected(KernelReads());
    std::set<std::string> names = namesOf(reads, roots);
    names.insert(produced.begin(), produced.end());
    names.insert(reduced.begin(), reduced.end());
    space = findSizes(reads, kernel.sizes, names, kernel.here);
    for (const std::string &name : names) // names to lift over
      if (!reduced.count(name))
        produced.insert(name);
    while (!reads.computed.empty())
      storeIndices();
  }

  std::vector<Tensor> make() {
    std::vector<NodeRef> operands;
    for (const ScalarRef &read : reads.list)
      operands.push_back(read->tensor.node);
    return makeAll(kernel.here, operands, [&](OpBuilder &builder, Location loc) {
      nest::NestBuilder nest(builder, loc);
      nest.produced = dimsOf(produced);
      nest.reduced = dimsOf(reduced);
      addReads(nest);
      chooseTypes(builder);
      return emit(nest);
    });
  }

private:
  const KernelBuilder &kernel;
  const Scalars &bodies;
  Scalars roots; ///< all scalars: the bodies, then the predicates
  std::set<std::string> produced, reduced;
  KernelReads reads;
  IterationSpace space;
  Scalars holds; ///< predicates of the points of the reduction, besides guards
  SmallVector<Type> elements, accumulators; ///< of the results, with signedness
  SmallVector<TypedAttr> neutrals;

  void listNames() {
    const Here here = kernel.here;
    for (const Name &name : kernel.produced)
      if (!produced.insert(name.str()).second)
        fail(here, "the name '" + name.str() + "' is produced twice");
    for (const Name &name : kernel.reduced)
      if (produced.count(name.str()) || !reduced.insert(name.str()).second)
        fail(here, "the name '" + name.str() + "' is listed twice");
    size_t count = kernel.combined.size();
    if (count != 0 && !reduced.empty() && count != bodies.size())
      fail(here, "expected " + std::to_string(count) +
                     " results, one for each scalar that the combiner gives, got " +
                     std::to_string(bodies.size()));
    if (reduced.empty() && (!kernel.predicates.empty() || !kernel.conditions.empty()))
      fail(here, "where() leaves points out of a reduction, and this kernel reduces nothing; use "
                 "select for other values at some points");
  }

  KernelReads collected(KernelReads from) const {
    for (const Scalar &root : roots)
      from.collect(root.node);
    return from;
  }

  /// Materialises indices that are not affine, by kernels of their own.
  void storeIndices() {
    OpBuilder untyped(graphContext());
    KernelReads next;
    next.stored = reads.stored;
    for (const ScalarRef &value : reads.computed) {
      KernelBuilder inner({}, value->here);
      for (const std::string &name : namesOf(reads, Scalar(value))) {
        inner.produced.push_back(Name(name));
        inner.sizes.emplace(name, space.sizes.at(name));
      }
      Type own = emitterOf(untyped, untyped.getUnknownLoc(), {}).ownType(value);
      Tensor stored = inner.of(own ? Scalar(value) : Scalar(value).cast(ElementType::I64));
      if (!stored.node->type().getElementType().isInteger())
        fail(value->here, "expected an integer index, got " + stored.type() +
                              "; convert with cast, or write floor and cast");
      next.stored[value.get()] = at(stored, {}, value->here).node;
    }
    reads = collected(std::move(next));
  }

  nd::DimsAttr dimsOf(const std::set<std::string> &names) const {
    SmallVector<nd::Dim> dims;
    for (const std::string &name : names)
      dims.emplace_back(graphContext(), name, space.sizes.at(name));
    return nd::DimsAttr::getSorted(graphContext(), dims);
  }

  void addReads(nest::NestBuilder &nest) {
    MLIRContext *context = graphContext();
    // A guard with a replacement value excludes no point.
    auto guarded =
        llvm::find_if(reads.list, [](const ScalarRef &read) { return !read->otherwise; });
    holds = kernel.predicates;
    if (guarded == reads.list.end())
      for (const Expr &condition : kernel.conditions)
        holds.push_back(Scalar(condition, kernel.here) >= Scalar(0.0, kernel.here));
    for (const ScalarRef &read : reads.list) {
      // A read along a whole name has the size of that name, with the same spelling.
      Value tensor = read->tensor.node->value;
      for (const nd::Dim &dim : read->tensor.node->type().getDims()) {
        auto along = reads.indexAlong(*read, dim.name.getValue())->asName();
        auto size = along ? space.sizes.find(*along) : space.sizes.end();
        if (!read->otherwise && size != space.sizes.end() && !kernel.sizes.count(*along))
          tensor = nd::buildResized(
              nest.builder, nest.loc, tensor,
              nd::NdTensorType::get(nest.builder.getI1Type(),
                                    nd::Dim(context, dim.name.getValue(), size->second)));
      }
      auto type = cast<nd::NdTensorType>(tensor.getType());
      SmallVector<nest::MapEntry> entries;
      SmallVector<nest::Condition> inside;
      for (const nd::Dim &dim : type.getDims()) {
        Expr index = *reads.indexAlong(*read, dim.name.getValue());
        entries.emplace_back(context, dim.name.getValue(), index);
        if (read->otherwise) {
          inside.emplace_back(context, index);
          inside.emplace_back(context, dim.size().getExpr() - 1 - index);
        }
      }
      if (guarded != reads.list.end() && read == *guarded)
        for (const Expr &condition : kernel.conditions)
          inside.emplace_back(context, condition);
      TypedAttr otherwise;
      if (read->otherwise)
        otherwise = numberAttr(type.getElementType(), *read->otherwise, read->here);
      nest.read(tensor, nest::MapAttr::getSorted(context, entries),
                nest::GuardAttr::get(context, inside, otherwise));
    }
  }

  ScalarEmitter emitterOf(OpBuilder &builder, Location loc, ValueRange arguments) const {
    return {builder, loc,
            [this, arguments](const Scalar::Node &node) {
              return arguments[reads.position.lookup(&node)];
            },
            [](const Scalar::Node &node) { return node.tensor.node->type().getElementType(); }};
  }

  void chooseTypes(OpBuilder &builder) {
    auto emitter = emitterOf(builder, locationOf(kernel.here), {});
    for (auto [i, body] : llvm::enumerate(bodies)) {
      Type own = emitter.ownType(body.node);
      elements.push_back(own ? own : builder.getF32Type());
      Type wide = accumulatorFor(elements[i], kernel.accumulator, kernel.here);
      accumulators.push_back(wide);
      if (!reduced.empty())
        neutrals.push_back(kernel.combined.empty()
                               ? nd::neutralElement(*nd::parseCombinerKind(kernel.combiner),
                                                    nd::signless(wide), !wide.isUnsignedInteger())
                               : numberAttr(wide, kernel.neutral[i], kernel.here));
    }
  }

  SmallVector<Value> emitBodies(OpBuilder &b, Location loc, ValueRange arguments) const {
    auto emitter = emitterOf(b, loc, arguments);
    SmallVector<Value> values;
    for (auto [body, element] : llvm::zip_equal(bodies, elements))
      values.push_back(emitter.emit(body.node, element));
    Type truth = b.getI1Type();
    for (const Scalar &predicate : holds) {
      Value condition = emitter.emit(predicate.node, truth);
      if (condition.getType() != truth) {
        std::string text;
        llvm::raw_string_ostream(text)
            << "expected a condition of element type i1 in where(), got " << condition.getType();
        fail(predicate.node->here, text);
      }
      for (auto [i, value] : llvm::enumerate(values)) {
        Value none = arith::ConstantOp::create(b, loc, neutrals[i]);
        none = nd::convertScalar(b, loc, none, accumulators[i], elements[i]);
        value = arith::SelectOp::create(b, loc, condition, value, none);
      }
    }
    return values;
  }

  SmallVector<Value> emitCombiner(OpBuilder &b, Location loc, ValueRange arguments) const {
    if (!kernel.combined.empty())
      return ScalarCombiner{kernel.combined, kernel.here}.emit(b, loc, arguments, accumulators);
    SmallVector<Value> values;
    for (auto [i, type] : llvm::enumerate(accumulators))
      values.push_back(binary(b, loc, kernel.combiner, arguments[i],
                              arguments[accumulators.size() + i], type.isUnsignedInteger()));
    if (llvm::is_contained(values, Value()))
      fail(kernel.here, "the combiner '" + kernel.combiner +
                            "' is not defined for these element types; convert with cast");
    return values;
  }

  SmallVector<Value> emit(nest::NestBuilder &nest) {
    Deferred deferred;
    auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      return deferred.run(b, loc, elements, [&] { return emitBodies(b, loc, arguments); });
    };
    auto combine = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      return deferred.run(b, loc, accumulators, [&] { return emitCombiner(b, loc, arguments); });
    };
    nest::ComputeOp op = reduced.empty() ? nest.create(elements, body)
                                         : nest.create(elements, body, neutrals, combine);
    deferred.rethrow();
    // Among equal elements, the first in the order of the reduced names is chosen.
    if (reduced.size() > 1 && (kernel.combiner == "max" || kernel.combiner == "min"))
      op->setAttr(nest::orderAttrName,
                  nest.builder.getStrArrayAttr(llvm::map_to_vector(
                      kernel.reduced, [](const Name &name) { return StringRef(name.str()); })));
    return SmallVector<Value>(op.getResults());
  }
};

std::vector<Tensor> KernelBuilder::all(const Scalars &bodies) const {
  if (bodies.empty())
    fail(here, "expected at least one body of the kernel, got none");
  GraphLock lock;
  return Nest(*this, bodies).make();
}
