//===- PackArena.cpp - packs buffers into one arena -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/memory/PackArena.h"

#include "runtime/expr/Integer.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

using namespace heddle;

static int64_t mostLive(const std::vector<ArenaBuffer> &buffers, int64_t alignment) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const ArenaBuffer &buffer : buffers) {
    changes.emplace_back(buffer.first, roundUp(buffer.bytes, alignment));
    changes.emplace_back(int64_t(buffer.last) + 1, -roundUp(buffer.bytes, alignment));
  }
  std::sort(changes.begin(), changes.end()); // frees come before allocations of the same step
  int64_t live = 0, most = 0;
  for (auto [step, bytes] : changes)
    most = std::max(most, live += bytes);
  return most;
}

int64_t heddle::liveBytes(const std::vector<ArenaBuffer> &buffers) { return mostLive(buffers, 1); }

/// A tensor without elements gets memory too, because code may read it and ignore the value.
static int64_t room(const ArenaBuffer &buffer, int64_t alignment) {
  return roundUp(std::max<int64_t>(buffer.bytes, 1), alignment);
}

/// Places buffers in the given order, each in the smallest gap between live ones that fits.
static int64_t placeInOrder(std::vector<ArenaBuffer> &buffers, const std::vector<size_t> &order,
                            int64_t alignment) {
  std::vector<size_t> placed; // by offset
  int64_t total = 0;
  for (size_t index : order) {
    ArenaBuffer &buffer = buffers[index];
    int64_t unit = std::max(alignment, buffer.alignment);
    int64_t bytes = room(buffer, alignment), end = 0, best = -1, bestGap = INT64_MAX;
    for (size_t other : placed) {
      const ArenaBuffer &taken = buffers[other];
      if (taken.last < buffer.first || buffer.last < taken.first)
        continue;
      int64_t start = roundUp(end, unit), gap = taken.offset - start;
      if (gap >= bytes && gap < bestGap) {
        best = start;
        bestGap = gap;
      }
      end = std::max(end, taken.offset + room(taken, alignment));
    }
    buffer.offset = best >= 0 ? best : roundUp(end, unit);
    total = std::max(total, buffer.offset + bytes);
    auto byOffset = [&](size_t a, size_t b) { return buffers[a].offset < buffers[b].offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), index, byOffset), index);
  }
  return total;
}

/// Sweeps once over the steps with a list of free pieces: near-linear in the number of buffers.
static int64_t placeInTime(std::vector<ArenaBuffer> &buffers, int64_t alignment) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const ArenaBuffer &x = buffers[a], &y = buffers[b];
    if (x.first != y.first)
      return x.first < y.first;
    return x.bytes != y.bytes ? x.bytes > y.bytes : a < b;
  });
  std::map<int64_t, int64_t> freeAt;            // offset -> bytes
  std::set<std::pair<int64_t, int64_t>> bySize; // (bytes, offset)
  std::multimap<int32_t, size_t> ending;
  int64_t total = 0;
  auto give = [&](int64_t offset, int64_t bytes) {
    auto next = freeAt.lower_bound(offset);
    if (next != freeAt.end() && next->first == offset + bytes) {
      bytes += next->second;
      bySize.erase({next->second, next->first});
      next = freeAt.erase(next);
    }
    if (next != freeAt.begin())
      if (auto previous = std::prev(next); previous->first + previous->second == offset) {
        offset = previous->first;
        bytes += previous->second;
        bySize.erase({previous->second, previous->first});
        freeAt.erase(previous);
      }
    if (bytes == 0)
      return;
    freeAt[offset] = bytes;
    bySize.insert({bytes, offset});
  };
  for (size_t index : order) {
    ArenaBuffer &buffer = buffers[index];
    while (!ending.empty() && ending.begin()->first < buffer.first) {
      const ArenaBuffer &done = buffers[ending.begin()->second];
      give(done.offset, room(done, alignment));
      ending.erase(ending.begin());
    }
    int64_t unit = std::max(alignment, buffer.alignment), bytes = room(buffer, alignment);
    auto found = bySize.lower_bound({bytes, 0});
    while (found != bySize.end() &&
           roundUp(found->second, unit) + bytes > found->second + found->first)
      ++found;
    if (found != bySize.end()) {
      auto [length, offset] = *found;
      bySize.erase(found);
      freeAt.erase(offset);
      buffer.offset = roundUp(offset, unit);
      give(offset, buffer.offset - offset);
      give(buffer.offset + bytes, offset + length - buffer.offset - bytes);
    } else {
      // Otherwise append to the arena, and use its last piece if that is free.
      int64_t end = total;
      if (!freeAt.empty())
        if (auto last = std::prev(freeAt.end()); last->first + last->second == total) {
          end = last->first;
          bySize.erase({last->second, last->first});
          freeAt.erase(last);
        }
      buffer.offset = roundUp(end, unit);
      give(end, buffer.offset - end);
      total = std::max(total, buffer.offset + bytes);
    }
    ending.emplace(buffer.last, index);
  }
  return total;
}

int64_t heddle::packArena(std::vector<ArenaBuffer> &buffers, int64_t alignment) {
  if (buffers.empty())
    return 0;
  std::vector<ArenaBuffer> best = buffers;
  int64_t bestTotal = placeInTime(best, alignment), least = mostLive(buffers, alignment);
  auto length = [&](size_t i) { return double(buffers[i].last) - buffers[i].first + 1; };
  std::function<double(size_t)> keys[] = {
      [&](size_t i) { return double(buffers[i].bytes); },
      [&](size_t i) { return double(buffers[i].bytes) * length(i); },
      [&](size_t i) { return length(i); },
      [&](size_t i) { return -double(buffers[i].first); },
      [&](size_t i) { return double(buffers[i].last); },
  };
  constexpr size_t many = 4000; // placing in order is quadratic
  for (const auto &key : keys) {
    if (bestTotal == least || buffers.size() > many)
      break;
    std::vector<size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::vector<double> weight;
    for (size_t i : order)
      weight.push_back(key(i));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return weight[a] != weight[b] ? weight[a] > weight[b] : a < b;
    });
    std::vector<ArenaBuffer> attempt = buffers;
    int64_t total = placeInOrder(attempt, order, alignment);
    if (total < bestTotal) {
      bestTotal = total;
      best = std::move(attempt);
    }
  }
  buffers = std::move(best);
  return bestTotal;
}
