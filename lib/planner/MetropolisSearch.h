//===- MetropolisSearch.h - looks for a cheap point of a space --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searches a space of points with a cost by the method of Metropolis and Hastings, as FlexFlow does
// (Jia, Zaharia and Aiken, "Beyond data and model parallelism for deep neural networks", 2019). A
// point is a list of choices, each below its number:
//
//     Search search({3, 3, 2}, options, cost);     18 points
//     search.run({0, 0, 0});                       from a start; any number of them
//     search.best()                                never costs more than a start
//
// A proposal changes one choice, to each other value with the same probability; so it is as likely
// as its reverse. A cheaper point is accepted, and a dearer one with the probability
// exp(-beta * (cost - current cost)), compared with the current point. So a long search visits each
// point in proportion to exp(-beta * cost). The same seed gives the same points on each host.
//
// The random number that decides is drawn first: so a cost that is computed step by step can stop
// where it is above what would be accepted. A cost that is computed from what a proposal changes
// (TaskCosts.h) has to know what becomes of it:
//
//     options.remembers = false;                   then the cost is asked for each proposal
//     options.onDecision = [&](bool isAccepted) { isAccepted ? costs.commit() : costs.undo(); };
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_METROPOLISSEARCH_H
#define HEDDLE_LIB_PLANNER_METROPOLISSEARCH_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace heddle::planner {

using Point = std::vector<unsigned>;

struct SearchOptions {
  uint64_t seed = 1;
  uint64_t proposals = 1000; ///< after each start
  double beta = 1;           ///< of one unit of cost
  /// Stops after so many proposals since the best point was found; 0: never.
  uint64_t patience = 0;
  std::function<bool()> isInterrupted; ///< asked before each proposal
  /// Whether the costs of all points are kept, so that each is asked for once.
  bool remembers = true;
  /// Called after the cost of each proposal, and of a start, which is accepted.
  std::function<void(bool isAccepted)> onDecision;
  /// Called with each point that the search is at, once for each proposal.
  std::function<void(const Point &)> onVisit;
};

class Search {
public:
  /// The cost of a point; none for a point that is not allowed. A point that costs more than `most`
  /// is declined: any larger number will do.
  using Cost = std::function<std::optional<double>(const Point &point, double most)>;

  Search(std::vector<unsigned> choices, SearchOptions options, Cost cost)
      : choices(std::move(choices)), options(std::move(options)), cost(std::move(cost)),
        engine(this->options.seed) {}

  void run(Point start);

  const Point &best() const { return found; }
  /// None if no point was allowed.
  std::optional<double> bestCost() const { return least; }
  uint64_t proposed() const { return count; }
  size_t points() const { return asked; } ///< that were asked for their cost

private:
  std::vector<unsigned> choices;
  SearchOptions options;
  Cost cost;
  std::mt19937_64 engine;
  std::map<Point, std::optional<double>> known;
  Point found;
  std::optional<double> least;
  uint64_t count = 0;
  size_t asked = 0;

  std::optional<double> costOf(const Point &point, double most);
  uint64_t below(uint64_t bound);
  double mostAccepted(double dice, std::optional<double> current) const;
  bool isAccepted(double dice, std::optional<double> next, std::optional<double> current) const;
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_METROPOLISSEARCH_H
