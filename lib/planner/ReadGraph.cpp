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
#include "lib/planner/NestNames.h"

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

namespace {
class Reader {
public:
  Reader(func::FuncOp function, const cost::Machine &machine, bool isTied)
      : function(function), machine(machine), isTied(isTied), found(operatorsOf(function)),
        spelled(spellings(function)) {
    for (auto [i, next] : llvm::enumerate(function.front().getTerminator()->getOperands()))
      if (auto argument = stateOf(function, unsigned(i)))
        nextValues[function.getArgument(*argument)] = next;
  }

  Graph run() {
    if (!divide(/*isWhole=*/true)) {
      graph = {};
      pieces.clear();
      pieceOf.clear();
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
  func::FuncOp function;
  const cost::Machine &machine;
  bool isTied;
  std::vector<Operator> found;
  Labels spelled;
  Graph graph;
  std::vector<Piece> pieces; ///< by operator of the graph
  DenseMap<Operation *, unsigned> pieceOf;
  std::map<Operation *, DividedNames> divided;
  std::vector<SharedNames> shared; ///< by choice
  /// By choice: the number of a name, by class.
  std::vector<std::map<unsigned, unsigned>> numbers;
  DenseMap<Value, unsigned> valueOf;
  DenseMap<Value, Value> nextValues; ///< by argument

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
    // Names that are spelled alike, and have one size, are one if nothing else says so.
    std::map<std::pair<std::string, int64_t>, SharedNames::Item> alike;
    std::vector<std::pair<SharedNames::Item, SharedNames::Item>> byLabel;
    for (const Piece &piece : pieces)
      for (Operation *op : piece.choice == choice ? piece.nests : decltype(piece.nests)()) {
        names.add(op);
        for (Operation *nest : loopsOf(op))
          forEachName(nest, [&](const nd::Dim &dim, const SharedNames::Item &item) {
            auto [first, isNew] =
                alike.try_emplace({labelOf(spelled, dim.name), dim.size().typical()}, item);
            if (!isNew)
              byLabel.emplace_back(first->second, item);
          });
      }
    for (const auto &[first, second] : byLabel)
      names.join(first, second);
    for (const Piece &piece : pieces)
      for (Operation *op : piece.choice == choice ? piece.nests : decltype(piece.nests)())
        divided[op] = dividedNamesOf(op, names);
    numberNames(choice);
  }

  static void
  forEachName(Operation *nest,
              llvm::function_ref<void(const nd::Dim &, const SharedNames::Item &)> act) {
    for (nd::DimsAttr dims : iterationNamesOf(nest))
      for (const nd::Dim &dim : dims)
        act(dim, {nest, dim.name.str()});
  }

  /// Only names of nests that are not pointwise are split, as others follow these.
  void numberNames(unsigned choice) {
    std::map<unsigned, unsigned> &numberOf = numbers.emplace_back();
    for (const Operator &each : found)
      for (Operation *op : each.splitNests()) {
        auto piece = pieceOf.find(op);
        if (piece == pieceOf.end() || pieces[piece->second].choice != choice)
          continue;
        for (Operation *nest : loopsOf(op))
          forEachName(nest, [&](const nd::Dim &dim, const SharedNames::Item &item) {
            unsigned of = shared[choice].classOf(item);
            int64_t size = dim.size().typical();
            if (size > 1 && divided[op].classes.contains(of) &&
                numberOf.try_emplace(of, unsigned(numberOf.size())).second)
              graph.choices[choice].names.push_back({labelOf(spelled, dim.name), size});
          });
      }
  }

  /// The number of a name by which an op is divided.
  std::optional<unsigned> numberOf(Operation *op, std::optional<unsigned> of) {
    const auto &numberOf = numbers[pieces[pieceOf.lookup(op)].choice];
    auto number = of && divided[op].classes.contains(*of) ? numberOf.find(*of) : numberOf.end();
    return number == numberOf.end() ? std::nullopt : std::optional(number->second);
  }
  SharedNames &namesOf(Operation *op) { return shared[pieces[pieceOf.lookup(op)].choice]; }

  void describe(unsigned i) {
    const Piece &piece = pieces[i];
    Graph::Operator op{piece.of->name, piece.choice};
    op.isUpdate = piece.of->roots.empty();
    std::set<unsigned> names;
    for (Operation *nest : piece.nests) {
      op.operations += arithmeticOf(nest);
      op.seconds += cost::secondsBySizes(nest, machine);
      for (unsigned of : divided[nest].classes)
        if (auto number = numberOf(nest, of))
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
    Access access{result, mapOfResult(nest, result)};
    Graph::Value value{maker, {}, {}, {}, int64_t(elementBytes(type.getElementType()))};
    for (const nd::Dim &dim : type.getDims()) {
      value.sizes.push_back(dim.size().typical());
      value.names.push_back(numberOf(nest, classOfWhole(nest, access, dim, namesOf(nest))));
    }
    for (unsigned of : divided[nest].partial[result.getAsOpaquePointer()])
      if (auto number = numberOf(nest, of))
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
          value = valueOf.find(nextValues.lookup(access.value));
        if (value == valueOf.end() || (!ofNextStep && graph.values[value->second].maker == i))
          continue;
        Graph::Read read{value->second, {}, ofNextStep};
        for (const nd::Dim &dim : nd::tensorType(access.value).getDims())
          read.coordinates.push_back(coordinateOf(nest, access, dim));
        auto [known, isNew] = reads.try_emplace({value->second, ofNextStep}, read);
        if (!isNew)
          widen(known->second, read);
      }
    for (auto &[key, read] : reads)
      graph.operators[i].reads.push_back(std::move(read));
  }

  Coordinate coordinateOf(Operation *nest, const Access &access, const nd::Dim &dim) {
    Coordinate whole{{}, 0, dim.size().typical() - 1, 1};
    if (auto number = numberOf(nest, classOfWhole(nest, access, dim, namesOf(nest))))
      return {{{*number, 1}}, 0, 0, 1};
    if (!access.map)
      return whole;
    Expr expr = *access.map.lookup(dim.name);
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
      if (auto number = numberOf(nest, namesOf(nest).classOf({nest, name}))) {
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
