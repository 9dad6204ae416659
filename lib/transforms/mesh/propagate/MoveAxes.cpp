//===- MoveAxes.cpp - moves axes where that sends less --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/propagate/MoveAxes.h"

#include "lib/cost/TaskTimes.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

namespace {
/// Moves the axes of node `from` to node `to`.
struct Move {
  unsigned from, to, neighbour; ///< `neighbour` has the axes at the name of `to`
  int64_t before, after;        ///< picoseconds in which a device sends
  bool gathers;                 ///< gathers an operand that was not gathered before
  /// Only a chain whose first move gathers such an operand may do so, and only if that more than
  /// halves the time to send operands: the estimate counts each reader, although two (the forward
  /// and the backward pass) may share a gather.
  bool mayStart;
  int64_t saved() const { return before - after; }
};

class Mover {
public:
  Mover(PropagationGraph &links, const cost::Network &network)
      : links(links), network(network), operands(links.sites.size()), users(links.sites.size()) {
    for (auto [i, read] : llvm::enumerate(links.reads)) {
      std::set<unsigned> values, readers;
      for (auto [value, reader] : read.names) {
        values.insert(links.nodes[value].site);
        if (reader)
          readers.insert(links.nodes[*reader].site);
      }
      for (unsigned site : values)
        users[site].push_back(unsigned(i));
      for (unsigned site : readers)
        operands[site].push_back(unsigned(i));
    }
  }

  /// Tries all first moves, in the order of the time that they and their followers save. True if
  /// axes moved.
  bool sweep() {
    std::vector<Chain> chains;
    for (const PropagationGraph::Site &site : links.sites)
      for (const Move &first : movesOf(site))
        if (Chain chain = follow(first); chain.saved > 0) {
          undo(chain);
          chains.push_back(std::move(chain));
        }
    llvm::stable_sort(chains, [&](const Chain &a, const Chain &b) {
      return isBetter({a.saved, &a.moves[0]}, {b.saved, &b.moves[0]});
    });
    bool isChanged = false;
    for (const Chain &chain : chains)
      for (const Move &first : movesOf(links.sites[links.nodes[chain.moves[0].from].site]))
        if (first.from == chain.moves[0].from && first.to == chain.moves[0].to)
          if (Chain again = follow(first); again.saved > 0) {
            for (const Move &move : again.moves)
              explain(move);
            isChanged = true;
          }
    return isChanged;
  }

private:
  PropagationGraph &links;
  const cost::Network &network;
  std::vector<SmallVector<unsigned, 4>> operands, users; ///< reads, by site

  /// A sequence of moves that were made.
  struct Chain {
    int64_t saved = 0;
    std::vector<Move> moves;
  };
  static constexpr size_t longest = 16; ///< maximum number of moves

  /// Breaks ties so that the order of ops does not matter, unless times and names are equal.
  bool isBetter(std::pair<int64_t, const Move *> a, std::pair<int64_t, const Move *> b) const {
    auto names = [&](const Move *move) {
      return std::tie(links.nodes[move->from].name, links.nodes[move->to].name);
    };
    return a.first != b.first ? a.first > b.first : names(a.second) < names(b.second);
  }

  /// Makes a move, and then moves of the same axes by its neighbours, including moves that alone
  /// save nothing. Undoes those after the point at which the chain saves the most.
  Chain follow(const Move &first) {
    Chain chain;
    if (!first.mayStart)
      return chain;
    std::set<unsigned> sites;
    int64_t saved = 0, scale = 0;
    size_t most = 0;
    std::optional<Move> next = first;
    while (next) {
      make(*next);
      chain.moves.push_back(*next);
      sites.insert(links.nodes[next->from].site);
      saved += next->saved();
      scale = std::max({scale, next->before, next->after});
      if (saved > chain.saved + scale / 1'000'000) { // beyond rounding errors
        chain.saved = saved;
        most = chain.moves.size();
      }
      next = chain.moves.size() < longest ? neighbourOf(chain, sites) : std::nullopt;
    }
    while (chain.moves.size() > most) {
      make(chain.moves.back(), /*back=*/true);
      chain.moves.pop_back();
    }
    return chain;
  }

  /// The best next move of a chain.
  std::optional<Move> neighbourOf(const Chain &chain, const std::set<unsigned> &sites) {
    std::set<unsigned> neighbours;
    for (const Move &move : chain.moves)
      for (unsigned node : {move.from, move.to})
        for (const auto &link : links.nodes[node].links)
          if (unsigned site = links.nodes[link.first].site; !sites.contains(site))
            neighbours.insert(site);
    const AxisList &axes = axesAt(chain.moves[0].to);
    std::optional<Move> best;
    for (unsigned site : neighbours)
      for (const Move &move : movesOf(links.sites[site]))
        if (axesAt(move.from) == axes && (chain.moves[0].gathers || !move.gathers) &&
            (!best || isBetter({move.saved(), &move}, {best->saved(), &*best})))
          best = move;
    return best;
  }

  void make(const Move &move, bool back = false) {
    unsigned from = back ? move.to : move.from, to = back ? move.from : move.to;
    links.nodes[to].axes = std::exchange(links.nodes[from].axes, {});
  }
  void undo(Chain &chain) {
    for (const Move &move : llvm::reverse(chain.moves))
      make(move, /*back=*/true);
  }
  void explain(const Move &move) {
    PropagationGraph::Node &from = links.nodes[move.from], &to = links.nodes[move.to];
    from.from = std::nullopt;
    // The neighbour may have got its axes from here, before they moved away.
    std::optional<unsigned> at = move.neighbour;
    while (at && at != move.to)
      at = links.nodes[*at].from;
    to.from = at ? std::nullopt : std::optional(move.neighbour);
    to.reason = ", rather than '" + from.name + "', whose transfers take longer";
  }

  std::vector<Move> movesOf(const PropagationGraph::Site &site) {
    std::vector<Move> moves;
    if (site.isCompute)
      for (unsigned from : site.nodes)
        for (unsigned to : site.nodes)
          if (std::optional<Move> move = tried(from, to))
            moves.push_back(*move);
    return moves;
  }

  const AxisList &axesAt(unsigned node) const { return links.nodes[node].axes; }
  double parts(unsigned node) const { return double(partsOf(network.mesh, axesAt(node))); }
  /// The time of a transfer along the axes of a node, in which a device sends these bytes to each
  /// other one.
  int64_t timeFor(unsigned node, double rounds, double bytes) const {
    cost::Group group = network.groupOf(axesAt(node));
    cost::Transfer transfer{rounds, bytes * double(group.devices - 1)};
    return cost::picoseconds(cost::costOf(transfer, group).seconds);
  }

  /// Whether the axes of a name of a value move to another name at which the reader has them.
  bool moves(const PropagationGraph::Read &read, const AxisList &axes) const {
    return llvm::any_of(read.names, [&](const auto &name) {
      return name.second && axesAt(*name.second) == axes && axesAt(name.first).empty();
    });
  }

  int64_t timeFor(const PropagationGraph::Read &read) const {
    double block = read.bytes;
    int64_t time = 0;
    for (auto [value, reader] : read.names)
      block /= parts(value);
    for (auto [value, reader] : read.names)
      if (!axesAt(value).empty() && !(reader && axesAt(*reader) == axesAt(value)))
        time += timeFor(value, 1, block / (moves(read, axesAt(value)) ? parts(value) : 1));
    return time;
  }

  int64_t timeFor(ArrayRef<unsigned> reads) const {
    int64_t time = 0;
    for (unsigned each : reads)
      time += timeFor(links.reads[each]);
    return time;
  }

  /// The time to combine sums. If each reader has the axes at a name that the sums do not split,
  /// the sums are scattered, which takes half.
  int64_t sumsOf(unsigned site) const {
    double blocks = 1;
    int64_t time = 0;
    for (unsigned each : links.sites[site].nodes)
      if (links.nodes[each].price == 0)
        blocks *= parts(each);
    for (unsigned each : links.sites[site].nodes) {
      bool isScattered = !users[site].empty() && llvm::all_of(users[site], [&](unsigned read) {
        return moves(links.reads[read], axesAt(each));
      });
      double rounds = isScattered ? 1 : 2;
      if (double price = links.nodes[each].price; price > 0)
        time += timeFor(each, rounds, price * rounds / 2 / blocks / parts(each));
    }
    return time;
  }

  /// The time in which a device sends for the site's operands, for sums that it computes or reads,
  /// and for readers of its results.
  int64_t timeFor(unsigned site) const {
    int64_t time = timeFor(operands[site]) + timeFor(users[site]);
    std::set<unsigned> sums{site};
    for (unsigned each : operands[site])
      for (const auto &name : links.reads[each].names)
        sums.insert(links.nodes[name.first].site);
    for (unsigned each : sums)
      time += sumsOf(each);
    return time;
  }

  /// True if an operand has the axes at a name that the nest reads without them, and can't move
  /// them.
  bool gathers(unsigned site, const AxisList &axes) const {
    return llvm::any_of(operands[site], [&](unsigned each) {
      const PropagationGraph::Read &read = links.reads[each];
      return !moves(read, axes) && llvm::any_of(read.names, [&](const auto &name) {
        return axesAt(name.first) == axes && !(name.second && axesAt(*name.second) == axes);
      });
    });
  }

  std::optional<Move> tried(unsigned from, unsigned to) {
    PropagationGraph::Node &a = links.nodes[from], &b = links.nodes[to];
    if (a.axes.empty() || !b.axes.empty() || b.fixed || !a.stated.empty())
      return std::nullopt;
    auto neighbour =
        llvm::find_if(b.links, [&](const auto &link) { return axesAt(link.first) == a.axes; });
    if (neighbour == b.links.end())
      return std::nullopt;
    int64_t read = timeFor(operands[a.site]);
    Move move{from, to, neighbour->first, timeFor(a.site), 0, false, true};
    std::swap(a.axes, b.axes);
    move.after = timeFor(a.site);
    move.gathers = gathers(a.site, b.axes);
    move.mayStart = !move.gathers || 2 * timeFor(operands[a.site]) < read;
    std::swap(a.axes, b.axes);
    return move;
  }
};
} // namespace

void mesh::moveAxes(PropagationGraph &links, const cost::Network &network) {
  Mover mover(links, network);
  while (mover.sweep())
    ;
}
