//===- MetropolisSearchTest.cpp - the search visits points as it should ---===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/MetropolisSearch.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace heddle::planner;

/// A cost without structure: of 24 points no two have the same.
static double costOf(const Point &point, double = 0) {
  unsigned number = point[0] * 6 + point[1] * 2 + point[2];
  return double(number * 7 % 24) / 8;
}

// Pearson's chi-square of the visits, each 60 proposals after the one before, against
// exp(-beta * cost). With 23 degrees of freedom it is above 49.7 in one of 1,000 cases.
TEST(Search, VisitsPointsByTheirCost) {
  for (double beta : {0.0, 0.7, 1.5}) {
    std::map<Point, double> expected, visits;
    double all = 0, proposals = 0, count = 0;
    for (unsigned a = 0; a < 4; ++a)
      for (unsigned b = 0; b < 3; ++b)
        for (unsigned c = 0; c < 2; ++c)
          all += expected[{a, b, c}] = std::exp(-beta * costOf({a, b, c}));
    SearchOptions options{.seed = 3, .proposals = 600'000, .beta = beta};
    options.onVisit = [&](const Point &point) {
      if (++proposals > 1000 && int64_t(proposals) % 60 == 0) {
        ++visits[point];
        ++count;
      }
    };
    Search search({4, 3, 2}, options, costOf);
    search.run({0, 0, 0});
    double square = 0;
    for (const auto &[point, weight] : expected) {
      double wanted = count * weight / all;
      square += (visits[point] - wanted) * (visits[point] - wanted) / wanted;
    }
    EXPECT_LT(square, 49.7) << "beta " << beta;
    EXPECT_EQ(search.points(), 24u);
    EXPECT_EQ(search.bestCost(), 0.0);
  }
}

TEST(Search, TheSameSeedGivesTheSamePointsAndAnotherOneOthers) {
  auto visited = [](uint64_t seed) {
    std::vector<Point> points;
    SearchOptions options{.seed = seed, .proposals = 100, .beta = 1};
    options.onVisit = [&](const Point &point) { points.push_back(point); };
    Search search({4, 3, 2}, options, costOf);
    search.run({1, 1, 1});
    return points;
  };
  EXPECT_EQ(visited(5), visited(5));
  EXPECT_NE(visited(5), visited(6));
  // On every host, since the engine alone decides; computed by another program.
  std::vector<Point> first = visited(5);
  first.resize(3);
  EXPECT_EQ(first, (std::vector<Point>{{1, 0, 1}, {1, 1, 1}, {2, 1, 1}}));
}

// Costs above what could be accepted need not be computed; some points are not allowed.
TEST(Search, CostsAboveTheLimitMakeNoDifference) {
  for (auto [beta, remembers] :
       {std::pair(0.0, false), {0.7, false}, {20.0, false}, {20.0, true}}) {
    size_t left = 0;
    auto visited = [&, beta = beta, remembers = remembers](bool isLeft) {
      std::vector<Point> points;
      SearchOptions options{.seed = 4, .proposals = 2000, .beta = beta, .remembers = remembers};
      options.onVisit = [&](const Point &point) { points.push_back(point); };
      Search search({4, 3, 2}, options, [&](const Point &point, double most) {
        double cost = costOf(point);
        left += isLeft && cost > most;
        return point == Point{1, 1, 1} ? std::nullopt
               : isLeft && cost > most ? std::optional(std::numeric_limits<double>::infinity())
                                       : std::optional(cost);
      });
      search.run({1, 1, 1});
      return std::pair(points, search.best());
    };
    EXPECT_EQ(visited(true), visited(false)) << "beta " << beta;
    EXPECT_EQ(left > 0, beta > 0 && !remembers); // what is kept is the cost
  }
}

TEST(Search, NeverEndsAboveAStartAndLeavesWhatIsNotAllowed) {
  auto valley = [](const Point &point, double) -> std::optional<double> {
    if (point[0] < 2)
      return std::nullopt; // far from the start
    return double(point[1]) + 1;
  };
  Search search({4, 3}, {.seed = 1, .proposals = 200, .beta = 1000}, valley);
  search.run({0, 2});
  EXPECT_EQ(search.bestCost(), 1.0);
  EXPECT_GE(search.best()[0], 2u);
  // Without proposals, the best one of the starts.
  Search none({4, 3}, {.seed = 1, .proposals = 0}, valley);
  none.run({2, 2});
  EXPECT_EQ(none.bestCost(), 3.0);
  none.run({3, 1});
  EXPECT_EQ(none.best(), (Point{3, 1}));
  none.run({2, 2});
  EXPECT_EQ(none.bestCost(), 2.0);
  Search nothing({1, 1}, {.seed = 1, .proposals = 5},
                 [](const Point &, double) { return std::nullopt; });
  nothing.run({0, 0});
  EXPECT_EQ(nothing.bestCost(), std::nullopt);
  EXPECT_EQ(nothing.proposed(), 0u); // there is one point
}

TEST(Search, StopsWhereItIsToldTo) {
  unsigned asked = 0;
  SearchOptions options{.seed = 1, .proposals = 1000, .beta = 1};
  options.isInterrupted = [&] { return ++asked > 10; };
  Search interrupted({4, 3, 2}, options, costOf);
  interrupted.run({0, 0, 0});
  EXPECT_EQ(interrupted.proposed(), 10u);
  // The start is the best point.
  Search patient({4, 3, 2}, {.seed = 1, .proposals = 1000, .beta = 1, .patience = 20}, costOf);
  patient.run({0, 0, 0});
  EXPECT_EQ(patient.proposed(), 20u);
}
