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
#include "lib/planner/SharedNames.h"

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
    while (!divide()) {
      graph = {};
      pieces.clear();
      pieceOf.clear();
    }
    for (unsigned i = 0; i < graph.choices.size(); ++i)
      findNames(i);
    for (unsigned i = 0; i < pieces.size(); ++i)
      describe(i);
    for (unsigned i = 0; i < pieces.size(); ++i)
      addReads(i);
    forwardCopies(graph);
    findSums();
    findDepths(graph);
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
  std::set<const Operator *> divisions; ///< operators that are divided into single nests
  std::map<Operation *, DividedNames> divided;
  std::vector<SharedNames> shared; ///< by choice
  /// By choice: the number of a name, by class.
  std::vector<std::map<unsigned, unsigned>> numbers;
  DenseMap<Value, unsigned> valueOf;
  DenseMap<Value, Value> nextValues; ///< by argument

  /// Parameters that an operator reads beside that of its name, such as a bias, are updated with
  /// it.
  void addOwners(const Operator &each, std::map<std::string, std::string> &owners) {
    if (each.roots.empty())
      return;
    for (Operation *nest : each.nests)
      for (Value used : nest::kernelOperands(nest)) {
        auto argument = dyn_cast<BlockArgument>(used);
        auto path =
            argument && nextValues.contains(used)
                ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nd::nameAttrName)
                : StringAttr();
        if (path && path != each.base && !owners.contains(each.base))
          owners.try_emplace(path.str(), each.base);
      }
  }

  static std::string keyOf(const Operator &each, const std::map<Operation *, std::string> &keys) {
    std::string key = each.name;
    double most = 0;
    for (Operation *nest : each.nests)
      for (Value used : nest::kernelOperands(nest))
        if (auto maker = keys.find(used.getDefiningOp()); maker != keys.end())
          if (double points = pointsOf(nd::tensorType(used).getDims()); points > most) {
            most = points;
            key = maker->second;
          }
    return key;
  }

  /// Divides operators into what comes before a sum, with it, and what follows. Returns false if
  /// two of these would wait for each other; then their operators are divided into the sum, with
  /// what only it reads, and single nests, which can't.
  bool divide() {
    std::vector<Piece> made;
    std::map<std::string, unsigned> choices;
    std::map<std::string, std::string> owners;
    std::set<std::string> paths;
    std::map<Operation *, std::string> keys; ///< the layer, by nest
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto path = function.getArgAttrOfType<StringAttr>(i, nd::nameAttrName))
        paths.insert(path.str());
      else
        paths.insert("argument" + std::to_string(i)); // as operatorsOf says
    for (const Operator &each : found)
      addOwners(each, owners);
    for (bool hasPath : {true, false})
      for (const Operator &each : found) {
        std::string base = each.base;
        for (auto owner = owners.find(base); owner != owners.end(); owner = owners.find(base))
          base = owner->second;
        // Without an argument, it is divided as what makes most of its operands.
        if (paths.contains(base) == hasPath)
          for (std::string key = hasPath ? base : keyOf(each, keys); Operation *nest : each.nests)
            keys[nest] = key;
      }
    for (const Operator &each : found) {
      const std::string &key = keys.find(each.nests[0])->second;
      auto [choice, isNew] =
          choices.try_emplace(isTied ? key : each.name, unsigned(graph.choices.size()));
      if (isNew)
        graph.choices.push_back({choice->first, {}, key});
      Piece first{{}, &each, choice->second}, second = first;
      bool isFine = divisions.contains(&each);
      llvm::SmallPtrSet<Operation *, 8> before;
      if (!each.roots.empty())
        before.insert(each.roots[0]);
      auto isBefore = [&](Operation *user) { return before.contains(user); };
      for (Operation *nest : llvm::reverse(each.nests))
        if (isFine ? llvm::all_of(nest->getUsers(), isBefore)
                   : llvm::any_of(nest->getUsers(), isBefore))
          before.insert(nest);
      for (Operation *nest : each.nests) {
        if (!isFine || before.contains(nest))
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
    if (pieces.size() == made.size())
      return true;
    divideWaiting(made, after);
    return false;
  }

  /// Divides the operators whose pieces wait for each other further.
  void divideWaiting(const std::vector<Piece> &made, const std::vector<std::set<unsigned>> &after) {
    std::set<unsigned> waiting; // without those that only follow
    for (unsigned i = 0; i < made.size(); ++i)
      if (!made[i].nests.empty())
        waiting.insert(i);
    while (std::erase_if(waiting, [&](unsigned i) {
      return llvm::none_of(after[i], [&](unsigned next) { return waiting.contains(next); });
    })) {
    }
    for (unsigned i : waiting)
      divisions.insert(made[i].of);
  }

  void findNames(unsigned choice) {
    SharedNames &names = shared.emplace_back();
    // Names that are spelled alike, and have one size, are one if nothing else says so.
    std::map<std::pair<std::string, int64_t>, SharedNames::Item> alike;
    std::vector<std::pair<SharedNames::Item, SharedNames::Item>> byLabel;
    for (const Piece &piece : pieces)
      for (Operation *op : piece.choice == choice ? piece.nests : decltype(piece.nests)()) {
        names.add(op);
        for (Operation *nest : iteratingOf(op))
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

  /// The nests that iterate for an op, and a recurrence itself.
  static SmallVector<Operation *> iteratingOf(Operation *op) {
    SmallVector<Operation *> all = loopsOf(op);
    if (isa<nest::ScanOp>(op))
      all.push_back(op);
    return all;
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
        for (Operation *nest : iteratingOf(op))
          forEachName(nest, [&](const nd::Dim &dim, const SharedNames::Item &item) {
            unsigned of = shared[choice].classOf(item);
            int64_t size = dim.size().typical();
            if (size <= 1 || !divided[op].classes.contains(of))
              return;
            auto [number, isNew] = numberOf.try_emplace(of, unsigned(numberOf.size()));
            if (isNew)
              graph.choices[choice].names.push_back({labelOf(spelled, dim.name), size});
            graph.choices[choice].names[number->second].isSequence |= isa<nest::ScanOp>(nest);
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
      if (auto scan = dyn_cast<nest::ScanOp>(nest))
        describeSteps(scan, op);
    }
    op.names.assign(names.begin(), names.end());
    graph.operators.push_back(std::move(op));
  }

  void describeSteps(nest::ScanOp scan, Graph::Operator &op) {
    const nd::Dim &step = *scan.getAlong().begin();
    op.sequence = numberOf(scan, namesOf(scan).classOf({scan.getOperation(), step.name.str()}));
    op.isReverse = scan.getReverse();
    for (Value carried : scan->getResults().take_front(scan.getInits().size()))
      op.carried.push_back(valueFor(scan, carried));
  }

  /// A value without a maker.
  Graph::Value valueFor(Operation *nest, Value result) {
    auto type = nd::tensorType(result);
    Access access{result, mapOfResult(nest, result)};
    Graph::Value value{0, {}, {}, {}, int64_t(elementBytes(type.getElementType()))};
    for (const nd::Dim &dim : type.getDims()) {
      value.sizes.push_back(dim.size().typical());
      value.names.push_back(numberOf(nest, classOfWhole(nest, access, dim, namesOf(nest))));
    }
    for (unsigned of : divided[nest].partial[result.getAsOpaquePointer()])
      if (auto number = numberOf(nest, of))
        value.summed.push_back(*number);
    return value;
  }

  void addValue(unsigned maker, Operation *nest, Value result) {
    bool isRead = llvm::any_of(result.getUsers(), [&](Operation *user) {
      Operation *in = function.front().findAncestorOpInBlock(*user);
      auto piece = pieceOf.find(in);
      return isa<func::ReturnOp>(in) || (piece != pieceOf.end() && piece->second != maker);
    });
    if (!isRead)
      return;
    valueOf[result] = unsigned(graph.values.size());
    graph.values.push_back(valueFor(nest, result));
    graph.values.back().maker = maker;
  }

  void findSums() {
    std::set<std::pair<unsigned, unsigned>> seen;
    std::vector<std::set<unsigned>> summed(graph.operators.size()), made(summed);
    for (const Graph::Value &value : graph.values) {
      summed[value.maker].insert(value.summed.begin(), value.summed.end());
      for (std::optional<unsigned> name : value.names)
        if (name)
          made[value.maker].insert(*name);
    }
    for (auto [i, op] : llvm::enumerate(graph.operators))
      for (unsigned name : op.names)
        if (seen.insert({op.choice, name}).second)
          graph.choices[op.choice].names[name].isSummed =
              summed[i].contains(name) && !made[i].contains(name);
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
