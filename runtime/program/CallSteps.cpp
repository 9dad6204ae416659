//===- CallSteps.cpp - what compiled code asks the runtime for ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/CallSteps.h"

#include "heddle/Error.h"

using namespace heddle;

/// Calls a method of the CallSteps that owns a HeddleCall.
template <auto method>
static constexpr auto forward = [](HeddleCall *call, auto... arguments) -> int32_t {
  return (static_cast<CallSteps *>(call->runtime)->*method)(arguments...);
};

const HeddleCallTable &heddle::callTable() {
  static const HeddleCallTable table = {forward<&CallSteps::barrier>, forward<&CallSteps::step>,
                                        forward<&CallSteps::fail>,    forward<&CallSteps::invoke>,
                                        forward<&CallSteps::start>,   forward<&CallSteps::await>};
  return table;
}

int32_t CallSteps::barrier(int32_t) {
  return region.load(std::memory_order_relaxed)->barrier() ? 0 : CallFailure::Cancelled;
}

int32_t CallSteps::step(int32_t index) {
  failure.enter(index);
  try {
    if (options.profile)
      times.emplace_back(index, StepObserver::Clock::now());
    if (options.managed)
      memory.makeAndFree(index);
    return 0;
  } catch (const std::exception &error) {
    return fail(index, error.what());
  }
}

CallSteps::LibraryCall CallSteps::libraryCall(int32_t index) const {
  const StepSpec &step = spec.steps[size_t(index)];
  LibraryCall made{program.libraryFunctions.at(&step)};
  for (int32_t value : step.values)
    made.values.push_back(memory.addresses[size_t(value)]);
  for (int32_t number : step.numbers)
    made.numbers.push_back(memory.sized->symbols[size_t(number)]);
  return made;
}

/// Converts the status of a library's function to that of the entry.
int32_t CallSteps::returned(int32_t index, int32_t code) {
  const StepSpec &step = spec.steps[size_t(index)];
  if (code == 0)
    return 0;
  return fail(index, ("'" + step.kernel + "' of the library '" + step.library +
                      "' returned the status " + std::to_string(code))
                         .c_str());
}

int32_t CallSteps::invoke(int32_t index) {
  try {
    if (spec.steps[size_t(index)].communication) {
      ranks.start(index)->wait();
      return 0;
    }
    LibraryCall now = libraryCall(index);
    now.run();
    return returned(index, now.status);
  } catch (const std::exception &error) {
    return fail(index, error.what());
  }
}

int32_t CallSteps::start(int32_t index) {
  try {
    if (spec.steps[size_t(index)].communication) {
      communicating[index] = ranks.start(index);
      return 0;
    }
    LibraryCall &begun = started.emplace(index, libraryCall(index)).first->second;
    begun.thread = std::thread([&begun] { begun.run(); });
    return 0;
  } catch (const std::exception &error) {
    started.erase(index);
    return fail(index, error.what());
  }
}

int32_t CallSteps::await(int32_t index) {
  int32_t begun = spec.steps[size_t(index)].awaits;
  if (auto pending = communicating.extract(begun))
    try {
      pending.mapped()->wait();
      return 0;
    } catch (const std::exception &error) {
      return fail(begun, error.what());
    }
  auto found = started.find(begun);
  found->second.thread.join();
  int32_t code = found->second.status;
  started.erase(found);
  return returned(begun, code);
}

void CallSteps::awaitAll() {
  for (auto &[step, begun] : started)
    begun.thread.join();
  started.clear();
  communicating.clear();
}
