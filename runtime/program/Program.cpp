//===- Program.cpp - loading and running compiled programs ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/Program.h"

#include "heddle/Error.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace heddle;

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

/// What one call needs; kept between calls of the same entry.
struct Program::Context {
  const EntrySpec *entry = nullptr;
  std::shared_ptr<MemoryManager> manager;
  int threads = 0;
  char *arena = nullptr;
  std::vector<void *> addresses, scratch;
  int64_t *counters = nullptr;
  HeddleCall call{};
  bool managed = false;
  HeddleEntry function = nullptr;
  std::vector<int32_t> statuses;

  ~Context() {
    if (!manager)
      return;
    manager->free(arena);
    for (void *area : scratch)
      manager->free(area);
    std::free(counters);
  }

  void freeManaged() {
    for (size_t i = 0; i < entry->values.size(); ++i)
      if (entry->values[i].kind == ValueSpec::Kind::Temporary && entry->values[i].aliasOf < 0 &&
          addresses[i]) {
        manager->free(addresses[i]);
        addresses[i] = nullptr;
      }
  }
};

static int32_t root(const EntrySpec &entry, int32_t value) {
  while (entry.values[size_t(value)].aliasOf >= 0)
    value = entry.values[size_t(value)].aliasOf;
  return value;
}

static int64_t constantBytes(const ValueSpec &value) {
  auto bytes = value.bytes.constant();
  if (!bytes)
    throw Error("the size of '" + value.name + "' is not a number: " + value.bytes.str());
  return *bytes;
}

namespace {
/// The runtime's side of a call, reached from compiled code through HeddleCall::runtime.
struct Hooks {
  std::atomic<Region *> region;
  std::function<int32_t(int32_t)> step;
};
} // namespace

static int32_t heddleBarrier(HeddleCall *call, int32_t thread) {
  return static_cast<Hooks *>(call->runtime)->region.load()->barrier() ? 0 : 2;
}
static int32_t heddleStep(HeddleCall *call, int32_t step) {
  return static_cast<Hooks *>(call->runtime)->step(step);
}

static const HeddleCallTable callTable = {heddleBarrier, heddleStep};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
/// Features that the code needs and this CPU lacks.
static std::string missingFeature(const std::vector<std::string> &features) {
  __builtin_cpu_init();
  for (const std::string &feature : features) {
    bool present = true;
    if (feature == "avx2")
      present = __builtin_cpu_supports("avx2");
    else if (feature == "fma")
      present = __builtin_cpu_supports("fma");
    else if (feature == "avx")
      present = __builtin_cpu_supports("avx");
    else if (feature == "avx512f")
      present = __builtin_cpu_supports("avx512f");
    else if (feature == "avx512bw")
      present = __builtin_cpu_supports("avx512bw");
    else if (feature == "avx512vl")
      present = __builtin_cpu_supports("avx512vl");
    else if (feature == "avx512dq")
      present = __builtin_cpu_supports("avx512dq");
    else if (feature == "avx512bf16")
      present = __builtin_cpu_supports("avx512bf16");
    if (!present)
      return feature;
  }
  return "";
}
#else
static std::string missingFeature(const std::vector<std::string> &) { return ""; }
#endif

Program::Program(ProgramImage given) : image(std::move(given)) {
  if (image.manifest.abiVersion != HEDDLE_ABI_VERSION)
    throw Error("the program was compiled for version " +
                std::to_string(image.manifest.abiVersion) + " of the interface, expected version " +
                std::to_string(HEDDLE_ABI_VERSION));
  if (std::string feature = missingFeature(image.manifest.features); !feature.empty())
    throw Error("the program was compiled for the CPU '" + image.manifest.cpu +
                "' and needs the feature '" + feature + "', which this CPU lacks");
  for (const EntrySpec &entry : image.manifest.entries) {
    if (entry.codeOffset < 0 || entry.codeOffset >= int64_t(image.code.size()))
      throw Error("the entry '" + entry.name + "' lies outside of the program's code");
    for (const ValueSpec &value : entry.values)
      if (value.kind == ValueSpec::Kind::Constant &&
          (value.offset < 0 ||
           value.offset + constantBytes(value) > int64_t(image.constants.size())))
        throw Error("the constant '" + value.name + "' lies outside of the program's constants");
  }
  codeBytes = (image.code.size() + 4095) / 4096 * 4096;
  if (codeBytes == 0)
    return;
  void *mapped =
      mmap(nullptr, codeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw Error(std::string("can't map the program's code: ") + std::strerror(errno));
  code = static_cast<char *>(mapped);
  std::memcpy(code, image.code.data(), image.code.size());
  if (mprotect(code, codeBytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(code, codeBytes);
    throw Error(std::string("can't make the program's code executable: ") + std::strerror(errno));
  }
}

Program::~Program() {
  idle.clear();
  if (code)
    munmap(code, codeBytes);
}

std::shared_ptr<Program> Program::load(const std::string &path) {
  return std::make_shared<Program>(ProgramImage::read(path));
}

const EntrySpec &Program::entry(std::string_view name) const {
  if (const EntrySpec *found = image.manifest.find(name))
    return *found;
  std::string known;
  for (const EntrySpec &each : image.manifest.entries)
    known += (known.empty() ? "" : ", ") + each.name;
  throw Error("the program has no entry '" + std::string(name) + "'; it has: " + known);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::unique_ptr<Program::Context> Program::acquire(const EntrySpec &entry,
                                                   const CallOptions &options, int threads) {
  auto manager = options.manager ? options.manager : defaultMemoryManager();
  {
    std::lock_guard lock(mutex);
    for (auto &context : idle)
      if (context->entry == &entry && context->manager == manager && context->threads == threads &&
          context->managed == options.managed) {
        auto found = std::move(context);
        context = std::move(idle.back());
        idle.pop_back();
        return found;
      }
  }
  auto context = std::make_unique<Context>();
  context->entry = &entry;
  context->manager = manager;
  context->threads = threads;
  context->managed = options.managed;
  if (!options.managed && entry.arenaBytes > 0)
    context->arena =
        static_cast<char *>(manager->allocate(entry.arenaBytes, 64, {entry.name + " (arena)", ""}));
  for (int thread = 0; thread < threads; ++thread)
    context->scratch.push_back(
        entry.scratchBytes > 0
            ? manager->allocate(entry.scratchBytes, 64, {entry.name + " (scratch)", ""})
            : nullptr);
  size_t bytes = std::max<size_t>(1, entry.steps.size()) * 64;
  context->counters = static_cast<int64_t *>(std::aligned_alloc(64, bytes));
  context->addresses.assign(entry.values.size(), nullptr);
  context->statuses.assign(size_t(threads), 0);
  for (size_t i = 0; i < entry.values.size(); ++i) {
    const ValueSpec &value = entry.values[i];
    if (value.kind == ValueSpec::Kind::Constant)
      context->addresses[i] = image.constants.data() + value.offset;
    else if (value.kind == ValueSpec::Kind::Temporary && value.aliasOf < 0 && context->arena)
      context->addresses[i] = context->arena + value.offset;
  }
  context->function = reinterpret_cast<HeddleEntry>(code + entry.codeOffset);
  return context;
}

void Program::release(std::unique_ptr<Context> context) {
  std::lock_guard lock(mutex);
  if (idle.size() < 8)
    idle.push_back(std::move(context));
}

std::vector<TensorRef> Program::run(const EntrySpec &entry, std::vector<TensorRef> arguments,
                                    const CallOptions &options, const std::vector<bool> &donate) {
  if (arguments.size() != entry.arguments.size())
    throw Error("'" + entry.name + "' expects " + std::to_string(entry.arguments.size()) +
                " arguments, got " + std::to_string(arguments.size()));
  auto team = options.team ? options.team : sharedThreadTeam();
  auto isDonated = [&](size_t i) { return i < donate.size() && donate[i]; };
  std::vector<bool> taken(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueSpec &formal = entry.values[size_t(entry.arguments[i])];
    if (!arguments[i])
      throw Error("'" + entry.name + "' lacks its argument '" + formal.name + "'");
    if (!arguments[i]->donatedTo.empty())
      throw Error("the argument '" + formal.name + "' of '" + entry.name + "' was given up to '" +
                  arguments[i]->donatedTo + "', which updated it in place");
    if (!(arguments[i]->spec() == formal.type))
      throw Error("the argument '" + formal.name + "' of '" + entry.name + "' should be " +
                  describe(formal.type) + ", got " + describe(arguments[i]->spec()));
  }
  auto context = acquire(entry, options, team->threads());
  std::vector<TensorRef> results(entry.results.size());
  // Arguments whose place a result takes.
  for (auto [argument, result] : entry.donations) {
    size_t a = size_t(argument), r = size_t(result);
    const ValueSpec &formal = entry.values[size_t(entry.arguments[a])];
    if (isDonated(a) && arguments[a]->layout() == formal.layout && arguments[a].use_count() > 0) {
      results[r] = arguments[a];
      taken[a] = true;
    } else {
      results[r] = arguments[a]->inLayout(formal.layout, options.manager);
    }
    context->addresses[size_t(entry.arguments[a])] = results[r]->address();
  }
  std::vector<TensorRef> copies;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueSpec &formal = entry.values[size_t(entry.arguments[i])];
    bool inPlace = std::any_of(entry.donations.begin(), entry.donations.end(),
                               [&](auto pair) { return size_t(pair.first) == i; });
    if (inPlace)
      continue;
    if (arguments[i]->layout() != formal.layout) {
      copies.push_back(arguments[i]->inLayout(formal.layout, options.manager));
      context->addresses[size_t(entry.arguments[i])] = copies.back()->address();
    } else {
      context->addresses[size_t(entry.arguments[i])] = arguments[i]->address();
    }
  }
  for (size_t r = 0; r < results.size(); ++r) {
    const ValueSpec &value = entry.values[size_t(entry.results[r])];
    if (!results[r])
      results[r] = std::make_shared<RuntimeTensor>(value.type, value.layout, options.manager,
                                                   AllocationInfo{value.name, value.location});
    if (value.kind == ValueSpec::Kind::Result)
      context->addresses[size_t(entry.results[r])] = results[r]->address();
  }
  for (size_t i = 0; i < entry.values.size(); ++i)
    if (entry.values[i].aliasOf >= 0)
      context->addresses[i] = context->addresses[size_t(root(entry, int32_t(i)))];

  if (!entry.steps.empty())
    std::memset(context->counters, 0, entry.steps.size() * 64);
  std::string failure;
  auto begin = std::chrono::steady_clock::now();
  Hooks hooks{
      nullptr, [&](int32_t step) -> int32_t {
        auto now = std::chrono::steady_clock::now();
        if (options.stepSeconds && step > 0)
          options.stepSeconds->push_back(std::chrono::duration<double>(now - begin).count());
        if (options.managed) {
          try {
            for (size_t i = 0; i < entry.values.size(); ++i) {
              const ValueSpec &value = entry.values[i];
              if (value.kind != ValueSpec::Kind::Temporary || value.aliasOf >= 0)
                continue;
              // Aliases prolong the life of the value whose place they take.
              int32_t first = value.firstStep, last = value.lastStep;
              for (size_t k = 0; k < entry.values.size(); ++k)
                if (k != i && root(entry, int32_t(k)) == int32_t(i))
                  last = std::max(last, entry.values[k].lastStep);
              if (last < step && context->addresses[i]) {
                context->manager->free(context->addresses[i]);
                context->addresses[i] = nullptr;
              }
              if (first == step)
                context->addresses[i] = context->manager->allocate(
                    constantBytes(value), value.layout.alignment, {value.name, value.location});
            }
            for (size_t i = 0; i < entry.values.size(); ++i)
              if (entry.values[i].aliasOf >= 0)
                context->addresses[i] = context->addresses[size_t(root(entry, int32_t(i)))];
          } catch (const std::exception &error) {
            failure = error.what();
            return 1;
          }
        }
        begin = std::chrono::steady_clock::now();
        return 0;
      }};
  HeddleCall &call = context->call;
  call = {context->addresses.data(),
          context->counters,
          context->scratch.data(),
          nullptr,
          &callTable,
          options.managed || options.stepSeconds,
          &hooks};
  team->run([&](Region &region, int thread) {
    hooks.region = &region;
    context->statuses[size_t(thread)] = context->function(&context->call, thread, region.threads());
    if (context->statuses[size_t(thread)])
      region.abort();
  });
  if (options.managed)
    context->freeManaged();
  for (size_t i = 0; i < arguments.size(); ++i)
    if (taken[i])
      arguments[i]->donatedTo = entry.name;
  for (int32_t status : context->statuses)
    if (status != 0)
      throw Error("'" + entry.name +
                  "' failed: " + (failure.empty() ? "status " + std::to_string(status) : failure));
  // The storage lives on under new handles; the old ones are poisoned.
  for (auto [argument, result] : entry.donations)
    if (taken[size_t(argument)])
      results[size_t(result)] = RuntimeTensor::takeOver(*arguments[size_t(argument)]);
  release(std::move(context));
  return results;
}

std::vector<TensorRef> Program::run(std::string_view name,
                                    const std::map<std::string, TensorRef> &arguments,
                                    const CallOptions &options) {
  const EntrySpec &chosen = entry(name);
  std::vector<TensorRef> ordered;
  for (int32_t index : chosen.arguments) {
    auto found = arguments.find(chosen.values[size_t(index)].name);
    if (found == arguments.end())
      throw Error("'" + chosen.name + "' lacks its argument '" + chosen.values[size_t(index)].name +
                  "'");
    ordered.push_back(found->second);
  }
  for (const auto &[given, tensor] : arguments)
    if (std::none_of(chosen.arguments.begin(), chosen.arguments.end(),
                     [&, &given = given](int32_t index) {
                       return chosen.values[size_t(index)].name == given;
                     }))
      throw Error("'" + chosen.name + "' has no argument '" + given + "'");
  return run(chosen, std::move(ordered), options);
}
