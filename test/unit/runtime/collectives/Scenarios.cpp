//===- Scenarios.cpp - what every engine has to do ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Scenarios.h"

#include "Reference.h"

#include <algorithm>
#include <csignal>
#include <numeric>
#include <random>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

using World = std::unique_ptr<Communicator>;

static void expect(bool holds, const std::string &text) {
  if (!holds)
    throw std::runtime_error(text);
}

static constexpr ElementType I8 = ElementType::I8, F32 = ElementType::F32, I64 = ElementType::I64;
static constexpr Combiner Sum = Combiner::Sum;

/// The parts of `size` elements, of ceil(size / parts) each.
static std::vector<int64_t> blocks(int64_t size, int64_t parts) {
  std::vector<int64_t> counts;
  int64_t block = (size + parts - 1) / parts;
  for (int64_t i = 0; i < parts; ++i)
    counts.push_back(std::clamp(size - i * block, int64_t(0), block));
  return counts;
}

static int64_t sumOf(const std::vector<int64_t> &counts, int64_t first, int64_t last) {
  return std::accumulate(counts.begin() + first, counts.begin() + last, int64_t(0));
}

static Elements inputOf(ElementType type, int64_t count, int64_t member, int64_t salt) {
  Elements input(type, count);
  for (int64_t i = 0; i < count; ++i)
    input.set(i, inputBits(type, member, i, salt));
  return input;
}

/// All members have the same bits.
static void expectSame(const Group &group, const Elements &mine, const std::string &what) {
  uint64_t hash = 14695981039346656037u;
  for (int64_t i = 0; i < mine.count(); ++i)
    hash = (hash ^ mine.get(i)) * 1099511628211u;
  std::vector<uint64_t> all(size_t(group.size()));
  std::vector<int64_t> ones(all.size(), 1);
  group.allGather(&hash, all.data(), ones, ElementType::UI64).wait();
  for (uint64_t other : all)
    expect(other == hash, what + ": members have other bits");
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The elements [first, first + count) of a reduction of `group`.
static void expectReduced(const Group &group, const Elements &result, int64_t first, int64_t count,
                          Combiner combiner, int64_t salt, const std::string &what) {
  for (int64_t i = 0; i < count; ++i) {
    std::vector<uint64_t> each;
    for (int64_t member = 0; member < group.size(); ++member)
      each.push_back(inputBits(result.type, member, first + i, salt));
    uint64_t wanted = combineBits(result.type, combiner, each), got = result.get(i);
    bool equal = got == wanted || (isNan(result.type, got) && isNan(result.type, wanted));
    expect(equal, what + ": element " + std::to_string(first + i) + " is " + std::to_string(got) +
                      ", expected " + std::to_string(wanted));
  }
  expect(result.intact(), what + ": wrote beyond the end");
}

static void reduceSize(const Group &group, ElementType type, Combiner combiner, int64_t size) {
  int64_t salt = int64_t(type) * 100 + int64_t(combiner) * 10 + size;
  std::string what = "reduction " + std::to_string(int(combiner)) + " of " + std::to_string(size) +
                     " " + std::string(spelling(type));
  Elements input = inputOf(type, size, group.member(), salt), output(type, size);
  group.allReduce(input.at(0), output.at(0), size, type, combiner).wait();
  expectReduced(group, output, 0, size, combiner, salt, what);
  expectSame(group, output, what);
  Elements inPlace = input;
  group.allReduce(inPlace.at(0), inPlace.at(0), size, type, combiner).wait();
  for (int64_t i = 0; i < size; ++i)
    expect(inPlace.get(i) == output.get(i), what + " in place");

  auto counts = blocks(size, group.size());
  if (size % 2)
    std::rotate(counts.begin(), counts.begin() + 1, counts.end());
  int64_t first = sumOf(counts, 0, group.member()), own = counts[size_t(group.member())];
  Elements part(type, own);
  group.reduceScatter(input.at(0), part.at(0), counts, type, combiner).wait();
  expectReduced(group, part, first, own, combiner, salt, what + " scattered");
  group.reduceScatter(input.at(0), input.at(first), counts, type, combiner).wait();
  for (int64_t i = 0; i < own; ++i)
    expect(input.get(first + i) == part.get(i), what + " scattered in place");
}

/// Often, because what is overwritten too early depends on time.
static void reduceInPlace(const Group &group, size_t size) {
  std::vector<float> values(size);
  for (int turn = 0; turn < 40; ++turn) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(i % 97) + float(group.member());
    group.allReduce(values.data(), values.data(), int64_t(values.size()), F32, Sum).wait();
    auto members = float(group.size());
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != members * float(i % 97) + members * (members - 1) / 2)
        throw std::runtime_error("all-reduce in place: element " + std::to_string(i));
  }
}

static void reductions(World &world) {
  Group group = world->group("data");
  for (size_t size : {3000, 8000, 120000}) // the last one is split into blocks
    reduceInPlace(group, size);
  for (const auto &info : heddle::detail::elementTypes)
    for (int combiner = 0; combiner < 4; ++combiner)
      for (int64_t size : {0, 1, 3, 301})
        reduceSize(group, info.type, Combiner(combiner), size);
  for (ElementType type : {F32, I8, ElementType::BF16, ElementType::F64})
    for (int64_t size : {8191, 20011})
      reduceSize(group, type, Sum, size);
}

//===----------------------------------------------------------------------===//
// Movements
//===----------------------------------------------------------------------===//

static void expectElements(const Elements &got, int64_t at, int64_t count, int64_t member,
                           int64_t first, int64_t salt, const std::string &what) {
  for (int64_t i = 0; i < count; ++i)
    expect(got.get(at + i) == inputBits(got.type, member, first + i, salt),
           what + ": element " + std::to_string(i) + " of member " + std::to_string(member));
}

static void gather(const Group &group, ElementType type, int64_t size) {
  auto counts = blocks(size, group.size());
  int64_t self = group.member(), first = sumOf(counts, 0, self);
  Elements input = inputOf(type, counts[size_t(self)], self, size), all(type, size), inPlace = all;
  group.allGather(input.at(0), all.at(0), counts, type).wait();
  for (int64_t i = 0; i < counts[size_t(self)]; ++i)
    inPlace.set(first + i, input.get(i));
  group.allGather(inPlace.at(first), inPlace.at(0), counts, type).wait();
  for (int64_t member = 0; member < group.size(); ++member)
    for (const Elements *result : {&all, &inPlace})
      expectElements(*result, sumOf(counts, 0, member), counts[size_t(member)], member, 0, size,
                     "all-gather of " + std::to_string(size));
  expect(all.intact() && inPlace.intact(), "all-gather wrote beyond the end");
}

static void exchange(const Group &group, ElementType type, int64_t size) {
  int64_t members = group.size(), self = group.member();
  auto countOf = [&](int64_t from, int64_t to) { return (from * 3 + to) % 4 * size / 3; };
  std::vector<int64_t> counts, outputCounts;
  for (int64_t other = 0; other < members; ++other) {
    counts.push_back(countOf(self, other));
    outputCounts.push_back(countOf(other, self));
  }
  Elements input = inputOf(type, sumOf(counts, 0, members), self, size);
  Elements output(type, sumOf(outputCounts, 0, members));
  group.allToAll(input.at(0), counts, output.at(0), outputCounts, type).wait();
  for (int64_t from = 0; from < members; ++from) {
    int64_t first = 0;
    for (int64_t to = 0; to < self; ++to)
      first += countOf(from, to);
    expectElements(output, sumOf(outputCounts, 0, from), outputCounts[size_t(from)], from, first,
                   size, "all-to-all of " + std::to_string(size));
  }
}

static void permute(const Group &group, ElementType type, int64_t size) {
  int32_t members = group.size(), self = group.member();
  for (int32_t shift = 0; shift < members; ++shift) {
    int32_t target = (self + shift) % members, source = (self - shift + members) % members;
    Elements input = inputOf(type, size + self, self, size), output(type, size + source);
    group.permute(input.at(0), size + self, target, output.at(0), size + source, source, type)
        .wait();
    expectElements(output, 0, size + source, source, 0, size, "permute");
  }
  // A line: the last one sends to none, the first one receives from none.
  int32_t target = self + 1 < members ? self + 1 : -1, source = self - 1;
  Elements input = inputOf(type, size, self, size), output(type, size);
  group.permute(input.at(0), size, target, output.at(0), size, source, type).wait();
  if (source >= 0)
    expectElements(output, 0, size, source, 0, size, "permute along a line");
  else
    expect(size == 0 || output.get(0) == Elements(type, size).get(0), "permute wrote to the first");
}

static void broadcastFrom(const Group &group, ElementType type, int64_t size, int32_t root) {
  Elements input = inputOf(type, group.member() == root ? size : 0, root, size), output(type, size);
  group.broadcast(group.member() == root ? input.at(0) : nullptr, output.at(0), size, root, type)
      .wait();
  expectElements(output, 0, size, root, 0, size, "broadcast of " + std::to_string(size));
  expect(output.intact(), "broadcast wrote beyond the end");
}

static void messages(const Group &group, ElementType type, int64_t size) {
  int32_t members = group.size(), self = group.member();
  std::vector<Pending> pending;
  std::vector<Elements> inputs, outputs;
  inputs.reserve(size_t(2 * members));
  outputs.reserve(size_t(2 * members));
  for (int turn = 0; turn < 2; ++turn)
    for (int32_t other = 0; other < members; ++other)
      if (other != self) {
        inputs.push_back(inputOf(type, size + turn, self, size + turn));
        outputs.emplace_back(type, size + turn);
        pending.push_back(group.send(inputs.back().at(0), size + turn, other, type));
        pending.push_back(group.receive(outputs.back().at(0), size + turn, other, type));
      }
  while (!pending.empty()) { // in the reverse order
    pending.back().wait();
    pending.pop_back();
  }
  size_t next = 0;
  for (int turn = 0; turn < 2; ++turn)
    for (int32_t other = 0; other < members; ++other)
      if (other != self)
        expectElements(outputs[next++], 0, size + turn, other, 0, size + turn, "message");
}

static void moveAll(const Group &group, ElementType type, int64_t size) {
  gather(group, type, size);
  exchange(group, type, size);
  permute(group, type, size);
  for (int32_t root = 0; root < group.size(); ++root)
    broadcastFrom(group, type, size, root);
  messages(group, type, size);
  group.barrier().wait();
}

static void movements(World &world) {
  Group group = world->group("data");
  for (ElementType type : {I8, ElementType::F16, F32, I64})
    for (int64_t size : {0, 1, 5, 9, 1023})
      moveAll(group, type, size);
  moveAll(group, F32, 40009);
}

//===----------------------------------------------------------------------===//
// Groups, large operations, many at once
//===----------------------------------------------------------------------===//

static void groups(World &world) {
  int32_t rank = world->rank(), size = world->size();
  std::vector<int32_t> half, reversed, first{0}, own{rank}, others;
  for (int32_t other = size - 1; other >= 0; --other)
    reversed.push_back(other);
  for (int32_t other = rank % 2; other < size; other += 2)
    half.push_back(other);
  for (int32_t other = 1; other < size; ++other)
    others.push_back(other);
  Group halves = world->group(rank % 2 ? "odd" : "even", half);
  Group backwards = world->group("backwards", reversed), alone = world->group("alone", own);
  expect(halves.size() == int32_t(half.size()) && halves.member() == rank / 2, "member");
  expect(backwards.member() == size - 1 - rank, "member of the reversed group");
  for (const Group *group : {&halves, &backwards, &alone}) {
    reduceSize(*group, F32, Sum, 1001);
    moveAll(*group, ElementType::BF16, 77);
  }
  if (rank != 0)
    reduceSize(world->group("others", others), F32, Combiner::Product, 500);
  for (int i = 0; i < 5; ++i) // of one name, and each time its own
    reduceSize(world->group("again"), I64, Combiner::Max, 9);
}

static void large(World &world) {
  constexpr int64_t count = 16 << 20; // 64 MiB of f32
  Group group = world->group("data");
  int32_t rank = world->rank(), size = world->size();
  std::vector<float> values(count);
  auto fill = [&](float by) {
    for (int64_t i = 0; i < count; ++i)
      values[size_t(i)] = float(i % 8191) * by;
  };
  auto expectValues = [&](float by, const char *what) {
    for (int64_t i = 0; i < count; ++i)
      if (values[size_t(i)] != float(i % 8191) * by)
        throw std::runtime_error(std::string(what) + ": element " + std::to_string(i));
  };
  fill(float(rank + 1));
  group.allReduce(values.data(), values.data(), count, F32, Sum).wait();
  expectValues(float(size * (size + 1) / 2), "all-reduce of 64 MiB");
  fill(rank == size - 1 ? 3 : 5);
  group.broadcast(values.data(), values.data(), count, size - 1, F32).wait();
  expectValues(3, "broadcast of 64 MiB");
  auto counts = blocks(count, size);
  int64_t begin = sumOf(counts, 0, rank);
  std::fill(values.begin(), values.begin() + begin, 0.f);
  std::fill(values.begin() + begin + counts[size_t(rank)], values.end(), 0.f);
  group.overlapping().allGather(values.data() + begin, values.data(), counts, F32).wait();
  expectValues(3, "all-gather of 64 MiB");
}

static void inFlight(World &world) {
  int32_t rank = world->rank(), size = world->size();
  Group one = world->group("one"), two = world->group("two");
  constexpr int operations = 40;
  std::vector<Elements> data;
  std::vector<Pending> pending;
  data.reserve(operations);
  auto begin = [&](int number) {
    const Group &group = number % 2 ? one : two;
    Elements &mine = data[size_t(number)];
    pending.push_back((number % 3 ? group : group.overlapping())
                          .allReduce(mine.at(0), mine.at(0), mine.count(), F32, Sum));
  };
  for (int i = 0; i < operations; ++i)
    data.push_back(inputOf(F32, i % 5 == 4 ? 60000 : i * 7, rank, i));
  // Ranks start the operations of two groups in different orders.
  for (int i = 0; i < operations; i += 2) {
    begin(rank % 2 ? i : i + 1);
    begin(rank % 2 ? i + 1 : i);
  }
  std::mt19937 random(static_cast<unsigned>(rank));
  std::shuffle(pending.begin(), pending.end(), random);
  for (Pending &each : pending)
    each.wait();
  for (int i = 0; i < operations; ++i)
    expectReduced(i % 2 ? one : two, data[size_t(i)], 0, data[size_t(i)].count(), Sum, i,
                  "operation " + std::to_string(i));
  // A message that is sent long before it is received, around operations of all.
  if (size > 1 && rank < 2) {
    Elements big = inputOf(F32, 200000, rank, 1), back(F32, 200000);
    Pending sent = one.send(big.at(0), big.count(), 1 - rank, F32);
    one.barrier().wait();
    one.receive(back.at(0), back.count(), 1 - rank, F32).wait();
    sent.wait();
    expectElements(back, 0, back.count(), 1 - rank, 0, 1, "early message");
  } else {
    one.barrier().wait();
  }
}

/// Several threads of a rank use a communicator.
static void threads(World &world) {
  std::vector<Group> groups{world->group("a"), world->group("b"), world->group("c")};
  std::vector<std::string> errors(groups.size());
  std::vector<std::thread> workers;
  for (size_t i = 0; i < groups.size(); ++i)
    workers.emplace_back([&, i] {
      try {
        for (int turn = 0; turn < 20; ++turn)
          reduceSize(groups[i], F32, Sum, 100 * int64_t(i) + turn);
      } catch (const std::exception &error) {
        errors[i] = error.what();
      }
    });
  for (std::thread &worker : workers)
    worker.join();
  for (const std::string &error : errors)
    expect(error.empty(), error);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// `action` fails with this status and a message that has all `parts`.
static void expectFailure(int32_t status, const std::vector<std::string> &parts,
                          const std::function<void()> &action) {
  try {
    action();
  } catch (const CollectiveError &error) {
    std::string text = error.what();
    expect(error.status == status, "status " + std::to_string(error.status) + ", expected " +
                                       std::to_string(status) + ": " + text);
    for (const std::string &part : parts)
      expect(text.find(part) != std::string::npos, "expected '" + part + "' in: " + text);
    return;
  }
  throw std::runtime_error("expected a failure with '" + (parts.empty() ? "" : parts[0]) + "'");
}

/// Rank 1 calls something else than the others. (A rank may learn of it while it completes the
/// operation before.)
static auto mismatch(std::function<Pending(const Group &, bool, float *)> call,
                     std::vector<std::string> parts) {
  return [=](World &world) {
    Group group = world->group("data");
    std::vector<float> values(1000);
    expectFailure(HEDDLE_MISMATCH, parts, [&] {
      group.barrier().wait();
      call(group, world->rank() == 1, values.data()).wait();
    });
    expectFailure(HEDDLE_MISMATCH, parts, [&] { group.barrier().wait(); });
  };
}

/// Rank 1 comes to the operation when the others have given up.
static void late(World &world) {
  Group group = world->group("data");
  std::vector<float> values(100000);
  bool isLate = world->rank() == 1;
  auto reduce = [&] { group.allReduce(values.data(), values.data(), 100000, F32, Sum).wait(0.4); };
  for (int turn = 0; turn < 2; ++turn)
    expectFailure(HEDDLE_TIMEOUT,
                  {"all-reduce #2 of group data", "rank 1 did not arrive within 0.4 s"}, [&] {
                    if (turn == 0)
                      group.barrier().wait(30);
                    if (isLate && turn == 0) // until it hears of that
                      group.receive(values.data(), 1, 0, F32).wait(30);
                    reduce();
                  });
}

static void lateMessage(World &world) {
  Group group = world->group("data");
  float value = 0;
  if (world->rank() == 0)
    expectFailure(HEDDLE_TIMEOUT,
                  {"receive #1 from rank 1 of group data: rank 1 did not arrive within 0.3 s"},
                  [&] { group.receive(&value, 1, 1, F32).wait(0.3); });
  else
    expectFailure(HEDDLE_TIMEOUT,
                  {"rank 0 reports: receive #1 from rank 1 of group data: rank 1 did not arrive"},
                  [&] { group.barrier().wait(30); });
}

static void aborted(World &world) {
  Group group = world->group("data");
  group.barrier().wait();
  std::thread other;
  if (world->rank() == 0)
    other = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      world->abort("the loss is NaN");
    });
  // The last rank never calls the barrier.
  if (world->rank() + 1 < world->size() || world->rank() == 0)
    expectFailure(HEDDLE_ABORTED, {"rank 0 aborted: the loss is NaN"}, [&] {
      group.barrier().wait();
      if (world->size() == 1) // which has nobody to wait for
        for (int i = 0; i < 100; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          group.barrier().wait();
        }
    });
  else
    expectFailure(HEDDLE_ABORTED, {"rank 0 aborted: the loss is NaN"}, [&] {
      while (true) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        float value = 0;
        group.receive(&value, 1, 0, F32).wait();
      }
    });
  if (other.joinable())
    other.join();
}

/// Rank 1 leaves while others wait for it: as a thread by destroying its context.
static void gone(World &world) {
  Group group = world->group("data");
  std::vector<float> values(50000);
  auto reduce = [&] { group.allReduce(values.data(), values.data(), 50000, F32, Sum).wait(); };
  if (world->rank() == 1) {
    reduce();
    world.reset();
    return;
  }
  expectFailure(HEDDLE_DEAD, {"#2 of group data", "rank 1 is gone: it left"}, [&] {
    reduce();
    reduce();
  });
}

/// The process of rank 1 is killed while others wait for it.
static void killed(World &world) {
  Group group = world->group("data");
  expectFailure(HEDDLE_DEAD, {"barrier #2 of group data", "rank 1 is gone: its process "}, [&] {
    group.barrier().wait();
    if (world->rank() == 1)
      kill(getpid(), SIGKILL);
    group.barrier().wait();
  });
}

static void otherGroups(World &world) {
  std::vector<int32_t> ranks{0, 1};
  if (world->rank() > 1)
    return;
  expectFailure(HEDDLE_MISMATCH, {"rank 1 makes group model of 2 ranks, rank 0 makes data of 2"},
                [&] { world->group(world->rank() ? "model" : "data", ranks); });
}

static void badArguments(World &world) {
  Group group = world->group("data");
  int32_t size = group.size();
  float value[4] = {};
  std::vector<int64_t> few(size_t(size + 1), 1);
  auto refused = [&](const std::string &text, auto action) {
    expectFailure(HEDDLE_INVALID, {text}, [&] { action().wait(); });
  };
  refused("a count for each", [&] { return group.allGather(value, value, few, F32); });
  refused("all-reduce: expected counts of 0",
          [&] { return group.allReduce(value, value, -1, F32, Sum); });
  refused("all-reduce: expected memory",
          [&] { return group.allReduce(nullptr, value, 1, F32, Sum); });
  refused("input and output overlap",
          [&] { return group.allReduce(value, value + 1, 2, F32, Sum); });
  refused("broadcast: expected a source of 0 to " + std::to_string(size - 1),
          [&] { return group.broadcast(value, value, 1, size, F32); });
  refused("send: member", [&] { return group.send(value, 1, group.member(), F32); });
  HeddleOperation call{.kind = HEDDLE_BARRIER, .space = "gpu"};
  refused("only memory of the host, got the space 'gpu'", [&] { return group.start(call); });
  refused("there is no operation 99", [&] { return group.start({.kind = 99}); });
  refused("no element type 77",
          [&] { return group.start({.kind = HEDDLE_ALL_GATHER, .element = 77}); });
  std::vector<int32_t> ranks{0, 0}, beyond{size}, none;
  for (auto &list : {ranks, beyond})
    expectFailure(HEDDLE_INVALID, {"group bad: "}, [&] { world->group("bad", list); });
  group.barrier().wait(); // nothing was lost
}

/// The options come from the caller: rank 1 dies or hangs.
static void emulated(World &world) {
  Group group = world->group("data");
  std::vector<float> values(10, 1.f);
  for (int i = 0; i < 30; ++i)
    group.allReduce(values.data(), values.data(), 10, F32, Combiner::Max).wait();
}

const std::vector<Scenario> &test::scenarios() {
  auto reduces = [](const Group &group, float *values, int64_t count, ElementType type = F32,
                    Combiner combiner = Sum) {
    return group.allReduce(values, values, count, type, combiner);
  };
  static const std::vector<Scenario> all{
      {"reductions", false, "", 1, reductions},
      {"movements", false, "", 1, movements},
      {"groups", false, "", 1, groups},
      {"large", false, "", 1, large},
      {"in-flight", false, "", 1, inFlight},
      {"threads", false, "", 1, threads},
      {"bad-arguments", false, "", 1, badArguments},
      {"other-operation", true, "", 2,
       mismatch([=](const Group &group, bool other,
                    float *values) { return other ? group.barrier() : reduces(group, values, 10); },
                {"rank 1 called barrier #2", "called all-reduce #2 of 10 f32 by sum"})},
      {"other-count", true, "", 2,
       mismatch([=](const Group &group, bool other,
                    float *values) { return reduces(group, values, other ? 11 : 10); },
                {"rank 1 called all-reduce #2 of 11 f32", "called all-reduce #2 of 10 f32"})},
      {"other-type", true, "", 2,
       mismatch(
           [=](const Group &group, bool other, float *values) {
             return reduces(group, values, 10, other ? ElementType::I32 : F32);
           },
           {"rank 1 called all-reduce #2 of 10 i32", "called all-reduce #2 of 10 f32"})},
      {"other-combiner", true, "", 2,
       mismatch(
           [=](const Group &group, bool other, float *values) {
             return reduces(group, values, 10, F32, other ? Combiner::Max : Sum);
           },
           {"rank 1 called all-reduce #2 of 10 f32 by max",
            "called all-reduce #2 of 10 f32 by sum"})},
      {"other-root", true, "", 2,
       mismatch([](const Group &group, bool other,
                   float *values) { return group.broadcast(values, values, 10, other, F32); },
                {"rank 1 called broadcast #2 of 10 f32 from member 1", "from member 0"})},
      {"other-counts", true, "", 2,
       mismatch(
           [](const Group &group, bool other, float *values) {
             std::vector<int64_t> counts(size_t(group.size()), 3);
             counts[other] = 5;
             return group.allGather(values, values + 100, counts, F32);
           },
           {"called all-gather #2 of", "called it with other counts"})},
      {"late", true, "", 2, late},
      {"late-message", true, "", 2, lateMessage},
      {"aborted", true, "", 1, aborted},
      {"gone", true, "", 2, gone},
      {"killed", true, "", 2, killed},
      {"other-groups", true, "", 2, otherGroups},
      {"emulated", true, "", 2, emulated},
  };
  return all;
}

const Scenario &test::scenario(const std::string &name) {
  auto found = std::ranges::find(scenarios(), name, &Scenario::name);
  if (found == scenarios().end())
    throw std::runtime_error("there is no scenario '" + name + "'");
  return *found;
}
