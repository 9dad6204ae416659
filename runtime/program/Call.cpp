//===- Call.cpp - one call of a program -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Call.h"

#include "heddle/Error.h"

using namespace heddle;

std::shared_ptr<ThreadTeam> heddle::teamOf(const CallOptions &options) {
  if (options.team)
    return options.team;
  return options.job ? options.job->team() : sharedThreadTeam();
}

Call::Call(std::shared_ptr<LoadedProgram> loaded, const EntrySpec &entry, CallOptions options)
    : program(std::move(loaded)), spec(entry), settings(std::move(options)),
      function(program->functionOf(entry)), memory(*program, entry, settings),
      binding(entry, memory), ranks(*program, entry, settings, memory),
      steps(*program, entry, settings, memory, ranks, failure) {
  if (!settings.team)
    settings.team = teamOf(settings);
  if (!settings.manager)
    settings.manager = defaultMemoryManager();
  ranks.requireJob();
  for (const auto &[name, value] : settings.supplied)
    if (!spec.isSupplied(name))
      throw Error("'" + spec.name + "' takes no number '" + name + "' from its caller");
  if (spec.symbols.empty())
    memory.sized = program->sizedFor(spec, {});
}

void Call::bind(size_t argument, TensorRef tensor, bool donate) {
  binding.bind(argument, std::move(tensor), donate);
  ready = false;
}

void Call::bind(std::string_view argument, TensorRef tensor, bool donate) {
  bind(spec.positionOf(argument, spec.arguments), std::move(tensor), donate);
}

void Call::unbind() {
  binding.clear();
  settings.profile = nullptr;
  ready = false;
}

/// Fills the table of addresses for the bound arguments.
void Call::prepare() {
  binding.requireAll();
  if (!spec.symbols.empty())
    memory.sized =
        program->sizedFor(spec, bindSymbols(spec, binding.types(), ranks.suppliedNumbers()));
  ranks.prepare();
  memory.prepare(size_t(threads()));
  binding.place();
  memory.resolveAliases();
  call = {memory.addresses.data(),
          memory.counters,
          memory.scratch.data(),
          memory.sized->symbols.data(),
          &callTable(),
          settings.managed || settings.profile,
          &steps,
          function.data};
  ready = true;
}

namespace {
/// Registers a callback during the object's lifetime.
class AbortCallback {
public:
  AbortCallback(ControlChannel &channel, ControlChannel::AbortCallback callback)
      : channel(channel), number(channel.onAbort(std::move(callback))) {}
  ~AbortCallback() { channel.removeAbortCallback(number); }

private:
  ControlChannel &channel;
  const int number;
};
} // namespace

void Call::run() {
  binding.requireUsable();
  if (!ready)
    prepare();
  call.hooks = settings.managed || settings.profile;
  failure.reset();
  if (ControlChannel *channel = ranks.channel()) {
    AbortCallback callback(*channel, [this](const Failure &other) { failure.abort(other); });
    if (ranks.agree(failure))
      runOnTeam();
  } else {
    runOnTeam();
  }
  if (call.hooks || binding.hasOutputs() || failure.status())
    afterRun();
}

void Call::runOnTeam() {
  binding.copyIn();
  memory.clearCounters();
  auto body = [this](Region &region, int thread) {
    steps.enter(region);
    if (thread == 0 && settings.job)
      failure.setAbortable(&region);
    if (int32_t status = function.function(&call, thread, region.threads()))
      failure.leave(status, region);
    if (thread == 0 && settings.job)
      failure.setAbortable(nullptr);
  };
  if (program->isSerial(spec)) {
    Region one(1);
    body(one, 0);
  } else {
    settings.team->run(body);
  }
  steps.awaitAll();
}

void Call::afterRun() {
  if (settings.managed)
    memory.freeTemporaries();
  // Donated arguments become unusable whether the program succeeded or not.
  binding.poison();
  try {
    if (settings.profile)
      settings.profile->add(spec, steps.times, threads());
  } catch (const std::bad_alloc &) { // keep the results, without a profile
  }
  steps.times.clear();
  if (failure.status()) {
    ready = false;
    failure.raise(spec, ranks.channel());
  }
  binding.copyOut();
  if (binding.takeOver())
    ready = false;
}

TensorRef Call::result(std::string_view name) const {
  return result(spec.positionOf(name, spec.results));
}

std::vector<TensorRef> Call::takeResults() {
  for (size_t r = 0; r < spec.results.size(); ++r)
    result(r);
  std::vector<TensorRef> taken(spec.results.size());
  takeResults(taken);
  return taken;
}

void Call::takeResults(std::vector<TensorRef> &into) {
  ready = false;
  binding.results.swap(into);
}
