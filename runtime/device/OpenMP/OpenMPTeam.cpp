//===- OpenMPTeam.cpp - the OpenMP runtime as a team ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads an OpenMP runtime on first use, and calls the entry points that gcc's code calls and that
// libomp also has. So neither its headers nor its libraries are needed to build this.
//
//===----------------------------------------------------------------------===//
#include "runtime/device/ThreadTeam.h"

#include "heddle/Error.h"

#include <dlfcn.h>

using namespace heddle;

namespace {
struct OpenMP {
  void (*parallel)(void (*body)(void *), void *argument, unsigned threads, unsigned flags);
  int (*thread)();
  int (*threads)();
};

OpenMP openLibrary() {
  constexpr const char *names[] = {"libomp.so.5", "libomp.so", "libgomp.so.1"};
  for (const char *name : names)
    if (void *library = dlopen(name, RTLD_NOW)) {
      OpenMP found;
      auto get = [&](auto &function, const char *symbol) {
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
        return function != nullptr;
      };
      if (get(found.parallel, "GOMP_parallel") && get(found.thread, "omp_get_thread_num") &&
          get(found.threads, "omp_get_num_threads"))
        return found;
    }
  throw Error("no OpenMP runtime is installed: expected libomp.so.5, libomp.so or libgomp.so.1");
}

class OpenMPTeam : public ThreadTeam {
public:
  explicit OpenMPTeam(int count) : openMP(openLibrary()), count(count) {}
  int threads() const override { return count; }

  void run(Body body, void *argument) override {
    // The runtime keeps its threads until the process ends; some would wait forever in a child
    // process.
    static std::atomic<int64_t> usedAt{-1};
    int64_t age = processAge(), before = -1;
    if (!usedAt.compare_exchange_strong(before, age) && before != age)
      throw Error("OpenMP's threads do not exist in a process that was forked; "
                  "use a team of makeThreadTeam in the parent and the child");
    Work work{*this, body, argument};
    openMP.parallel(&Work::run, &work, unsigned(count), 0);
  }

private:
  const OpenMP openMP;
  const int count;

  struct Work {
    const OpenMPTeam &team;
    Body body;
    void *argument;
    Region region{1, team.count > availableCores()};
    std::once_flag once;

    static void run(void *argument) {
      auto &work = *static_cast<Work *>(argument);
      // OpenMP may provide fewer threads, and provides one within another region.
      std::call_once(work.once, [&] { work.region.reset(work.team.openMP.threads()); });
      work.body(work.argument, work.region, work.team.openMP.thread());
    }
  };
};
} // namespace

std::shared_ptr<ThreadTeam> heddle::makeOpenMPTeam(int threads) {
  return std::make_shared<OpenMPTeam>(threads < 1 ? 1 : threads);
}
