//===- ReadGraph.cpp - the graph of a function of nests -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/ReadGraph.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/CanonicalNames.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/analysis/Operators.h"
#include "lib/cost/Cost.h"

#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
/// Finds which names of the nests of a choice are one.
class SharedNames {
public:
  /// A name of a nest, or a dimension of a value.
  using Item = std::pair<void *, std::string>;

  unsigned classOf(const Item &item) { return rootOf(numberOf(item)); }
  std::optional<unsigned> find(const Item &item) {
    auto known = numbers.find(item);
    return known == numbers.end() ? std::nullopt : std::optional(rootOf(known->second));
  }
  void addNest(Operation *nest, StringRef name) {
    ofNests[classOf({nest, name.str()})].insert(nest);
  }
  /// Does nothing if a nest would have two names in a class.
  void join(const Item &a, const Item &b) {
    unsigned to = classOf(a), from = classOf(b);
    if (to == from ||
        llvm::any_of(ofNests[from], [&](Operation *nest) { return ofNests[to].contains(nest); }))
      return;
    parents[from] = to;
    ofNests[to].insert(ofNests[from].begin(), ofNests[from].end());
  }

private:
  std::map<Item, unsigned> numbers;
  std::vector<unsigned> parents;
  std::vector<llvm::SmallPtrSet<Operation *, 4>> ofNests; ///< by class: the nests with such a name

  unsigned numberOf(const Item &item) {
    auto [entry, isNew] = numbers.try_emplace(item, unsigned(parents.size()));
    if (isNew) {
      parents.push_back(entry->second);
      ofNests.emplace_back();
    }
    return entry->second;
  }
  unsigned rootOf(unsigned number) const {
    while (parents[number] != number)
      number = parents[number];
    return number;
  }
};

/// An access of a nest to a value: its coordinate along each dimension.
struct Access {
  Value value;
  nest::MapAttr map;
};

SharedNames::Item itemOf(Value value, StringRef dim) {
  return {value.getAsOpaquePointer(), dim.str()};
}

bool isDivisible(Operation *op) { return isa<nest::LoopNestInterface>(op); }

/// The values that a nest reads, and the destination of an update.
SmallVector<Access> accessesOf(Operation *op) {
  SmallVector<Access> accesses;
  if (isDivisible(op)) {
    for (const NestRead &read : readsOf(op))
      accesses.push_back({read.value, read.map});
    if (auto update = dyn_cast<nest::UpdateOp>(op))
      accesses.push_back({update.getDest(), update.getDestMap()});
    return accesses;
  }
  for (Value used : nest::kernelOperands(op))
    if (isa<nd::NdTensorType>(used.getType()))
      accesses.push_back({used, nullptr});
  return accesses;
}

/// The map from the iteration names of a nest to the dimensions of a result.
nest::MapAttr mapOfResult(Operation *op, Value result) {
  if (auto update = dyn_cast<nest::UpdateOp>(op))
    return update.getDestMap();
  return isDivisible(op) ? nest::MapAttr::identity(nd::tensorType(result)) : nest::MapAttr();
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

class Reader {
public:
  Reader(func::FuncOp function, const cost::Machine &machine, bool isTied)
      : function(function), machine(machine), isTied(isTied), found(operatorsOf(function)),
        spelled(spellings(function)) {}

  Graph run() {
    if (!divide(/*isWhole=*/true)) {
      graph = {};
      pieces.clear();
      divide(/*isWhole=*/false);
    }
    for (unsigned i = 0; i < graph.choices.size(); ++i)
      findNames(i);
    for (unsigned i = 0; i < pieces.size(); ++i)
      describe(i);
    for (unsigned i = 0; i < pieces.size(); ++i)
      addReads(i);
    return std::move(graph);
  }

private:
  /// The nests of an operator of the graph.
  struct Piece {
    SmallVector<Operation *, 4> nests;
    const Operator *of = nullptr;
    unsigned choice = 0;
  };
  mutable func::FuncOp function;
  const cost::Machine &machine;
  bool isTied;
  std::vector<Operator> found;
  Labels spelled;
  Graph graph;
  std::vector<Piece> pieces; ///< by operator of the graph
  DenseMap<Operation *, unsigned> pieceOf;
  std::vector<SharedNames> shared; ///< by choice
  /// By choice: the number of a name, by class.
  std::vector<std::map<unsigned, unsigned>> numbers;
  DenseMap<Value, unsigned> valueOf;

  /// Divides operators into what comes before a sum, with it, and what follows; `isWhole` or not,
  /// into single nests. Returns false if two of them would wait for each other.
  bool divide(bool isWhole) {
    std::vector<Piece> made;
    std::map<std::string, unsigned> choices;
    for (const Operator &each : found) {
      auto [choice, isNew] =
          choices.try_emplace(isTied ? each.base : each.name, unsigned(graph.choices.size()));
      if (isNew)
        graph.choices.push_back({choice->first, {}});
      Piece first{{}, &each, choice->second}, second = first;
      llvm::SmallPtrSet<Operation *, 8> before;
      if (!each.roots.empty())
        before.insert(each.roots[0]);
      for (Operation *nest : llvm::reverse(each.nests))
        if (before.contains(nest) ||
            llvm::any_of(nest->getUsers(), [&](Operation *user) { return before.contains(user); }))
          before.insert(nest);
      for (Operation *nest : each.nests) {
        if (isWhole)
          (before.contains(nest) ? first : second).nests.push_back(nest);
        else
          made.push_back({{nest}, &each, choice->second});
      }
      for (Piece &piece : {std::ref(first), std::ref(second)})
        if (!piece.nests.empty())
          made.push_back(std::move(piece));
    }
    return sort(std::move(made));
  }

  /// Lists pieces so that each comes after those that it waits for.
  bool sort(std::vector<Piece> made) {
    DenseMap<Operation *, unsigned> numberOf;
    for (auto [i, piece] : llvm::enumerate(made))
      for (Operation *nest : piece.nests)
        numberOf[nest] = unsigned(i);
    std::vector<std::set<unsigned>> after(made.size());
    std::vector<unsigned> missing(made.size());
    for (auto [i, piece] : llvm::enumerate(made))
      for (Operation *nest : piece.nests)
        for (Value used : nest::kernelOperands(nest))
          if (auto maker = numberOf.find(used.getDefiningOp());
              maker != numberOf.end() && maker->second != i)
            missing[i] += after[maker->second].insert(unsigned(i)).second;
    std::set<unsigned> ready;
    for (unsigned i = 0; i < made.size(); ++i)
      if (missing[i] == 0)
        ready.insert(i);
    while (!ready.empty()) {
      unsigned next = *ready.begin();
      ready.erase(ready.begin());
      for (unsigned each : after[next])
        if (--missing[each] == 0)
          ready.insert(each);
      for (Operation *nest : made[next].nests)
        pieceOf[nest] = unsigned(pieces.size());
      pieces.push_back(std::move(made[next]));
    }
    return pieces.size() == made.size();
  }

  void findNames(unsigned choice) {
    SharedNames &names = shared.emplace_back();
    SmallVector<Operation *> nests;
    for (const Piece &piece : pieces)
      if (piece.choice == choice)
        for (Operation *nest : piece.nests)
          if (isDivisible(nest))
            nests.push_back(nest);
    std::map<std::pair<std::string, int64_t>, SharedNames::Item> alike;
    std::vector<std::pair<SharedNames::Item, SharedNames::Item>> byLabel;
    for (Operation *nest : nests)
      for (nd::DimsAttr dims : iterationNamesOf(nest))
        for (const nd::Dim &dim : dims) {
          names.addNest(nest, dim.name);
          SharedNames::Item item{nest, dim.name.str()};
          auto [first, isNew] =
              alike.try_emplace({labelOf(spelled, dim.name), dim.size().typical()}, item);
          if (!isNew)
            byLabel.emplace_back(first->second, item);
        }
    for (Operation *nest : nests) {
      for (Value result : nest->getResults())
        joinWhole(names, nest, result, mapOfResult(nest, result));
      for (const Access &access : accessesOf(nest))
        joinWhole(names, nest, access.value, access.map);
    }
    for (const auto &[first, second] : byLabel)
      names.join(first, second);
    numberNames(choice);
  }

  /// A name that is a coordinate of a whole dimension is the name of this dimension.
  static void joinWhole(SharedNames &names, Operation *nest, Value value, nest::MapAttr map) {
    for (const nd::Dim &dim : nd::tensorType(value).getDims()) {
      std::optional<std::string> name = map.lookup(dim.name)->asName();
      for (nd::DimsAttr dims : iterationNamesOf(nest))
        if (name && dims.contains(*name) && dims.lookup(*name) == dim.size())
          names.join(itemOf(value, dim.name), {nest, *name});
    }
  }

  /// Only names of nests that are not pointwise are split, as others follow these.
  void numberNames(unsigned choice) {
    std::map<unsigned, unsigned> &numberOf = numbers.emplace_back();
    for (const Operator &each : found)
      for (Operation *nest : each.splitNests()) {
        auto piece = pieceOf.find(nest);
        if (piece == pieceOf.end() || pieces[piece->second].choice != choice || !isDivisible(nest))
          continue;
        for (nd::DimsAttr dims : iterationNamesOf(nest))
          for (const nd::Dim &dim : dims) {
            unsigned of = shared[choice].classOf({nest, dim.name.str()});
            if (int64_t size = dim.size().typical();
                size > 1 && numberOf.try_emplace(of, unsigned(numberOf.size())).second)
              graph.choices[choice].names.push_back({labelOf(spelled, dim.name), size});
          }
      }
  }

  std::optional<unsigned> numberOf(unsigned choice, const SharedNames::Item &item) {
    std::optional<unsigned> of = shared[choice].find(item);
    auto number = of ? numbers[choice].find(*of) : numbers[choice].end();
    return number == numbers[choice].end() ? std::nullopt : std::optional(number->second);
  }

  void describe(unsigned i) {
    const Piece &piece = pieces[i];
    Graph::Operator op{piece.of->name, piece.choice};
    op.isUpdate = piece.of->roots.empty();
    std::set<unsigned> names;
    for (Operation *nest : piece.nests) {
      op.operations += arithmeticOf(nest);
      op.seconds += cost::secondsBySizes(nest, machine);
      if (isDivisible(nest))
        for (nd::DimsAttr dims : iterationNamesOf(nest))
          for (const nd::Dim &dim : dims)
            if (auto number = numberOf(piece.choice, {nest, dim.name.str()}))
              names.insert(*number);
      for (Value result : nest->getResults())
        if (isa<nd::NdTensorType>(result.getType()))
          addValue(i, nest, result);
    }
    op.names.assign(names.begin(), names.end());
    graph.operators.push_back(std::move(op));
  }

  void addValue(unsigned maker, Operation *nest, Value result) {
    bool isRead = llvm::any_of(result.getUsers(), [&](Operation *user) {
      Operation *in = function.front().findAncestorOpInBlock(*user);
      auto piece = pieceOf.find(in);
      return isa<func::ReturnOp>(in) || (piece != pieceOf.end() && piece->second != maker);
    });
    if (!isRead)
      return;
    auto type = nd::tensorType(result);
    nest::MapAttr map = mapOfResult(nest, result);
    Graph::Value value{maker, {}, {}, {}, int64_t(elementBytes(type.getElementType()))};
    std::set<unsigned> kept;
    for (const nd::Dim &dim : type.getDims()) {
      value.sizes.push_back(dim.size().typical());
      // A dimension that a nest writes elsewhere is not in blocks of its maker.
      bool isOwn = map && map.lookup(dim.name)->asName();
      value.names.push_back(isOwn ? numberOf(pieces[maker].choice, itemOf(result, dim.name))
                                  : std::nullopt);
      if (value.names.back())
        kept.insert(*value.names.back());
    }
    if (isDivisible(nest))
      for (nd::DimsAttr dims : iterationNamesOf(nest))
        for (const nd::Dim &dim : dims)
          if (auto number = numberOf(pieces[maker].choice, {nest, dim.name.str()});
              number && kept.insert(*number).second)
            value.summed.push_back(*number);
    valueOf[result] = unsigned(graph.values.size());
    graph.values.push_back(std::move(value));
  }

  //===--------------------------------------------------------------------===//
  // Reads
  //===--------------------------------------------------------------------===//

  void addReads(unsigned i) {
    std::map<std::pair<unsigned, bool>, Graph::Read> reads;
    for (Operation *nest : pieces[i].nests)
      for (const Access &access : accessesOf(nest)) {
        auto value = valueOf.find(access.value);
        bool ofNextStep = value == valueOf.end();
        if (ofNextStep)
          value = valueOf.find(nextValueOf(access.value));
        if (value == valueOf.end() || (!ofNextStep && graph.values[value->second].maker == i))
          continue;
        Graph::Read read{value->second, {}, ofNextStep};
        for (const nd::Dim &dim : nd::tensorType(access.value).getDims())
          read.coordinates.push_back(coordinateOf(i, nest, access.map, dim));
        auto [known, isNew] = reads.try_emplace({value->second, ofNextStep}, read);
        if (!isNew)
          widen(known->second, read);
      }
    for (auto &[key, read] : reads)
      graph.operators[i].reads.push_back(std::move(read));
  }

  /// The result that is the next value of an argument; null if there is none.
  Value nextValueOf(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &function.getBody().front())
      return {};
    Operation *end = argument.getOwner()->getTerminator();
    for (unsigned k = 0; k < end->getNumOperands(); ++k)
      if (stateOf(function, k) == argument.getArgNumber())
        return end->getOperand(k);
    return {};
  }

  Coordinate coordinateOf(unsigned i, Operation *nest, nest::MapAttr map, const nd::Dim &dim) {
    Coordinate whole{{}, 0, dim.size().typical() - 1, 1};
    if (!map)
      return whole;
    Expr expr = *map.lookup(dim.name);
    Coordinate made;
    if (expr.terms().size() == 1 && expr.offset() == 0 && expr.terms()[0].coefficient == 1 &&
        expr.terms()[0].factors.size() == 1 &&
        expr.terms()[0].factors[0]->kind == Expr::Atom::Kind::FloorDiv) {
      made.divisor = expr.terms()[0].factors[0]->divisor;
      expr = Expr(expr.terms()[0].factors[0]->operands[0]);
    }
    if (!expr.isAffine() || nest::isGathered(expr))
      return whole;
    made.low = made.high = expr.offset();
    for (const std::string &name : expr.names()) {
      int64_t factor = expr.coefficient(name), last = 0;
      if (auto number = numberOf(pieces[i].choice, {nest, name})) {
        made.terms.push_back({*number, factor});
        continue;
      }
      for (nd::DimsAttr dims : iterationNamesOf(nest))
        if (auto size = dims.lookup(name))
          last = size.typical() - 1;
      (factor > 0 ? made.high : made.low) += factor * last;
    }
    return made;
  }

  /// Makes a read cover another one of the same value.
  void widen(Graph::Read &read, const Graph::Read &other) {
    for (size_t k = 0; k < read.coordinates.size(); ++k) {
      Coordinate &own = read.coordinates[k];
      const Coordinate &more = other.coordinates[k];
      bool isAlike = own.divisor == more.divisor && own.terms.size() == more.terms.size();
      for (size_t t = 0; isAlike && t < own.terms.size(); ++t)
        isAlike =
            own.terms[t].name == more.terms[t].name && own.terms[t].factor == more.terms[t].factor;
      if (isAlike)
        own = {own.terms, std::min(own.low, more.low), std::max(own.high, more.high), own.divisor};
      else
        own = {{}, 0, graph.values[read.value].sizes[k] - 1, 1};
    }
  }
};
} // namespace

Graph planner::readGraph(func::FuncOp function, const cost::Machine &machine, bool isTied) {
  return Reader(function, machine, isTied).run();
}
