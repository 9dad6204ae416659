//===- MemoryTest.cpp - memory managers and plans -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/Random.h"

#include "heddle/Error.h"
#include "runtime/memory/MemoryManager.h"

#include <cstdlib>
#include <cstring>
#include <thread>

using namespace heddle;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static void checkPlan(const std::vector<ArenaBuffer> &buffers, int64_t total) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const ArenaBuffer &a = buffers[i];
    ASSERT_GE(a.offset, 0);
    ASSERT_EQ(a.offset % std::max<int64_t>(64, a.alignment), 0);
    ASSERT_LE(a.offset + a.bytes, total);
    for (size_t k = 0; k < i; ++k) {
      const ArenaBuffer &b = buffers[k];
      bool together = a.first <= b.last && b.first <= a.last;
      bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      ASSERT_FALSE(together && overlap && a.bytes && b.bytes) << "buffers " << i << " and " << k;
    }
  }
}

TEST(Planner, TheExampleOfTheHeader) {
  std::vector<ArenaBuffer> buffers = {{100, 0, 1}, {50, 1, 2}, {100, 2, 3}};
  EXPECT_EQ(liveBytes(buffers), 150);
  EXPECT_EQ(packArena(buffers), 192);
  EXPECT_EQ(buffers[0].offset, buffers[2].offset);
  std::vector<ArenaBuffer> none;
  EXPECT_EQ(packArena(none), 0);
}

TEST(Planner, RandomProgramsDoNotOverlapAndStayNearTheBound) {
  double sum = 0;
  int count = 0;
  forRandomSeeds(200, [&](Random &random) {
    std::vector<ArenaBuffer> buffers;
    int64_t steps = random.between(1, 60);
    for (int64_t i = random.between(1, 120); i > 0; --i) {
      int32_t first = int32_t(random.between(0, steps - 1));
      int32_t last = int32_t(std::min(steps - 1, first + random.between(0, 12)));
      buffers.push_back({random.between(0, 5000), first, last, -1, random.between(0, 9) ? 1 : 256});
    }
    auto again = buffers;
    int64_t total = packArena(buffers);
    checkPlan(buffers, total);
    EXPECT_EQ(packArena(again), total);
    for (size_t i = 0; i < buffers.size(); ++i)
      EXPECT_EQ(buffers[i].offset, again[i].offset);
    EXPECT_GE(total, liveBytes(buffers));
    sum += double(total) / double(std::max<int64_t>(64, liveBytes(buffers)));
    ++count;
  });
  if (count > 1) {
    EXPECT_LT(sum / count, 1.15) << "arenas are on average this much larger than the live set";
  }
}

TEST(Planner, ManyBuffersTakeNearLinearTime) {
  Random random(7);
  std::vector<ArenaBuffer> buffers;
  for (int32_t i = 0; i < 100000; ++i)
    buffers.push_back({random.between(1, 4096), i, i + int32_t(random.between(0, 30))});
  int64_t total = packArena(buffers);
  EXPECT_LT(double(total), 1.5 * double(liveBytes(buffers)));
  buffers.resize(2000);
  checkPlan(buffers, total);
}

//===----------------------------------------------------------------------===//
// Managers
//===----------------------------------------------------------------------===//

template <typename Manager>
class Managers : public testing::Test {};
using AllManagers = testing::Types<SystemManager, CachingManager, ArenaManager>;
TYPED_TEST_SUITE(Managers, AllManagers);

TYPED_TEST(Managers, BuffersAreAlignedAndDoNotOverlap) {
  TypeParam manager;
  forRandomSeeds(5, [&](Random &random) {
    struct Buffer {
      unsigned char *address;
      int64_t bytes;
      unsigned char mark;
    };
    std::vector<Buffer> live;
    for (int i = 0; i < 2000; ++i) {
      if (live.empty() || random.between(0, 9) < 6) {
        int64_t bytes = random.between(0, 9) ? random.between(0, 3000) : random.between(0, 5 << 20);
        int64_t alignment = int64_t(1) << random.between(0, 9);
        auto *address =
            static_cast<unsigned char *>(manager.allocate(bytes, alignment, {"buffer", ""}));
        ASSERT_EQ(reinterpret_cast<uintptr_t>(address) % uint64_t(alignment), 0u);
        unsigned char mark = (unsigned char)random.between(0, 255);
        bytes = std::min<int64_t>(bytes, 4096);
        std::memset(address, mark, size_t(bytes));
        live.push_back({address, bytes, mark});
      } else {
        size_t index = size_t(random.between(0, int64_t(live.size()) - 1));
        Buffer buffer = live[index];
        for (int64_t k = 0; k < buffer.bytes; ++k)
          ASSERT_EQ(buffer.address[k], buffer.mark);
        manager.free(buffer.address);
        live.erase(live.begin() + std::ptrdiff_t(index));
      }
    }
    for (const Buffer &buffer : live)
      manager.free(buffer.address);
    EXPECT_EQ(manager.statistics().live, 0);
    EXPECT_GE(manager.statistics().peak, 1);
  });
}

TYPED_TEST(Managers, ManyThreads) {
  TypeParam manager;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Random random{uint64_t(t)};
      for (int i = 0; i < 500; ++i) {
        void *address = manager.allocate(random.between(1, 10000), 64, {});
        std::memset(address, t, 1);
        manager.free(address);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(manager.statistics().allocations, 2000);
  EXPECT_EQ(manager.statistics().live, 0);
}

TYPED_TEST(Managers, NoMemoryIsAnErrorWithNameAndPlace) {
  TypeParam manager;
  try {
    manager.allocate(int64_t(1) << 60, 64, {"weights", "model.cpp:12:3"});
    FAIL() << "expected an error";
  } catch (const Error &error) {
    std::string message = error.what();
    EXPECT_NE(message.find("out of memory"), std::string::npos) << message;
    EXPECT_NE(message.find("'weights' at model.cpp:12:3"), std::string::npos) << message;
  }
  manager.free(manager.allocate(16, 64, {}));
}

TEST(CachingManager, FreedMemoryIsUsedAgain) {
  CachingManager manager;
  void *first = manager.allocate(1000, 64, {});
  manager.free(first);
  EXPECT_EQ(manager.allocate(1001, 64, {}), first);
  int64_t reserved = manager.statistics().reserved;
  EXPECT_GE(reserved, 1001);
  manager.free(first);
  EXPECT_EQ(manager.statistics().reserved, reserved);
  manager.trim();
  EXPECT_EQ(manager.statistics().reserved, 0);
}

TEST(ArenaManager, NeighboursAreJoined) {
  ArenaManager manager(2 << 20);
  std::vector<void *> all;
  for (int i = 0; i < 64; ++i)
    all.push_back(manager.allocate(32 << 10, 64, {}));
  for (size_t i = 0; i < all.size(); i += 2)
    manager.free(all[i]);
  for (size_t i = 1; i < all.size(); i += 2)
    manager.free(all[i]);
  int64_t reserved = manager.statistics().reserved;
  manager.free(manager.allocate((2 << 20) - 64, 64, {}));
  EXPECT_EQ(manager.statistics().reserved, reserved);
}

TEST(MemoryManager, EventsCarryNamesAndCanBeReplayed) {
  CachingManager manager;
  std::vector<MemoryEvent> events;
  manager.setListener([&](const MemoryEvent &event) {
    events.push_back(event);
    manager.statistics(); // a listener may call it
  });
  void *a = manager.allocate(100, 64, {"conv", "model.cpp:3:1"});
  void *b = manager.allocate(200, 128, {"relu", "model.cpp:4:1"});
  manager.free(a);
  manager.free(b);
  manager.setListener(nullptr);
  manager.free(manager.allocate(1, 64, {}));
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[1].name, "relu");
  EXPECT_EQ(events[1].location, "model.cpp:4:1");
  EXPECT_EQ(events[2].kind, MemoryEvent::Kind::Free);
  EXPECT_EQ(events[2].name, "conv");
  ArenaManager other;
  MemoryStatistics statistics = replay(events, other);
  EXPECT_EQ(statistics.peak, 300);
  EXPECT_EQ(statistics.live, 0);
}

namespace {
/// Gives addresses that are multiples of so many bytes only.
struct Misaligning : MemoryManager {
  int64_t multiple;
  int inUse = 0;
  explicit Misaligning(int64_t multiple) : multiple(multiple) {}

protected:
  void *obtain(int64_t bytes, int64_t) override {
    ++inUse;
    auto *block =
        static_cast<char *>(std::aligned_alloc(4096, size_t((bytes + 8191) / 4096 * 4096)));
    return block + multiple;
  }
  void release(void *address, int64_t) override {
    --inUse;
    std::free(static_cast<char *>(address) - multiple);
  }
};
} // namespace

TEST(MemoryManager, AMisalignedAddressIsAnError) {
  for (int64_t multiple : {1, 4, 32, 64}) {
    Misaligning manager(multiple);
    if (multiple >= 64) {
      void *address = manager.allocate(100, 64, {});
      manager.free(address);
    }
    try {
      manager.allocate(100, 2 * multiple, {"weights", "model.cpp:12:3"});
      FAIL() << "expected an error";
    } catch (const Error &error) {
      EXPECT_EQ(std::string(error.what()),
                "the memory manager gave an address for 'weights' at model.cpp:12:3 that is a "
                "multiple of " +
                    std::to_string(multiple) + " bytes, expected one of " +
                    std::to_string(2 * multiple));
    }
    EXPECT_EQ(manager.inUse, 0) << "what was refused is given back";
    EXPECT_EQ(manager.statistics().live, 0);
    EXPECT_EQ(manager.statistics().allocations, multiple >= 64 ? 1 : 0);
  }
}

TEST(MemoryManager, TheDefaultCanBeReplaced) {
  auto original = defaultMemoryManager();
  auto mine = std::make_shared<SystemManager>();
  setDefaultMemoryManager(mine);
  EXPECT_EQ(defaultMemoryManager(), mine);
  setDefaultMemoryManager(nullptr);
  EXPECT_EQ(defaultMemoryManager(), original);
}
