//===- CutRecurrences.cpp - parts of a recurrence's steps -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/CutRecurrences.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace heddle::planner;

namespace {
class Cutter {
public:
  Cutter(const Graph &graph, unsigned pieces)
      : graph(graph), most(pieces), valuesOf(graph.operators.size()), piecesOf(graph.values.size()),
        cuts(graph.operators.size()), classes(graph) {
    for (unsigned i = 0; i < graph.values.size(); ++i)
      valuesOf[graph.values[i].maker].push_back(i);
  }

  Graph run() {
    for (unsigned i = 0; i < graph.operators.size(); ++i)
      if (auto name = graph.operators[i].sequence)
        lastRecurrence[classes.of(graph.operators[i].choice, *name)] = i;
    for (unsigned i = 0; i < graph.operators.size(); ++i)
      addOperator(i);
    for (unsigned i = 0; i < origins.size(); ++i)
      addReads(i);
    return std::move(made);
  }

private:
  /// How an operator is cut: by which name, into how many pieces.
  struct Cut {
    std::optional<unsigned> name;
    unsigned count = 1;
    int64_t size = 1; ///< of the name
  };
  /// A piece of a value: its coordinates along the dimension that is cut.
  struct Piece {
    unsigned value = 0;
    std::optional<unsigned> dimension;
    Interval coordinates;
  };
  /// The operator of which an operator of the new graph is a piece.
  struct Origin {
    unsigned of = 0;
    Interval coordinates; ///< of the name by which it is cut
  };
  const Graph &graph;
  unsigned most;
  Graph made;
  std::vector<std::vector<unsigned>> valuesOf; ///< by operator
  std::vector<std::vector<Piece>> piecesOf;    ///< by value
  std::vector<Cut> cuts;                       ///< by operator
  std::vector<Origin> origins;                 ///< by operator of the new graph
  NameClasses classes;
  std::map<size_t, unsigned> lastRecurrence; ///< by class: the last operator with such steps
  std::map<std::tuple<unsigned, std::optional<unsigned>, unsigned>, unsigned> choices;

  /// Of several names, such as those of two sequences, the one whose recurrences come last: then
  /// these need not wait for all of it.
  Cut cutOf(unsigned i) const {
    const Graph::Operator &op = graph.operators[i];
    std::optional<unsigned> best = op.sequence;
    unsigned last = 0;
    for (unsigned name : op.sequence ? std::vector<unsigned>() : op.names) {
      auto recurrence = lastRecurrence.find(classes.of(op.choice, name));
      bool isMade = !valuesOf[i].empty();
      for (unsigned value : valuesOf[i]) {
        const auto &names = graph.values[value].names;
        isMade &= std::find(names.begin(), names.end(), name) != names.end();
      }
      if (recurrence == lastRecurrence.end() || !isMade || (best && recurrence->second < last))
        continue;
      best = name;
      last = recurrence->second;
    }
    // A recurrence that carries partial sums would send them after each piece.
    bool isSum = std::any_of(op.carried.begin(), op.carried.end(),
                             [](const Graph::Value &each) { return !each.summed.empty(); });
    if (!best || op.isUpdate || isSum)
      return {};
    Cut cut{best, most, graph.choices[op.choice].names[*best].size};
    while (blockOf(cut.size, cut.count, cut.count - 1).size() == 0)
      --cut.count;
    return cut.count > 1 ? cut : Cut{};
  }

  unsigned choiceOf(unsigned choice, const Cut &cut, unsigned piece) {
    auto [known, isNew] =
        choices.try_emplace({choice, cut.name, piece}, unsigned(made.choices.size()));
    if (isNew) {
      Graph::Choice copy = graph.choices[choice];
      if (cut.name) {
        Graph::Name &name = copy.names[*cut.name];
        copy.name += "/" + name.label + "." + std::to_string(piece);
        name.size = blockOf(cut.size, cut.count, piece).size();
      }
      made.choices.push_back(std::move(copy));
    }
    return known->second;
  }

  void addOperator(unsigned i) {
    const Graph::Operator &op = graph.operators[i];
    const Cut &cut = cuts[i] = cutOf(i);
    std::optional<std::vector<unsigned>> carried; // values of the piece before
    for (unsigned k = 0; k < cut.count; ++k) {
      unsigned piece = op.isReverse ? cut.count - 1 - k : k;
      Interval coordinates = blockOf(cut.size, cut.count, piece);
      double share = double(coordinates.size()) / double(cut.size);
      Graph::Operator copy = op;
      copy.choice = choiceOf(op.choice, cut, piece);
      copy.operations *= share;
      copy.seconds *= share;
      copy.reads.clear();
      if (cut.name)
        copy.name += "/" + std::to_string(piece);
      auto number = unsigned(made.operators.size());
      if (carried)
        for (unsigned value : *carried)
          copy.reads.push_back(readOfCarried(value));
      for (unsigned value : valuesOf[i])
        addValue(value, number, cut, coordinates, k + 1 == cut.count);
      if (op.sequence && cut.name && k + 1 < cut.count) {
        carried.emplace();
        for (Graph::Value value : op.carried) {
          carried->push_back(unsigned(made.values.size()));
          value.maker = number;
          made.values.push_back(std::move(value));
        }
      }
      made.operators.push_back(std::move(copy));
      origins.push_back({i, coordinates});
    }
  }

  /// The next piece has the same names.
  Graph::Read readOfCarried(unsigned number) const {
    const Graph::Value &value = made.values[number];
    Graph::Read read{number, {}, false};
    for (size_t i = 0; i < value.sizes.size(); ++i)
      read.coordinates.push_back(value.names[i] ? Coordinate{{{*value.names[i], 1}}, 0, 0, 1}
                                                : Coordinate{{}, 0, value.sizes[i] - 1, 1});
    return read;
  }

  /// Values without the name that is cut are carried: the last piece makes them.
  void addValue(unsigned of, unsigned maker, const Cut &cut, Interval coordinates, bool isLast) {
    Graph::Value value = graph.values[of];
    value.maker = maker;
    Piece piece{unsigned(made.values.size()), std::nullopt, {}};
    for (unsigned i = 0; cut.name && i < value.names.size(); ++i)
      if (value.names[i] == cut.name) {
        piece.dimension = i;
        piece.coordinates = coordinates;
        value.sizes[i] = coordinates.size();
      }
    if (cut.name && !piece.dimension && !isLast)
      return;
    piecesOf[of].push_back(piece);
    made.values.push_back(std::move(value));
  }

  void addReads(unsigned number) {
    const Origin &origin = origins[number];
    const Graph::Operator &op = graph.operators[origin.of];
    const Cut &cut = cuts[origin.of];
    for (const Graph::Read &read : op.reads)
      for (const Piece &piece : piecesOf[read.value]) {
        Graph::Read own{piece.value, read.coordinates, read.ofNextStep};
        for (Coordinate &coordinate : own.coordinates)
          for (auto [name, factor] : coordinate.terms)
            if (name == cut.name) {
              coordinate.low += factor * origin.coordinates.low;
              coordinate.high += factor * origin.coordinates.low;
            }
        if (piece.dimension) {
          Coordinate &along = own.coordinates[*piece.dimension];
          along.low -= piece.coordinates.low * along.divisor;
          along.high -= piece.coordinates.low * along.divisor;
          if (!reaches(along, made.operators[number].choice, piece.coordinates.size()))
            continue;
        }
        made.operators[number].reads.push_back(std::move(own));
      }
  }
  /// True if some of the coordinates are from 0 to a size.
  bool reaches(const Coordinate &coordinate, unsigned choice, int64_t size) const {
    int64_t low = coordinate.low, high = coordinate.high;
    for (auto [name, factor] : coordinate.terms)
      (factor > 0 ? high : low) += factor * (made.choices[choice].names[name].size - 1);
    return high >= 0 && low < size * coordinate.divisor;
  }
};
} // namespace

Graph heddle::planner::cutRecurrences(const Graph &graph, unsigned pieces) {
  return Cutter(graph, pieces).run();
}
