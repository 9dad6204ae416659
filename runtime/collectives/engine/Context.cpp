//===- Context.cpp - a rank's end of its connections ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/Context.h"

#include <algorithm>
#include <numeric>
#include <unistd.h>

#include <sys/syscall.h>

using namespace heddle;
using namespace heddle::collectives;

HeddleContext::HeddleContext(World &options)
    : transport(openTransport(options)), timeout(options.timeout) {
  std::vector<int32_t> all(size_t(transport->size));
  std::iota(all.begin(), all.end(), 0);
  world = makeGroup("of all ranks", std::move(all), 0);
}

HeddleContext::~HeddleContext() {
  {
    std::lock_guard lock(mutex);
    ends = true;
  }
  change.notify_all();
  transport->wake();
  if (helper.joinable())
    helper.join();
  // Free operations that nobody waited for.
  for (Lane *lane : active)
    for (HeddlePending *operation : lane->operations)
      delete operation;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

std::unique_ptr<HeddleGroup> HeddleContext::makeGroup(const char *name, std::vector<int32_t> ranks,
                                                      int64_t number) {
  auto self = std::find(ranks.begin(), ranks.end(), transport->rank) - ranks.begin();
  auto group = std::make_unique<HeddleGroup>(
      HeddleGroup{.context = this, .name = name, .ranks = std::move(ranks), .self = int32_t(self)});
  for (int kind : {0, 1})
    group->channels[kind] = transport->channel(number, group->ranks, group->self, kind);
  group->collective.channel = group->channels[0].get();
  group->sends.assign(group->ranks.size(), Lane{.channel = group->channels[1].get()});
  group->receives = group->sends;
  return group;
}

namespace {
/// The message that each member of a new group sends to the first one.
struct Proposal {
  char name[48];
  int32_t count;
  uint32_t hash; ///< of the ranks
};
} // namespace

/// Exchanges a message with a rank; blocks until it is complete.
void HeddleContext::transfer(int32_t kind, int32_t other, void *data, int64_t bytes,
                             const std::string &title) {
  HeddleOperation call{.kind = kind,
                       .element = int32_t(ElementType::UI8),
                       .source = other,
                       .target = other,
                       .input = data,
                       .output = data,
                       .counts = &bytes};
  wait(start(*world, call, title), -1);
}

/// Agrees on the number of a new group. The first member chooses it, after it has compared the
/// calls.
int64_t HeddleContext::agree(const char *name, const std::vector<int32_t> &ranks) {
  Proposal mine{.name = {}, .count = int32_t(ranks.size()), .hash = 0};
  std::strncpy(mine.name, name, sizeof mine.name - 1);
  for (int32_t rank : ranks)
    mine.hash = (mine.hash ^ uint32_t(rank)) * 16777619u;
  std::string title = "making group " + std::string(name);
  int64_t number = 0;
  if (transport->rank != ranks[0]) {
    transfer(HEDDLE_SEND, ranks[0], &mine, sizeof mine, title);
    transfer(HEDDLE_RECEIVE, ranks[0], &number, sizeof number, title);
    return number;
  }
  for (size_t i = 1; i < ranks.size(); ++i) {
    Proposal other;
    transfer(HEDDLE_RECEIVE, ranks[i], &other, sizeof other, title);
    if (std::memcmp(&mine, &other, sizeof mine) == 0)
      continue;
    auto described = [](const Proposal &one) {
      return std::string(one.name, strnlen(one.name, sizeof one.name)) + " of " +
             std::to_string(one.count) + " ranks";
    };
    std::lock_guard lock(mutex);
    fail({HEDDLE_MISMATCH, title, ": rank ", ranks[i], " makes group ", described(other), ", rank ",
          ranks[0], " makes ", described(mine),
          mine.count == other.count ? ", perhaps of other ranks" : ""});
    throw *failure;
  }
  {
    std::lock_guard lock(mutex);
    number = transport->newGroup(int32_t(ranks.size()));
  }
  for (size_t i = 1; i < ranks.size(); ++i)
    transfer(HEDDLE_SEND, ranks[i], &number, sizeof number, title);
  return number;
}

HeddleGroup *HeddleContext::group(const char *name, const int32_t *ranks, int32_t count) {
  std::vector<int32_t> list = world->ranks;
  if (ranks)
    list.assign(ranks, ranks + std::max(count, 0));
  auto require = [&](bool holds, const auto &...parts) {
    if (!holds)
      throw Failure(HEDDLE_INVALID, "group ", name ? name : "(null)", ": ", parts...);
  };
  require(name, "expected a name");
  std::vector<bool> seen(size_t(transport->size));
  for (int32_t rank : list) {
    require(rank >= 0 && rank < transport->size, "expected ranks of 0 to ", transport->size - 1,
            ", got ", rank);
    require(!seen[size_t(rank)], "rank ", rank, " occurs twice");
    seen[size_t(rank)] = true;
  }
  require(seen[size_t(transport->rank)], "rank ", transport->rank, " makes it, but is no member");
  int64_t number = agree(name, list);
  std::lock_guard lock(mutex);
  return groups.emplace_back(makeGroup(name, std::move(list), number)).get();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void HeddleContext::fail(const Failure &cause, bool tell) {
  if (failure)
    return;
  failure = cause;
  if (tell)
    transport->report(cause);
  for (Lane *lane : active)
    lane->operations.clear();
  active.clear();
  overlapped = 0;
  transport->wake();
}

void HeddleContext::throwFailure(const HeddlePending &operation) const {
  std::string name = operation.describe();
  throw Failure(failure->status, failure->text.starts_with(name) ? "" : name + ": ", failure->text);
}

/// Fails if another rank has reported a failure, and returns true. Callers first process data that
/// arrived before the report, so that operations that all ranks have completed do not fail.
bool HeddleContext::hear() {
  auto reported = transport->reported();
  if (reported)
    fail(*reported, false);
  return reported.has_value();
}

/// Makes progress on all operations; true if any moved. The lock is held.
bool HeddleContext::progress() {
  if (failure)
    return false;
  if (transport->pausedUntil > Clock::time_point() && Clock::now() < transport->pausedUntil)
    return hear();
  bool moved = false;
  try {
    for (size_t i = 0; i < active.size(); ++i) {
      Lane &lane = *active[i];
      while (!lane.operations.empty()) {
        HeddlePending &operation = *lane.operations.front();
        if (operation.advance()) {
          moved = true;
          operation.moved = {};
        }
        if (!operation.done)
          break;
        overlapped -= operation.call.overlapped != 0;
        lane.operations.pop_front();
      }
    }
    std::erase_if(active, [](const Lane *lane) { return lane->operations.empty(); });
  } catch (const Failure &caught) {
    fail(caught);
    return true;
  }
  return moved || hear();
}

HeddlePending *HeddleContext::start(HeddleGroup &group, const HeddleOperation &call,
                                    const std::string &title) {
  verify(call, group.members(), group.self);
  std::unique_lock lock(mutex);
  if (spare.empty())
    spare.push_back(std::make_unique<HeddlePending>());
  std::unique_ptr<HeddlePending> operation = std::move(spare.back());
  spare.pop_back();
  Lane &lane = call.kind == HEDDLE_SEND      ? group.sends[size_t(call.target)]
               : call.kind == HEDDLE_RECEIVE ? group.receives[size_t(call.source)]
                                             : group.collective;
  operation->group = &group;
  operation->call = call;
  operation->call.overlapped = call.overlapped && group.members() > 1;
  operation->title = title;
  operation->lane = &lane;
  operation->number = lane.count + 1;
  operation->moved = {};
  try {
    if (!failure)
      transport->starting(*operation);
  } catch (const Failure &caught) {
    fail(caught);
  }
  if (failure)
    throwFailure(*operation);
  operation->prepare(*transport);
  ++lane.count;
  if (lane.operations.empty())
    active.push_back(&lane);
  lane.operations.push_back(operation.get());
  overlapped += operation->call.overlapped;
  progress();
  if (!operation->done && operation->call.overlapped && !failure) {
    if (!helper.joinable())
      helper = std::thread([this] { help(); });
    change.notify_one();
  }
  return operation.release();
}

void HeddleContext::abort(const char *reason) {
  std::lock_guard lock(mutex);
  fail({HEDDLE_ABORTED, "rank ", transport->rank, " aborted: ", reason});
}

/// Requests a short time slice for this thread. Since Linux 6.12 a thread that wakes up preempts
/// one with a longer slice; otherwise arrived data would wait for milliseconds until the compute
/// thread on this CPU has used up its slice. Older kernels ignore it.
static void askForShortSlice() {
  struct { // sched_attr of linux/sched/types.h, which <sched.h> of glibc contradicts
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0)
    return;
  attributes.runtime = 100'000; // nanoseconds, the minimum
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/// Moves operations while no thread waits.
void HeddleContext::help() {
  askForShortSlice();
  std::unique_lock lock(mutex);
  while (!ends) {
    if (overlapped == 0 || waiting > 0) {
      change.wait(lock);
      continue;
    }
    if (progress())
      continue;
    lock.unlock();
    uint32_t ticket = transport->ticket();
    lock.lock();
    bool busy = progress() || ends;
    lock.unlock();
    if (busy)
      transport->cancel();
    else
      transport->sleep(ticket, std::chrono::milliseconds(100));
    lock.lock();
  }
}
