//===- CInterface.cpp - the runtime for C ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/CHandles.h"
#include "runtime/program/SizedEntry.h"

#include <cstdio>
#include <sys/resource.h>

using namespace heddle;
using namespace heddle::detail;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static thread_local std::string lastError;
/// Replaces `lastError` unless it is empty: out of memory, no message can be allocated either.
static thread_local char outOfMemory[160] = "";

void heddle::detail::rememberOutOfMemory(const char *function) noexcept {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  snprintf(outOfMemory, sizeof outOfMemory,
           "out of memory in '%s', in a process that holds up to %ld KiB", function,
           usage.ru_maxrss);
}

void heddle::detail::remember(const char *message, const char *function) noexcept {
  try {
    lastError = message;
    outOfMemory[0] = 0;
  } catch (...) {
    rememberOutOfMemory(function);
  }
}

const char *heddle_last_error(void) { return outOfMemory[0] ? outOfMemory : lastError.c_str(); }

const char *heddle_runtime_version(void) { return HEDDLE_VERSION; }

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static heddle_value describeValue(const ValueSpec &spec) {
  heddle_value value{spec.name, spec.layout.str(), heddle_element(spec.type.element), {}};
  for (const auto &[name, size] : spec.type.dims)
    value.dims.push_back({name, size.str(), size.constant().value_or(-1)});
  return value;
}

heddle_program *heddle_program_load(const char *path) {
  return made([&] {
    auto handle = std::make_unique<heddle_program>();
    handle->program = Program::load(&required(path, "a path"));
    for (const EntrySpec &spec : handle->program->manifest().entries) {
      heddle_entry &entry = handle->entries.emplace_back();
      entry.spec = &spec;
      for (int32_t index : spec.arguments)
        entry.arguments.push_back(describeValue(spec.values[size_t(index)]));
      for (int32_t index : spec.results)
        entry.results.push_back(describeValue(spec.values[size_t(index)]));
    }
    return handle.release();
  });
}

void heddle_program_free(heddle_program *program) { delete program; }

size_t heddle_program_entry_count(const heddle_program *program) {
  return program ? program->entries.size() : 0;
}

const heddle_entry *heddle_program_entry(const heddle_program *program, size_t index) {
  return made([&] { return at(required(program, "a program").entries, index, "an entry"); });
}

const heddle_entry *heddle_program_find(const heddle_program *program, const char *name) {
  return made([&]() -> const heddle_entry * {
    const EntrySpec &spec =
        required(program, "a program").program->entry(&required(name, "the name of an entry"));
    for (const heddle_entry &entry : program->entries)
      if (entry.spec == &spec)
        return &entry;
    return nullptr;
  });
}

const char *heddle_program_manifest(heddle_program *program) {
  return made([&] {
    heddle_program &handle = required(program, "a program");
    if (handle.manifest.empty())
      handle.manifest = handle.program->manifest().toJson();
    return handle.manifest.c_str();
  });
}

const char *heddle_entry_name(const heddle_entry *entry) {
  return entry ? entry->spec->name.c_str() : "";
}

size_t heddle_entry_argument_count(const heddle_entry *entry) {
  return entry ? entry->arguments.size() : 0;
}

size_t heddle_entry_result_count(const heddle_entry *entry) {
  return entry ? entry->results.size() : 0;
}

const heddle_value *heddle_entry_argument(const heddle_entry *entry, size_t index) {
  return made([&] { return at(required(entry, "an entry").arguments, index, "an argument"); });
}

const heddle_value *heddle_entry_result(const heddle_entry *entry, size_t index) {
  return made([&] { return at(required(entry, "an entry").results, index, "a result"); });
}

const char *heddle_value_name(const heddle_value *value) {
  return value ? value->name.c_str() : "";
}
heddle_element heddle_value_element(const heddle_value *value) {
  return value ? value->element : -1;
}
size_t heddle_value_rank(const heddle_value *value) { return value ? value->dims.size() : 0; }

const char *heddle_value_dim_name(const heddle_value *value, size_t index) {
  return made(
      [&] { return at(required(value, "a value").dims, index, "a dimension")->name.c_str(); });
}

int64_t heddle_value_dim_size(const heddle_value *value, size_t index) {
  int64_t size = -1;
  guarded([&] { size = at(required(value, "a value").dims, index, "a dimension")->size; });
  return size;
}

const char *heddle_value_dim_text(const heddle_value *value, size_t index) {
  return made(
      [&] { return at(required(value, "a value").dims, index, "a dimension")->text.c_str(); });
}

const char *heddle_value_layout(const heddle_value *value) {
  return value ? value->layout.c_str() : "";
}

heddle_status heddle_entry_memory(const heddle_entry *entry, heddle_memory_needs *needs) {
  return guarded([&] {
    EntryMemory memory = memoryOf(*required(entry, "an entry").spec);
    required(needs, "memory for the answer") = {memory.arguments, memory.results, memory.constants,
                                                memory.arena,     memory.live,    memory.scratch};
  });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

heddle_call *heddle_call_create(heddle_program *program, const char *entry,
                                const heddle_call_options *options) {
  return made([&] {
    CallOptions chosen;
    if (options) {
      chosen.team = sharedThreadTeam(options->threads);
      chosen.managed = options->managed != 0;
    }
    Program &loaded = *required(program, "a program").program;
    return new heddle_call{loaded.prepare(&required(entry, "the name of an entry"), chosen)};
  });
}

void heddle_call_free(heddle_call *call) { delete call; }

heddle_status heddle_call_bind(heddle_call *call, const char *argument, heddle_tensor *tensor,
                               int32_t donate) {
  return guarded([&] {
    required(call, "a call")
        .call->bind(std::string_view(&required(argument, "a name")),
                    required(tensor, "a tensor").tensor, donate != 0);
  });
}

heddle_status heddle_call_run(heddle_call *call) {
  return guarded([&] { required(call, "a call").call->run(); });
}

heddle_tensor *heddle_call_result(heddle_call *call, const char *result) {
  return made([&] {
    return new heddle_tensor{
        required(call, "a call").call->result(std::string_view(&required(result, "a name"))), ""};
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
class ForeignManager : public MemoryManager {
public:
  explicit ForeignManager(const heddle_memory_manager &functions) : functions(functions) {}

protected:
  void *obtain(int64_t bytes, int64_t alignment) override {
    return functions.allocate(functions.user, bytes, alignment);
  }
  void release(void *address, int64_t bytes) override {
    functions.release(functions.user, address, bytes);
  }

private:
  heddle_memory_manager functions;
};
} // namespace

heddle_status heddle_set_memory_manager(const heddle_memory_manager *manager) {
  return guarded([&] {
    if (!manager)
      return setDefaultMemoryManager(nullptr);
    if (!manager->allocate || !manager->release)
      throw Error(
          "expected a memory manager with the functions 'allocate' and 'release', got NULL");
    setDefaultMemoryManager(std::make_shared<ForeignManager>(*manager));
  });
}

heddle_status heddle_set_memory_listener(void (*listener)(void *user, const heddle_memory_event *),
                                         void *user) {
  return guarded([&] {
    if (!listener)
      return defaultMemoryManager()->setListener(nullptr);
    defaultMemoryManager()->setListener([=](const MemoryEvent &event) {
      heddle_memory_event seen = {event.kind == MemoryEvent::Kind::Free,
                                  event.address,
                                  event.bytes,
                                  event.alignment,
                                  event.name.c_str(),
                                  event.location.c_str()};
      listener(user, &seen);
    });
  });
}

void heddle_memory_now(heddle_memory_statistics *statistics) {
  guarded([&] {
    MemoryStatistics now = defaultMemoryManager()->statistics();
    required(statistics, "memory for the answer") = {now.live, now.peak, now.reserved,
                                                     now.allocations};
  });
}
