//===- Nest.cpp - loop nests ----------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Evaluator.h"
#include "lib/interp/IndexCode.h"

#include "dialects/nest/NestBuild.h"

using namespace mlir;

namespace heddle::interp {

namespace {
/// The values of names at one point, in numbered slots: iteration names, names of enclosing groups,
/// and the integer values of reads (for gathered maps).
struct Slots {
  std::map<std::string, unsigned, std::less<>> slotOf;
  std::vector<int64_t> values;
  std::vector<bool> undecided; ///< for the slots of reads

  unsigned slot(const std::string &name) {
    auto [entry, isNew] = slotOf.try_emplace(name, unsigned(values.size()));
    if (isNew) {
      values.push_back(0);
      undecided.push_back(false);
    }
    return entry->second;
  }
  /// Creates slots for dimensions, returned in their order.
  SmallVector<unsigned> add(ArrayRef<SizedName> dims) {
    SmallVector<unsigned> result;
    for (const SizedName &dim : dims)
      result.push_back(slot(dim.first));
    return result;
  }
  void set(ArrayRef<unsigned> where, ArrayRef<int64_t> coordinates) {
    for (auto [slot, coordinate] : llvm::zip_equal(where, coordinates))
      values[slot] = coordinate;
  }
  int64_t coordinate(StringRef name) const { return values[slotOf.find(name.str())->second]; }
};

/// Evaluates an index map: the element of a tensor that is read at each point.
struct ElementIndex {
  const TensorValue *tensor;
  std::vector<IndexCode> indices; ///< one for each dimension of the tensor
  std::vector<bool> clamped;      ///< coordinates that come from reads (gathers)

  ElementIndex(const TensorValue &tensor, nest::MapAttr map, Slots &slots,
               bool clampsGathered = false)
      : tensor(&tensor) {
    for (const SizedName &dim : tensor.dims()) {
      Expr expr = *map.lookup(dim.first);
      indices.emplace_back(expr, [&](const std::string &name) { return slots.slot(name); });
      clamped.push_back(clampsGathered && nest::isGathered(expr));
    }
  }
  /// The index into the tensor's elements; none if a coordinate is out of bounds, with its
  /// dimension in `fault` and its value in `got`.
  std::optional<size_t> find(const Slots &slots, unsigned &fault, int64_t &got) const {
    size_t index = 0;
    for (auto [i, dim, code] : llvm::enumerate(tensor->dims(), indices)) {
      int64_t coordinate = code.evaluate(slots.values);
      if (clamped[i] && dim.second > 0)
        coordinate = std::clamp<int64_t>(coordinate, 0, dim.second - 1);
      if (coordinate < 0 || coordinate >= dim.second) {
        fault = unsigned(i);
        got = coordinate;
        return std::nullopt;
      }
      index = index * size_t(dim.second) + size_t(coordinate);
    }
    return index;
  }
  bool isUndecided(const Slots &slots) const {
    for (const IndexCode &code : indices)
      for (unsigned slot : code.uses())
        if (slots.undecided[slot])
          return true;
    return false;
  }
};

/// One read of a nest: the element that it reads, its guard, and the slot for its value.
struct Read {
  ElementIndex index;
  std::vector<std::pair<IndexCode, bool>> conditions; ///< `== 0` if true, else `>= 0`
  std::optional<Scalar> otherwise;
  std::optional<unsigned> slot;

  Read(const TensorValue &tensor, nest::MapAttr map, nest::GuardAttr guard, Slots &slots)
      : index(tensor, map, slots, /*clampsGathered=*/true) {
    for (const nest::Condition &condition : guard.getConditions())
      conditions.emplace_back(
          IndexCode(condition.expr(), [&](const std::string &name) { return slots.slot(name); }),
          condition.equality);
    if (guard.getOtherwise())
      otherwise = ofAttribute(guard.getOtherwise());
  }
  bool holds(const Slots &slots) const {
    return llvm::all_of(conditions, [&](const auto &condition) {
      int64_t value = condition.first.evaluate(slots.values);
      return condition.second ? value == 0 : value >= 0;
    });
  }
};

/// The reads of a region.
class RegionReads {
public:
  RegionReads(Operation *op, ArrayRef<const TensorValue *> tensors, ArrayRef<Attribute> maps,
              ArrayRef<Attribute> guards, Slots &slots, bool gathers)
      : op(op), slots(slots) {
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      reads.emplace_back(*tensor, cast<nest::MapAttr>(maps[i]), cast<nest::GuardAttr>(guards[i]),
                         slots);
      if (gathers && isa<IntegerType>(tensor->elementType()))
        reads.back().slot = slots.slot(nest::readName(unsigned(i)));
    }
  }

  /// Appends the elements read at the current point; false if a guard excludes the point.
  FailureOr<bool> collect(SmallVectorImpl<Scalar> &values) {
    for (const Read &read : reads) {
      Scalar value;
      if (!read.holds(slots)) {
        if (!read.otherwise)
          return false;
        value = *read.otherwise;
      } else {
        unsigned fault = 0;
        int64_t got = 0;
        bool undecided = read.index.isUndecided(slots);
        if (auto index = read.index.find(slots, fault, got))
          value = read.index.tensor->elements[*index];
        else if (!undecided)
          return outside(read, fault, got);
        value.undecided |= undecided;
      }
      if (read.slot) {
        slots.values[*read.slot] = coordinate(value, read.index.tensor->elementType());
        slots.undecided[*read.slot] = value.undecided;
      }
      values.push_back(value);
    }
    return true;
  }

private:
  LogicalResult outside(const Read &read, unsigned fault, int64_t got) {
    const SizedName &dim = read.index.tensor->dims()[fault];
    return op->emitOpError() << "reads outside of its operand " << (&read - reads.data()) << ": '"
                             << dim.first << "' is " << got << ", expected to stay in [0, "
                             << dim.second << ")";
  }

  Operation *op;
  Slots &slots;
  std::vector<Read> reads;
};
} // namespace

static Slots slotsOf(const Frame &frame) {
  Slots slots;
  for (const auto &[name, value] : frame.symbols)
    slots.values[slots.slot(name)] = value.constant().value_or(0);
  for (const auto &[name, coordinate] : frame.group)
    slots.values[slots.slot(name)] = coordinate;
  return slots;
}

/// Refuses a nest that uses a number of a device, such as `mesh.d`, which the caller of its
/// function does not supply. `slots` has all names that the nest may use.
static LogicalResult checkNames(nest::LoopNestInterface nest, const Slots &slots) {
  std::optional<std::string> missing;
  auto use = [&](const std::string &name) {
    if (!nest::readIndex(name) && !slots.slotOf.count(name))
      missing = name;
  };
  for (Attribute map : nest.getMapsAttr())
    for (const nest::MapEntry &entry : cast<nest::MapAttr>(map).getEntries())
      llvm::for_each(entry.expr().names(), use);
  for (Attribute guard : nest.getGuardsAttr())
    for (const nest::Condition &condition : cast<nest::GuardAttr>(guard).getConditions())
      llvm::for_each(condition.expr().names(), use);
  nest->walk([&](nest::IndexOp index) { use(index.getName().str()); });
  if (!missing)
    return success();
  return nest->emitOpError() << "expected a caller that supplies '" << *missing << "'";
}

static SmallVector<Scalar> convertAll(ArrayRef<Scalar> values, TypeRange from, ArrayRef<Type> to,
                                      Arithmetic &arithmetic) {
  SmallVector<Scalar> result;
  for (auto [value, source, target] : llvm::zip_equal(values, from, to))
    result.push_back(arithmetic.convert(value, source, target));
  return result;
}

static TypeRange yieldTypes(Region &region) {
  return region.front().getTerminator()->getOperandTypes();
}

static LogicalResult compute(nest::ComputeOp op, Frame &frame, Evaluator &evaluator,
                             MutableArrayRef<TensorValue> results) {
  Slots slots = slotsOf(frame);
  auto produced = evaluator.extents(op, op.getProduced(), frame);
  auto reduced = evaluator.extents(op, op.getReduced(), frame);
  if (failed(produced) || failed(reduced))
    return failure();
  SmallVector<unsigned> producedSlots = slots.add(*produced), reducedSlots = slots.add(*reduced);
  if (failed(checkNames(op, slots)))
    return failure();
  size_t count = op.getReads().size();
  ArrayRef<Attribute> maps = op.getMaps().getValue(), guards = op.getGuards().getValue();
  RegionReads reads(op, frame[op.getReads()], maps.take_front(count), guards.take_front(count),
                    slots,
                    /*gathers=*/true);
  RegionReads finishReads(op, frame[op.getFinishReads()], maps.drop_front(count),
                          guards.drop_front(count), slots, /*gathers=*/false);

  SmallVector<Type> accumulators(yieldTypes(op.getBody()));
  SmallVector<Scalar> neutral;
  Combiner *combiner = nullptr;
  if (op.isReduction()) {
    accumulators.clear();
    for (Attribute value : op.getNeutral()) {
      accumulators.push_back(cast<TypedAttr>(value).getType());
      neutral.push_back(ofAttribute(value));
    }
    FailureOr<Combiner *> prepared = evaluator.combiner(op.getCombine(), accumulators);
    if (failed(prepared))
      return failure();
    combiner = *prepared;
  }
  FailureOr<ScalarRegion *> body = evaluator.code(op.getBody());
  FailureOr<ScalarRegion *> finish = nullptr;
  if (failed(body) || (!op.getFinish().empty() && failed(finish = evaluator.code(op.getFinish()))))
    return failure();
  auto coordinates = [&](StringRef name) { return slots.coordinate(name); };

  SmallVector<Scalar> arguments;
  for (Walk walk(*produced); walk; ++walk) {
    slots.set(producedSlots, walk.coordinates());
    SmallVector<Scalar> values;
    std::optional<Fold> fold;
    if (combiner)
      fold.emplace(*combiner, neutral);
    for (Walk inner(*reduced); inner; ++inner) {
      slots.set(reducedSlots, inner.coordinates());
      arguments.clear();
      FailureOr<bool> included = reads.collect(arguments);
      if (failed(included))
        return failure();
      if (!*included)
        continue;
      values = convertAll((*body)->run(arguments, coordinates), yieldTypes(op.getBody()),
                          accumulators, evaluator.arithmetic);
      if (fold)
        fold->add(values);
    }
    if (fold) {
      auto folded = fold->result();
      values.assign(folded.begin(), folded.end());
    }
    TypeRange types = accumulators;
    if (*finish) {
      FailureOr<bool> included = finishReads.collect(values);
      if (failed(included))
        return failure();
      ArrayRef<Scalar> finished = (*finish)->run(values, coordinates);
      values.assign(finished.begin(), finished.end());
      types = yieldTypes(op.getFinish());
    }
    for (auto [result, value, type] : llvm::zip_equal(results, values, types))
      result.elements[walk.count()] =
          evaluator.arithmetic.convert(value, type, nd::signless(result.elementType()));
  }
  return success();
}

static LogicalResult update(nest::UpdateOp op, Frame &frame, Evaluator &evaluator,
                            TensorValue &result) {
  result = frame[op.getDest()];
  Slots slots = slotsOf(frame);
  auto space = evaluator.extents(op, op.getSpace(), frame);
  if (failed(space))
    return failure();
  SmallVector<unsigned> spaceSlots = slots.add(*space);
  if (failed(checkNames(op, slots)))
    return failure();
  RegionReads reads(op, frame[op.getReads()], op.getMaps().getValue(), op.getGuards().getValue(),
                    slots,
                    /*gathers=*/true);
  ElementIndex target(result, op.getDestMap(), slots);
  Type element = nd::signless(result.elementType());
  FailureOr<ScalarRegion *> body = evaluator.code(op.getBody());
  FailureOr<Combiner *> combiner = evaluator.combiner(op.getCombine(), element);
  if (failed(body) || failed(combiner))
    return failure();
  auto coordinates = [&](StringRef name) { return slots.coordinate(name); };

  std::map<size_t, Fold> folds; // by the index of an element of the result
  bool anywhere = false;
  SmallVector<Scalar> arguments;
  for (Walk walk(*space); walk; ++walk) {
    slots.set(spaceSlots, walk.coordinates());
    arguments.clear();
    FailureOr<bool> included = reads.collect(arguments);
    if (failed(included))
      return failure();
    if (!*included)
      continue;
    unsigned fault;
    int64_t got;
    anywhere |= target.isUndecided(slots);
    std::optional<size_t> index = target.find(slots, fault, got);
    if (!index)
      continue;
    auto [fold, isNew] = folds.try_emplace(*index, **combiner, result.elements[*index]);
    if (!isNew && op.getUnique() && !anywhere)
      return op.emitOpError() << "is declared unique, but updates an element twice, at "
                              << text(walk.position());
    fold->second.add((*body)->run(arguments, coordinates));
  }
  for (auto &[index, fold] : folds)
    result.elements[index] = fold.result()[0];
  if (anywhere)
    for (Scalar &scalar : result.elements)
      scalar.undecided = true;
  return success();
}

static LogicalResult scan(nest::ScanOp op, Frame &frame, Evaluator &evaluator,
                          MutableArrayRef<TensorValue> results) {
  auto dims = evaluator.extents(op, op.getAlong(), frame);
  if (failed(dims))
    return failure();
  SizedName along = dims->front();
  Block &block = op.getBody().front();
  size_t carried = op.getInits().size();
  SmallVector<TensorRef> state = frame.refs(op.getInits());
  for (int64_t step = 0; step < along.second; ++step) {
    int64_t at = op.getReverse() ? along.second - 1 - step : step;
    for (auto [argument, value] : llvm::zip(block.getArguments(), state))
      frame.values[argument] = value;
    for (auto [argument, read] :
         llvm::zip_equal(block.getArguments().drop_front(carried), op.getReads()))
      frame.values[argument] =
          std::make_shared<const TensorValue>(frame[read].slice(along.first, at));
    if (failed(evaluator.run(block, frame)))
      return failure();
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      if (i < carried)
        state[i] = frame.ref(value);
      else
        results[i].setSlice(along.first, at, frame[value]);
    }
  }
  for (auto [result, value] : llvm::zip(results, state))
    result = *value;
  return success();
}

static LogicalResult group(nest::GroupOp op, Frame &frame, Evaluator &evaluator,
                           MutableArrayRef<TensorValue> results) {
  Block &block = op.getBody().front();
  auto names = evaluator.extents(op, op.getNames(), frame);
  if (failed(names))
    return failure();
  Sizes enclosing = frame.group;
  for (Walk walk(*names); walk; ++walk) {
    Sizes point = walk.position();
    for (const auto &[name, coordinate] : point)
      frame.group[name] = coordinate;
    if (failed(evaluator.run(block, frame)))
      return failure();
    for (auto [result, value] : llvm::zip_equal(results, block.getTerminator()->getOperands())) {
      const TensorValue &part = frame[value];
      for (Walk inner(part.dims()); inner; ++inner) {
        Sizes position = inner.position();
        position.insert(point.begin(), point.end());
        result.at(position) = part.elements[inner.count()];
      }
    }
  }
  frame.group = std::move(enclosing);
  return success();
}

std::optional<LogicalResult> Evaluator::evaluateNest(Operation *op, Frame &frame) {
  if (!isa<nest::ComputeOp, nest::UpdateOp, nest::ScanOp, nest::SortOp, nest::GroupOp>(op))
    return std::nullopt;
  FailureOr<SmallVector<TensorValue>> made = resultsOf(op, frame);
  if (failed(made))
    return failure();
  SmallVector<TensorValue> &results = *made;
  LogicalResult done = failure();
  if (auto each = dyn_cast<nest::ComputeOp>(op))
    done = compute(each, frame, *this, results);
  else if (auto each = dyn_cast<nest::UpdateOp>(op))
    done = update(each, frame, *this, results[0]);
  else if (auto each = dyn_cast<nest::ScanOp>(op))
    done = scan(each, frame, *this, results);
  else if (auto each = dyn_cast<nest::SortOp>(op))
    sort(frame[each.getInputs()], each.getAlong().begin()->name.str(), each.getDescending(),
         results),
        done = success();
  else
    done = group(cast<nest::GroupOp>(op), frame, *this, results);
  return failed(done) ? done : setResults(op, frame, results);
}

} // namespace heddle::interp
