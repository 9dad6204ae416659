//===- Timeline.cpp - when which step ran ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Timeline.h"
#include "lib/builder/Graph.h"
#include "lib/profile/MergedTrace.h"
#include "runtime/base/AtomicFile.h"

#include <atomic>

using namespace heddle;
using namespace heddle::detail;

struct Timeline::State {
  Profile profile;
  std::atomic<bool> records = true;
};

Timeline::Timeline() : state(std::make_shared<State>()) {}
void Timeline::record(bool calls) { state->records = calls; }
bool Timeline::records() const { return state->records; }
Profile *Timeline::profile() const { return state->records ? &state->profile : nullptr; }

void Timeline::write(const std::string &path, const Ranks &ranks, Here here) const {
  std::string trace = located(here, [&] {
    return ranks.job() ? mergedTrace(*ranks.job(), state->profile) : state->profile.chromeTrace();
  });
  if (!ranks.isFirst())
    return;
  if (std::string reason = writeAtomically(path, trace); !reason.empty())
    fail(here, reason);
}
