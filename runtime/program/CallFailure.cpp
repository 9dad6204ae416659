//===- CallFailure.cpp - why a call failed --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/CallFailure.h"

#include "heddle/Error.h"

using namespace heddle;

void CallFailure::reset() {
  code.store(0, std::memory_order_relaxed);
  step = -1;
  aborted.reset();
}

/// Stores the reason of the first thread that fails.
int32_t CallFailure::fail(int32_t index, const char *text) {
  if (int32_t none = 0; code.compare_exchange_strong(none, Failed, std::memory_order_acq_rel)) {
    step = index;
    note(text);
  } else if (none == Aborted) { // the step that another rank's failure has interrupted
    std::lock_guard lock(mutex);
    step = index;
  }
  return Failed;
}

/// Stores the reason of a failure, unless out of memory.
void CallFailure::note(const char *text) noexcept {
  try {
    reason = text;
  } catch (const std::bad_alloc &) {
  }
}

void CallFailure::leave(int32_t status, Region &region) {
  if (int32_t none = 0; status != Cancelled)
    code.store(status, std::memory_order_relaxed);
  else // the region was aborted, but no thread has failed
    code.compare_exchange_strong(none, Cancelled, std::memory_order_relaxed);
  region.abort();
}

void CallFailure::abort(const Failure &failure) {
  std::lock_guard lock(mutex);
  // The channel also reports this rank's own failure, which is recorded already.
  int32_t none = 0;
  if (!code.compare_exchange_strong(none, Aborted, std::memory_order_acq_rel))
    return;
  aborted = failure;
  if (abortable)
    abortable->abort();
}

void CallFailure::setAbortable(Region *region) {
  std::lock_guard lock(mutex);
  abortable = region;
  if (region && aborted)
    region->abort();
}

/// "step (file:line:column)", or the known parts of it.
static std::string placeOf(const std::string &step, const std::string &location) {
  return (step.empty() ? "" : " at '" + step + "'") +
         (location.empty() ? "" : " (" + location + ")");
}

/// Throws the error for another rank that ended this run. It names the step that failed there or,
/// if that rank has just gone, the step here that waited for it.
void CallFailure::raiseAborted(const EntrySpec &entry, const StepSpec *waiting) {
  Failure failure = *std::exchange(aborted, std::nullopt);
  std::string what = failure.describe(), place;
  if (failure.step.empty() && waiting) {
    failure.step = waiting->name;
    failure.location = waiting->location;
    place = placeOf(failure.step, failure.location);
  }
  throw ExecutionError("'" + entry.name + "' was ended" + place + ": " + what, entry.name,
                       failure.step, failure.location, failure.member.rank);
}

void CallFailure::raise(const EntrySpec &entry, ControlChannel *channel) {
  const StepSpec *failed =
      step >= 0 && size_t(step) < entry.steps.size() ? &entry.steps[size_t(step)] : nullptr;
  // An engine may notice that a rank has gone before the channel reports the cause.
  if (channel && !aborted)
    aborted = channel->failure(std::chrono::seconds(failed && failed->communication ? 2 : 0));
  if (aborted)
    raiseAborted(entry, failed);
  std::string name = failed ? failed->name : "", location = failed ? failed->location : "";
  if (status() == Cancelled)
    note("the process was forked in one of its steps, whose other threads are in the parent");
  std::string text = reason.empty() ? "status " + std::to_string(status()) : reason;
  reason.clear();
  if (channel)
    channel->fail(text, entry.name, name, location);
  std::string where =
      placeOf(name, location) + (channel ? " on rank " + std::to_string(channel->rank()) : "");
  throw ExecutionError("'" + entry.name + "' failed" + where + ": " + text, entry.name, name,
                       location, channel ? channel->rank() : -1);
}
