//===- Call.cpp - one call of a program -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Call.h"

#include "heddle/Error.h"
#include "runtime/memory/FileMemory.h"
#include "runtime/program/Loaded.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace heddle;

/// Statuses that entry functions return.
enum : int32_t { Failed = 1, Cancelled = 2, Aborted = 3 };

//===----------------------------------------------------------------------===//
// The table of functions for compiled code
//===----------------------------------------------------------------------===//

/// Calls a method of the Call that owns a HeddleCall.
template <auto method>
static constexpr auto forward = [](HeddleCall *call, auto... arguments) -> int32_t {
  return (static_cast<Call *>(call->runtime)->*method)(arguments...);
};

const HeddleCallTable &heddle::callTable() {
  static const HeddleCallTable table = {forward<&Call::barrier>, forward<&Call::step>,
                                        forward<&Call::fail>,    forward<&Call::invoke>,
                                        forward<&Call::start>,   forward<&Call::await>};
  return table;
}

int32_t Call::barrier(int32_t) {
  return region.load(std::memory_order_relaxed)->barrier() ? 0 : Cancelled;
}

int32_t Call::step(int32_t index) {
  currentStep = index;
  try {
    if (settings.profile)
      times.emplace_back(index, StepObserver::Clock::now());
    if (settings.managed)
      makeAndFree(index);
    return 0;
  } catch (const std::exception &error) {
    return fail(index, error.what());
  }
}

/// Stores the reason of the first thread that fails.
int32_t Call::fail(int32_t index, const char *reason) {
  if (int32_t none = 0; status.compare_exchange_strong(none, Failed, std::memory_order_acq_rel)) {
    currentStep = index;
    note(reason);
  } else if (none == Aborted) { // the step that another rank's failure has interrupted
    std::lock_guard lock(abortMutex);
    currentStep = index;
  }
  return Failed;
}

Call::LibraryCall Call::libraryCall(int32_t index) const {
  const StepSpec &step = spec.steps[size_t(index)];
  LibraryCall made{program->libraryFunctions.at(&step)};
  for (int32_t value : step.values)
    made.values.push_back(addresses[size_t(value)]);
  for (int32_t number : step.numbers)
    made.numbers.push_back(call.symbols[number]);
  return made;
}

/// Converts the status of a library's function to that of the entry.
int32_t Call::returned(int32_t index, int32_t code) {
  const StepSpec &step = spec.steps[size_t(index)];
  if (code == 0)
    return 0;
  return fail(index, ("'" + step.kernel + "' of the library '" + step.library +
                      "' returned the status " + std::to_string(code))
                         .c_str());
}

/// Starts the communication of a step.
std::unique_ptr<Transport::Pending> Call::communicate(int32_t index) {
  const StepSpec &step = spec.steps[size_t(index)];
  Transport::Operation &operation = operations.at(index);
  if (step.communication->hasInput())
    operation.input = addresses[size_t(step.values.front())];
  if (step.communication->hasOutput())
    operation.output = addresses[size_t(step.values.back())];
  if (size_t count = step.values.size() / 2; count > 1) { // several tensors in one bucket
    operation.output = addresses[size_t(step.values[count])];
    operation.others.clear();
    for (size_t i = 1; i < count; ++i)
      operation.others.emplace_back(addresses[size_t(step.values[i])],
                                    addresses[size_t(step.values[count + i])]);
  }
  operation.overlapped = step.kind == StepKind::Start;
  return settings.job->transport()->start(operation);
}

int32_t Call::invoke(int32_t index) {
  try {
    if (spec.steps[size_t(index)].communication) {
      communicate(index)->wait();
      return 0;
    }
    LibraryCall now = libraryCall(index);
    now.run();
    return returned(index, now.status);
  } catch (const std::exception &error) {
    return fail(index, error.what());
  }
}

int32_t Call::start(int32_t index) {
  try {
    if (spec.steps[size_t(index)].communication) {
      communicating[index] = communicate(index);
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

int32_t Call::await(int32_t index) {
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

/// Waits for the library calls and communication that a failed program has started.
void Call::awaitAll() {
  for (auto &[step, begun] : started)
    begun.thread.join();
  started.clear();
  communicating.clear();
}

const std::shared_ptr<MemoryManager> &Call::managerOf(std::string_view space) const {
  return space == hostSpace ? settings.manager : program->managers.find(space)->second;
}

const std::shared_ptr<MemoryManager> &Call::managerOf(const ValueSpec &value) const {
  return value.memory == fileMemoryName ? fileMemory() : managerOf(value.space);
}

/// Stores the reason of a failure, unless out of memory.
void Call::note(const char *reason) noexcept {
  try {
    failure = reason;
  } catch (const std::bad_alloc &) {
  }
}

void Call::makeAndFree(int32_t step) {
  const auto &free = plan->freeBefore[size_t(step)], &make = plan->makeBefore[size_t(step)];
  for (int32_t value : free) // values of a branch that was not taken were not allocated
    if (void *address = std::exchange(addresses[size_t(value)], nullptr))
      managerOf(spec.values[size_t(value)].space)->free(address);
  for (int32_t value : make) {
    const ValueSpec &of = spec.values[size_t(value)];
    addresses[size_t(value)] = managerOf(of.space)->allocate(
        plan->types[size_t(value)]->bytes, of.layout.alignment, {of.name, of.location, of.space});
  }
  if (!free.empty() || !make.empty())
    for (size_t i = 0; i < addresses.size(); ++i)
      addresses[i] = addresses[size_t(plan->storage[i])];
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

std::shared_ptr<ThreadTeam> heddle::teamOf(const CallOptions &options) {
  if (options.team)
    return options.team;
  return options.job ? options.job->team() : sharedThreadTeam();
}

Call::Call(std::shared_ptr<Program::Loaded> loaded, const EntrySpec &entry, CallOptions options)
    : program(std::move(loaded)), spec(entry), settings(std::move(options)),
      function(program->functionOf(entry)), arguments(entry.arguments.size()),
      results(entry.results.size()), resultOf(entry.values.size(), -1) {
  if (!settings.team)
    settings.team = teamOf(settings);
  if (!settings.manager)
    settings.manager = defaultMemoryManager();
  requireJob();
  for (const auto &[name, value] : settings.supplied)
    if (!spec.isSupplied(name))
      throw Error("'" + spec.name + "' takes no number '" + name + "' from its caller");
  for (size_t r = results.size(); r-- > 0;)
    resultOf[size_t(spec.results[r])] = int32_t(r);
  if (spec.symbols.empty())
    plan = program->planFor(spec, {});
  addresses.assign(spec.values.size(), nullptr);
  size_t counterBytes = std::max<size_t>(1, spec.steps.size()) * 64;
  counters = static_cast<int64_t *>(std::aligned_alloc(64, counterBytes));
  if (!counters)
    throw Error("out of memory: " + std::to_string(counterBytes) + " bytes for the steps of '" +
                spec.name + "'");
}

Call::~Call() {
  for (void *area : scratch)
    settings.manager->free(area);
  for (size_t a = 0; a < arenas.size(); ++a)
    managerOf(plan->arenas[a].space)->free(arenas[a].address);
  std::free(counters);
}

void Call::bind(size_t argument, TensorRef tensor, bool donate) {
  if (argument >= arguments.size())
    throw Error("'" + spec.name + "' has " + std::to_string(arguments.size()) +
                " arguments, there is none at position " + std::to_string(argument));
  const ValueSpec &formal = spec.values[size_t(spec.arguments[argument])];
  if (!tensor)
    throw Error("'" + spec.name + "' lacks its argument '" + formal.name + "'");
  if (!tensor->donatedTo.empty())
    throw Error("the argument '" + formal.name + "' of '" + spec.name + "' was donated to '" +
                tensor->donatedTo + "', which updated it in place");
  if (!(tensor->spec() == formal.type))
    requireArgumentType(spec, argument, tensor->spec());
  if (tensor->space() != formal.space)
    throw Error("expected the argument '" + formal.name + "' of '" + spec.name +
                "' in the memory space '" + formal.space + "', got '" + tensor->space() + "'");
  arguments[argument] = {std::move(tensor), nullptr, donate, false};
  ready = false;
}

void Call::bind(std::string_view argument, TensorRef tensor, bool donate) {
  bind(spec.positionOf(argument, spec.arguments), std::move(tensor), donate);
}

void Call::unbind() {
  for (Argument &argument : arguments)
    argument = {};
  copiesBefore.clear();
  copiesAfter.clear();
  settings.profile = nullptr;
  ready = false;
}

TensorRef &Call::ensureResult(size_t result) {
  size_t value = size_t(spec.results[result]);
  if (!results[result] || results[result]->storedType() != plan->types[value])
    results[result] = std::make_shared<RuntimeTensor>(
        plan->types[value], managerOf(spec.values[value]),
        AllocationInfo{spec.values[value].name, spec.values[value].location});
  return results[result];
}

/// Fills the table of addresses for the bound arguments.
void Call::prepare() {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].tensor)
      throw Error("'" + spec.name + "' lacks its argument '" +
                  spec.values[size_t(spec.arguments[i])].name + "'");
  if (!spec.symbols.empty()) {
    std::vector<const TensorSpec *> types;
    for (const Argument &argument : arguments)
      types.push_back(&argument.tensor->spec());
    plan = program->planFor(spec, bindSymbols(spec, types, suppliedNumbers()));
  }
  prepareCommunication();
  arenas.resize(plan->arenas.size());
  for (size_t a = 0; a < arenas.size() && !settings.managed; ++a) {
    const EntryPlan::Arena &planned = plan->arenas[a];
    if (planned.bytes <= arenas[a].bytes)
      continue;
    auto &manager = managerOf(planned.space);
    manager->free(std::exchange(arenas[a], {}).address);
    void *address = manager->allocate(planned.bytes, planned.alignment,
                                      {spec.name + " (arena)", "", planned.space});
    arenas[a] = {static_cast<char *>(address), planned.bytes};
  }
  if (plan->scratchBytes > scratchBytes) {
    for (void *&area : scratch)
      settings.manager->free(area);
    scratch.clear();
    scratchBytes = plan->scratchBytes;
  }
  size_t threads = program->isAlone(spec) ? 1 : size_t(settings.team->threads());
  scratch.reserve(threads);
  while (scratch.size() < threads)
    scratch.push_back(scratchBytes > 0 ? settings.manager->allocate(scratchBytes, 64,
                                                                    {spec.name + " (scratch)", ""})
                                       : nullptr);
  copiesBefore.clear();
  copiesAfter.clear();
  for (size_t i = 0; i < spec.values.size(); ++i) {
    if (spec.values[i].kind == ValueSpec::Kind::Constant)
      addresses[i] = program->constants.data() + spec.values[i].offset;
    else if (spec.values[i].kind == ValueSpec::Kind::Temporary)
      addresses[i] = settings.managed || spec.values[i].aliasOf >= 0
                         ? nullptr
                         : arenas[size_t(plan->arenaOf[i])].address + plan->offsets[i];
  }
  placeArguments();
  placeResults();
  for (size_t i = 0; i < addresses.size(); ++i)
    addresses[i] = addresses[size_t(plan->storage[i])];
  call = {addresses.data(),
          counters,
          scratch.data(),
          plan->symbols.data(),
          &callTable(),
          settings.managed || settings.profile,
          this,
          function.data};
  if (settings.job && settings.job->channel())
    describeToOthers();
  ready = true;
}

/// True if the program can use the tensor without a copy.
static bool fitsInPlace(const RuntimeTensor &tensor, const Layout &wanted) {
  if (reinterpret_cast<uintptr_t>(tensor.address()) % uint64_t(wanted.alignment))
    return false;
  const Layout &given = tensor.layout();
  return given.factors == wanted.factors && given.swizzle == wanted.swizzle &&
         (given.zeroPadded || !wanted.zeroPadded || !wanted.hasPadding(tensor.sizes()));
}

void Call::placeArguments() {
  std::vector<int32_t> resultInPlace(arguments.size(), -1);
  for (auto [argument, result] : spec.donations)
    resultInPlace[size_t(argument)] = result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    Argument &argument = arguments[i];
    size_t value = size_t(spec.arguments[i]);
    const ValueSpec &formal = spec.values[value];
    bool fits = fitsInPlace(*argument.tensor, formal.layout);
    if (int32_t result = resultInPlace[i]; result >= 0) {
      // The program writes here: memory with other readers must not be donated.
      argument.inPlace = argument.donate && fits &&
                         (formal.memory.empty() || formal.memory == argument.tensor->memory());
      for (size_t k = 0; k < arguments.size(); ++k)
        argument.inPlace &= k == i || arguments[k].tensor->address() != argument.tensor->address();
      if (argument.inPlace) {
        results[size_t(result)] = nullptr;
        argument.successor =
            RuntimeTensor::withoutMemory(plan->types[size_t(spec.results[size_t(result)])]);
        argument.takenBy = spec.name;
        addresses[value] = argument.tensor->address();
      } else {
        TensorRef &target = ensureResult(size_t(result));
        copiesBefore.emplace_back(target.get(), argument.tensor.get());
        addresses[value] = target->address();
      }
    } else if (fits) {
      addresses[value] = argument.tensor->address();
    } else {
      argument.converted =
          std::make_shared<RuntimeTensor>(argument.tensor->spec(), formal.layout, managerOf(formal),
                                          AllocationInfo{formal.name, formal.location});
      copiesBefore.emplace_back(argument.converted.get(), argument.tensor.get());
      addresses[value] = argument.converted->address();
    }
  }
}

void Call::placeResults() {
  for (size_t r = 0; r < results.size(); ++r) {
    size_t value = size_t(spec.results[r]);
    bool donated = std::any_of(spec.donations.begin(), spec.donations.end(),
                               [&](auto pair) { return size_t(pair.second) == r; });
    if (donated)
      continue;
    ensureResult(r);
    bool ownsMemory = spec.values[value].kind == ValueSpec::Kind::Result &&
                      plan->storage[value] == int32_t(value) && resultOf[value] == int32_t(r);
    if (ownsMemory)
      addresses[value] = results[r]->address();
    else // the result is an argument, a constant or another result
      copiesAfter.emplace_back(results[r].get(), int32_t(value));
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

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
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].tensor && !arguments[i].tensor->donatedTo.empty())
      throw Error("the argument '" + spec.values[size_t(spec.arguments[i])].name + "' of '" +
                  spec.name + "' was donated to '" + arguments[i].tensor->donatedTo +
                  "', which updated it in place; bind another one");
  if (!ready)
    prepare();
  call.hooks = settings.managed || settings.profile;
  status.store(0, std::memory_order_relaxed);
  currentStep = -1;
  if (ControlChannel *channel = settings.job ? settings.job->channel() : nullptr) {
    aborted.reset();
    AbortCallback callback(*channel, [this](const Failure &failure) { abort(failure); });
    if (agree())
      runOnTeam();
  } else {
    runOnTeam();
  }
  if (call.hooks || !spec.donations.empty() || !copiesAfter.empty() ||
      status.load(std::memory_order_relaxed))
    afterRun();
}

void Call::runOnTeam() {
  for (auto [to, from] : copiesBefore)
    to->copyFrom(*from);
  std::memset(counters, 0, spec.steps.size() * 64);
  auto body = [this](Region &region, int thread) {
    this->region.store(&region, std::memory_order_relaxed);
    if (thread == 0 && settings.job)
      setAbortable(&region);
    if (int32_t code = function.function(&call, thread, region.threads())) {
      if (int32_t none = 0; code != Cancelled)
        status.store(code, std::memory_order_relaxed);
      else // the region was aborted, but no thread has failed
        status.compare_exchange_strong(none, Cancelled, std::memory_order_relaxed);
      region.abort();
    }
    if (thread == 0 && settings.job)
      setAbortable(nullptr);
  };
  if (program->isAlone(spec)) {
    Region one(1);
    body(one, 0);
  } else {
    settings.team->run(body);
  }
  awaitAll();
}

//===----------------------------------------------------------------------===//
// Other ranks
//===----------------------------------------------------------------------===//

/// Throws Error if the entry is not for this rank, or for another number of ranks.
void Call::requireJob() const {
  const MeshSpec &mesh = program->manifest.mesh;
  int ranks = settings.job ? settings.job->ranks() : 1,
      rank = settings.job ? settings.job->rank() : 0;
  if (!mesh.axes.empty() && mesh.ranks() != ranks)
    throw Error("'" + spec.name + "' is for the " + std::to_string(mesh.ranks()) +
                " ranks of the mesh " + mesh.describe() + ", got a job of " +
                std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"));
  if (const RoleSpec *role = program->manifest.roleOf(spec))
    if (std::find(role->ranks.begin(), role->ranks.end(), rank) == role->ranks.end())
      throw Error("'" + spec.name + "' is run by ranks of the role '" + role->name + "', rank " +
                  std::to_string(rank) + " is none of them");
  for (const StepSpec &step : spec.steps)
    if (step.communication && (!settings.job || !settings.job->transport()))
      throw Error("'" + spec.name + "' communicates at '" + step.name + "' (" + step.location +
                  "), but the job has no engine");
}

/// The numbers that the caller supplies, and this rank's coordinates.
SuppliedNumbers Call::suppliedNumbers() const {
  SuppliedNumbers numbers = settings.supplied;
  int rank = settings.job ? settings.job->rank() : 0;
  for (const auto &[symbol, axis] : spec.coordinates)
    numbers[symbol] = program->manifest.mesh.coordinate(rank, axis);
  return numbers;
}

/// The group of a point-to-point message is its two ranks; no other rank takes part.
static void joinPair(Transport::Operation &operation, int32_t self) {
  int64_t &member = operation.source >= 0 ? operation.source : operation.target;
  if (member < 0 || size_t(member) >= operation.group.size())
    return; // verifyCommunication reports it
  int32_t other = operation.group[size_t(member)];
  operation.group = {std::min(self, other), std::max(self, other)};
  member = other > self;
}

/// Evaluates counts and members for the bound sizes. Throws Error that names the step for an
/// invalid number.
void Call::prepareCommunication() {
  operations.clear();
  for (size_t s = 0; s < spec.steps.size(); ++s) {
    const StepSpec &step = spec.steps[s];
    if (!step.communication)
      continue;
    const CommunicationSpec &with = *step.communication;
    CommunicationSpec known = with;
    auto evaluate = [&](Expr &number) {
      auto value = number.evaluate([&](const std::string &name) -> std::optional<int64_t> {
        auto at = std::find(spec.symbols.begin(), spec.symbols.end(), name);
        return plan->symbols[size_t(at - spec.symbols.begin())];
      });
      if (!value)
        throw Error("'" + spec.name + "' can't communicate at '" + step.name + "' (" +
                    step.location + "): " + number.str() + " is too large");
      number = Expr(*value);
      return *value;
    };
    Transport::Operation &operation = operations[int32_t(s)];
    operation.spec = &with;
    operation.group = program->manifest.mesh.group(settings.job->rank(), with.axes);
    for (Expr &count : known.counts)
      operation.counts.push_back(evaluate(count));
    for (Expr &count : known.outputCounts)
      operation.outputCounts.push_back(evaluate(count));
    bool hasParts = with.kind == CommunicationSpec::Kind::ReduceScatter ||
                    with.kind == CommunicationSpec::Kind::AllGather ||
                    with.kind == CommunicationSpec::Kind::AllToAll;
    for (auto *counts : {&operation.counts, &operation.outputCounts})
      if (hasParts && counts->size() == 1) // all parts have the same size
        counts->resize(operation.group.size(), counts->front());
    operation.source = evaluate(known.source);
    operation.target = evaluate(known.target);
    if (with.kind == CommunicationSpec::Kind::Send || with.kind == CommunicationSpec::Kind::Receive)
      joinPair(operation, settings.job->rank());
    std::vector<std::optional<int64_t>> bytes;
    for (int32_t value : step.values)
      bytes.push_back(plan->types[size_t(value)]->bytes);
    if (std::string message = verifyCommunication(program->manifest.mesh, known, bytes);
        !message.empty())
      throw Error("'" + spec.name + "' can't communicate: its step '" + step.name + "' (" +
                  step.location + ") " + message);
  }
}

/// Whether the symbol occurs in the whole size of a sharded argument.
static bool isWholeSize(const EntrySpec &entry, const std::string &symbol) {
  for (int32_t argument : entry.arguments)
    for (const auto &[name, size] : entry.values[size_t(argument)].wholeDims)
      if (std::ranges::count(size.names(), symbol))
        return true;
  return false;
}

/// Collects the values that must be equal on all ranks: all sizes, but not other numbers that a
/// rank supplies, such as its coordinates. A role may bind fewer sizes than another.
void Call::describeToOthers() {
  agreement = {{"entry", "'" + spec.name + "'"},
               {"CPU that the program is for", "'" + program->manifest.cpu + "'"},
               {"program with the checksum", program->hash()}};
  for (size_t i = 0; i < spec.symbols.size(); ++i)
    if (const std::string &symbol = spec.symbols[i];
        !spec.isSupplied(symbol) || isWholeSize(spec, symbol))
      agreement.emplace_back("size '" + symbol + "' =", std::to_string(plan->symbols[i]));
}

/// Compares this call with those of the other ranks; false if the job has failed.
bool Call::agree() {
  try {
    settings.job->channel()->agree(agreement);
    return true;
  } catch (const JobError &error) {
    abort(error.failure);
    return false;
  }
}

/// Ends the run because a rank has failed. Thread-safe.
void Call::abort(const Failure &failure) {
  std::lock_guard lock(abortMutex);
  // The channel also reports this rank's own failure, which is recorded already.
  int32_t none = 0;
  if (!status.compare_exchange_strong(none, Aborted, std::memory_order_acq_rel))
    return;
  aborted = failure;
  if (abortable)
    abortable->abort();
}

/// Sets the region that thread 0 is in; null after it has left, since the team may run another
/// call.
void Call::setAbortable(Region *region) {
  std::lock_guard lock(abortMutex);
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
void Call::throwAborted() {
  Failure failure = *std::exchange(aborted, std::nullopt);
  std::string what = failure.describe(), place;
  if (failure.step.empty() && currentStep >= 0 && size_t(currentStep) < spec.steps.size()) {
    failure.step = spec.steps[size_t(currentStep)].name;
    failure.location = spec.steps[size_t(currentStep)].location;
    place = placeOf(failure.step, failure.location);
  }
  throw ExecutionError("'" + spec.name + "' was ended" + place + ": " + what, spec.name,
                       failure.step, failure.location, failure.member.rank);
}

void Call::afterRun() {
  if (settings.managed)
    freeTemporaries();
  // Donated arguments become unusable whether the program succeeded or not.
  for (Argument &argument : arguments)
    if (argument.inPlace)
      argument.tensor->donatedTo.swap(argument.takenBy);
  try {
    if (settings.profile)
      settings.profile->add(spec, times, program->isAlone(spec) ? 1 : settings.team->threads());
  } catch (const std::bad_alloc &) { // keep the results, without a profile
  }
  times.clear();
  if (int32_t code = status.load(std::memory_order_relaxed)) {
    ready = false;
    ControlChannel *channel = settings.job ? settings.job->channel() : nullptr;
    bool communicated = currentStep >= 0 && size_t(currentStep) < spec.steps.size() &&
                        spec.steps[size_t(currentStep)].communication;
    // An engine may notice that a rank has gone before the channel reports the cause.
    if (channel && !aborted)
      aborted = channel->failure(std::chrono::seconds(communicated ? 2 : 0));
    if (aborted)
      throwAborted();
    std::string step, location;
    if (currentStep >= 0 && size_t(currentStep) < spec.steps.size()) {
      step = spec.steps[size_t(currentStep)].name;
      location = spec.steps[size_t(currentStep)].location;
    }
    if (code == Cancelled)
      note("the process was forked in one of its steps, whose other threads are in the parent");
    std::string reason = failure.empty() ? "status " + std::to_string(code) : failure;
    failure.clear();
    if (channel)
      channel->fail(reason, spec.name, step, location);
    std::string where =
        placeOf(step, location) + (channel ? " on rank " + std::to_string(channel->rank()) : "");
    throw ExecutionError("'" + spec.name + "' failed" + where + ": " + reason, spec.name, step,
                         location, channel ? channel->rank() : -1);
  }
  for (auto [to, value] : copiesAfter)
    std::memcpy(to->address(), addresses[size_t(value)], size_t(to->bytes()));
  // A new handle takes over the memory.
  for (auto [argument, result] : spec.donations)
    if (Argument &given = arguments[size_t(argument)]; given.inPlace) {
      given.successor->takeOver(*given.tensor);
      results[size_t(result)] = std::move(given.successor);
      given.inPlace = false;
      ready = false;
    }
}

void Call::freeTemporaries() {
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (spec.values[i].kind != ValueSpec::Kind::Temporary)
      continue;
    void *address = std::exchange(addresses[i], nullptr);
    if (plan->storage[i] == int32_t(i))
      managerOf(spec.values[i].space)->free(address);
  }
}

TensorRef Call::result(size_t result) const {
  if (result >= results.size())
    throw Error("'" + spec.name + "' has " + std::to_string(results.size()) +
                " results, there is none at position " + std::to_string(result));
  if (!results[result])
    throw Error("'" + spec.name + "' has not run yet: it has no result '" +
                spec.values[size_t(spec.results[result])].name + "'");
  return results[result];
}

TensorRef Call::result(std::string_view name) const {
  return result(spec.positionOf(name, spec.results));
}

std::vector<TensorRef> Call::takeResults() {
  for (size_t r = 0; r < results.size(); ++r)
    result(r);
  std::vector<TensorRef> taken(results.size());
  takeResults(taken);
  return taken;
}

void Call::takeResults(std::vector<TensorRef> &into) {
  ready = false;
  results.swap(into);
}
