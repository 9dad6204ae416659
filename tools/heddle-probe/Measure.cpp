//===- Measure.cpp - the rates of this machine ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/heddle-probe/Measure.h"

#include "runtime/device/ThreadTeam.h"
#include "tools/heddle-probe/Vectors.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>

using namespace heddle;
using namespace heddle::probe;

/// Arrays are multiples of this: eight of the widest vectors.
static constexpr int64_t grain = 512;
static constexpr int64_t runBytes = 128, mostBytes = int64_t(1) << 30;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {
struct Free {
  void operator()(float *array) const { std::free(array); }
};
using Array = std::unique_ptr<float, Free>;

class Prober {
public:
  Prober(int threads, double each, const std::function<void()> &advance)
      : team(makeThreadTeam(threads)), oneThread(makeThreadTeam(1)), each(each), advance(advance),
        deadline(now() + 50) {}

  /// The least time of a run of `work`.
  double best(const std::function<void()> &work) {
    work(); // wakes threads, fills caches
    double least = INFINITY, begin = now(), before = begin;
    do {
      work();
      double after = now();
      least = std::min(least, after - before);
      before = after;
    } while (before - begin < each && before < deadline);
    advance();
    return least;
  }

  double clock() {
    constexpr int64_t steps = 1 << 18;
    return steps / best([] { dependentSteps(steps); });
  }

  double flops(ThreadTeam &on) {
    constexpr int64_t count = 1 << 14;
    std::vector<double> done(size_t(on.threads()) * 8);
    double seconds = best([&] {
      on.run([&](Region &, int thread) { done[size_t(thread) * 8] = multiplyAdds(count); });
    });
    return std::accumulate(done.begin(), done.end(), 0.0) / seconds;
  }

  double stores(int64_t bytes) {
    Array array = filled(bytes);
    return work(bytes) / best([&] {
             for (int64_t i = 0; i < repeats(bytes); ++i)
               writeVectors(array.get(), bytes);
           });
  }

  /// Each thread loads an array of `bytes` bytes again and again.
  double loads(ThreadTeam &on, int64_t bytes) {
    std::vector<Array> arrays(size_t(on.threads()));
    on.run([&](Region &, int thread) { arrays[size_t(thread)] = filled(bytes); });
    double seconds = best([&] {
      on.run([&](Region &, int thread) {
        for (int64_t i = 0; i < repeats(bytes); ++i)
          readVectors(arrays[size_t(thread)].get(), bytes);
      });
    });
    return work(bytes) * on.threads() / seconds;
  }

  /// Loads every second piece of an array, in random order.
  double shortRuns(int64_t bytes) {
    Array array = filled(bytes);
    std::vector<int64_t> at(size_t(bytes / (2 * runBytes)));
    for (size_t i = 0; i < at.size(); ++i)
      at[i] = int64_t(i) * 2 * runBytes;
    std::shuffle(at.begin(), at.end(), std::mt19937(1));
    auto *from = reinterpret_cast<const char *>(array.get());
    return work(bytes) / 2 / best([&] {
             for (int64_t i = 0; i < repeats(bytes); ++i)
               readRuns(from, at.data(), int64_t(at.size()), runBytes);
           });
  }

  double barrier() {
    constexpr int count = 1000;
    return best([&] {
             team->run([](Region &region, int) {
               for (int i = 0; i < count; ++i)
                 region.barrier();
             });
           }) /
           count;
  }

  double dispatch() {
    return best([&] { team->run([](Region &, int) {}); });
  }

  std::shared_ptr<ThreadTeam> team, oneThread;

private:
  double each;
  const std::function<void()> &advance;
  double deadline; ///< on a busy machine

  /// A run moves some megabytes, so that the time of its start does not matter.
  static int64_t repeats(int64_t bytes) { return std::max<int64_t>(1, (int64_t(8) << 20) / bytes); }
  static double work(int64_t bytes) { return double(bytes * repeats(bytes)); }

  static Array filled(int64_t bytes) {
    Array array(static_cast<float *>(std::aligned_alloc(4096, size_t(bytes + 4095) / 4096 * 4096)));
    if (!array)
      throw std::bad_alloc();
    writeVectors(array.get(), bytes);
    return array;
  }
};
} // namespace

/// The bytes of an array that fits in a cache, and not in the next nearer one.
static int64_t within(int64_t nearer, int64_t cache) {
  auto bytes =
      std::max(std::min(4 * nearer, cache / 2), int64_t(0.6 * double(std::min(2 * nearer, cache))));
  return std::max(grain, bytes / grain * grain);
}

/// The part of the last cache that arrays really fit in: as large as possible, at a bandwidth that
/// is nearer to the cache's than to that of memory.
static int64_t effective(Prober &prober, const Caches &caches, double cache, double memory) {
  int64_t size = within(caches.l2, caches.l3);
  if (cache < 1.3 * memory) // they can't be told apart
    return caches.l3;
  while (2 * size <= caches.l3 &&
         prober.loads(*prober.oneThread, 2 * size) > std::sqrt(cache * memory))
    size *= 2;
  return 2 * size > caches.l3 ? caches.l3 : size;
}

Measured probe::measure(int threads, const Caches &caches, double seconds,
                        const std::function<void()> &advance) {
  Prober prober(threads, seconds / double(measurements), advance);
  Measured made;
  made.threads = prober.team->threads();
  made.vectorBytes = vectorBytes();
  made.caches = caches;
  made.clock = prober.clock();
  made.flops = prober.flops(*prober.oneThread);
  made.flopsOfAll = prober.flops(*prober.team);
  int64_t inL1 = caches.l1 / 2 / grain * grain;
  made.stores = prober.stores(inL1);
  int64_t far = std::min(mostBytes, std::max<int64_t>(64 << 20, 4 * caches.l3)) / grain * grain;
  std::pair<const char *, int64_t> levels[] = {{"l1", inL1},
                                               {"l2", within(caches.l1, caches.l2)},
                                               {"l3", within(caches.l2, caches.l3)},
                                               {"memory", far}};
  for (auto [name, bytes] : levels) {
    Bandwidth &level = made.loads.emplace_back(Bandwidth{name});
    bool isShared = level.level == "memory"; // by the cores, so that all would take too much of it
    int64_t part = isShared ? std::max(grain, bytes / made.threads / grain * grain) : bytes;
    level.one = prober.loads(*prober.oneThread, bytes);
    level.all = prober.loads(*prober.team, part);
    if (level.level != "l1")
      level.shortRuns = prober.shortRuns(bytes);
  }
  made.caches.l3 = effective(prober, caches, made.loads[2].one, made.loads[3].one);
  made.barrier = prober.barrier();
  made.dispatch = prober.dispatch();
  return made;
}
