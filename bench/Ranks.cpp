//===- Ranks.cpp - heddle-bench-ranks: engines beside bare Open MPI -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     mpirun -n N heddle-bench-ranks SECONDS [BYTES]
//
// SECONDS is the time spent on each row; with BYTES only rows of that size are measured. In each
// round every system does the operation for a while, one after another, in the same processes. Rank
// 0 prints the operation, its bytes, the system, the median of the rounds' times in seconds, and
// the median over the rounds of the ratio of Open MPI's time to the system's.
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Communicator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mpi.h>

using namespace heddle;

namespace {
struct System {
  const char *name;
  std::function<void()> once;
  int64_t count = 1; ///< operations in a round
  std::vector<double> seconds = {}, ratios = {};
};
} // namespace

static double median(std::vector<double> values) {
  auto middle = values.begin() + long(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The time of an operation, on the slowest rank.
static double timeOf(System &system) {
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (int64_t i = 0; i < system.count; ++i)
    system.once();
  double mine = (MPI_Wtime() - begin) / double(system.count), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

static void measure(const char *operation, int64_t bytes, std::vector<System> systems, int rank,
                    double least) {
  for (System &system : systems) {
    timeOf(system); // the first call allocates
    double once = timeOf(system);
    system.count = std::clamp(int64_t(0.01 / once), int64_t(1), int64_t(5000));
  }
  double begin = MPI_Wtime();
  for (int round = 0, goOn = 1; goOn; ++round) {
    for (System &system : systems)
      system.seconds.push_back(timeOf(system));
    for (System &system : systems)
      system.ratios.push_back(systems[0].seconds.back() / system.seconds.back());
    goOn = round < 10 || MPI_Wtime() - begin < least;
    MPI_Bcast(&goOn, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank != 0)
    return;
  for (const System &system : systems)
    std::printf("%s %lld %s %.9g %.4g\n", operation, static_cast<long long>(bytes), system.name,
                median(system.seconds), &system == &systems[0] ? 0 : median(system.ratios));
  std::fflush(stdout);
}

static int32_t exchange(void *, const void *mine, int64_t bytes, void *all) {
  return MPI_Allgather(mine, int(bytes), MPI_BYTE, all, int(bytes), MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  double least = argc > 1 ? std::atof(argv[1]) : 1;
  int64_t only = argc > 2 ? std::atoll(argv[2]) : 0;
  int level, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    Communicator shared(openEngine("shm"), {.rank = rank, .size = size, .exchange = exchange});
    Communicator messages(openEngine("mpi"), {});
    Group shm = shared.group("data"), mpi = messages.group("data");
    std::vector<float> input(16 << 20, 1), output(input.size() + 1024);
    auto *in = input.data(), *out = output.data();
    constexpr auto f32 = ElementType::F32;
    for (int64_t bytes = 4; bytes <= 64 << 20; bytes *= 4) {
      if (only && bytes != only)
        continue;
      int64_t count = bytes / 4;
      measure("all-reduce", bytes,
              {{"openmpi",
                [=] { MPI_Allreduce(in, out, int(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }},
               {"mpi", [=, &mpi] { mpi.allReduce(in, out, count, f32, Combiner::Sum).wait(); }},
               {"shm", [=, &shm] { shm.allReduce(in, out, count, f32, Combiner::Sum).wait(); }}},
              rank, least);
      measure("all-reduce-in-place", bytes,
              {{"openmpi",
                [=] {
                  MPI_Allreduce(MPI_IN_PLACE, out, int(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                }},
               {"mpi", [=, &mpi] { mpi.allReduce(out, out, count, f32, Combiner::Sum).wait(); }},
               {"shm", [=, &shm] { shm.allReduce(out, out, count, f32, Combiner::Sum).wait(); }}},
              rank, least);
      int64_t part = (count + size - 1) / size;
      std::vector<int64_t> parts(size_t(size), part);
      measure("all-gather", bytes,
              {{"openmpi",
                [=] {
                  MPI_Allgather(in, int(part), MPI_FLOAT, out, int(part), MPI_FLOAT,
                                MPI_COMM_WORLD);
                }},
               {"mpi", [=, &mpi] { mpi.allGather(in, out, parts, f32).wait(); }},
               {"shm", [=, &shm] { shm.allGather(in, out, parts, f32).wait(); }}},
              rank, least);
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "heddle-bench-ranks: rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
