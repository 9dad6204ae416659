//===- CallMemory.cpp - the memory of a call ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/CallMemory.h"

#include "heddle/Error.h"
#include "runtime/memory/FileMemory.h"

#include <cstdlib>
#include <cstring>

using namespace heddle;

CallMemory::CallMemory(const LoadedProgram &program, const EntrySpec &entry,
                       const CallOptions &options)
    : addresses(entry.values.size(), nullptr), program(program), spec(entry), options(options) {
  size_t bytes = std::max<size_t>(1, spec.steps.size()) * 64;
  counters = static_cast<int64_t *>(std::aligned_alloc(64, bytes));
  if (!counters)
    throw Error("out of memory: " + std::to_string(bytes) + " bytes for the steps of '" +
                spec.name + "'");
}

CallMemory::~CallMemory() {
  for (void *area : scratch)
    options.manager->free(area);
  for (size_t a = 0; a < arenas.size(); ++a)
    managerOf(sized->arenas[a].space)->free(arenas[a].address);
  std::free(counters);
}

const std::shared_ptr<MemoryManager> &CallMemory::managerOf(std::string_view space) const {
  return space == hostSpace ? options.manager : program.managers.find(space)->second;
}

const std::shared_ptr<MemoryManager> &CallMemory::managerOf(const ValueSpec &value) const {
  return value.memory == fileMemoryName ? fileMemory() : managerOf(value.space);
}

const ValueSpec *CallMemory::largestIn(int32_t arena) const {
  size_t largest = spec.values.size();
  for (size_t i = 0; i < spec.values.size(); ++i)
    if (spec.values[i].kind == ValueSpec::Kind::Temporary && spec.values[i].aliasOf < 0 &&
        sized->arenaOf[i] == arena &&
        (largest == spec.values.size() || sized->types[i]->bytes > sized->types[largest]->bytes))
      largest = i;
  return &spec.values[largest];
}

void CallMemory::prepare(size_t threads) {
  arenas.resize(sized->arenas.size());
  for (size_t a = 0; a < arenas.size() && !options.managed; ++a) {
    const SizedEntry::Arena &planned = sized->arenas[a];
    if (planned.bytes <= arenas[a].bytes)
      continue;
    auto &manager = managerOf(planned.space);
    manager->free(std::exchange(arenas[a], {}).address);
    const ValueSpec *largest = largestIn(int32_t(a)); // for the message if there is no room
    void *address = manager->allocate(
        planned.bytes, planned.alignment,
        {spec.name + " (arena, with '" + largest->name + "' of " +
             std::to_string(sized->types[size_t(largest - spec.values.data())]->bytes) + " bytes)",
         largest->location, planned.space});
    arenas[a] = {static_cast<char *>(address), planned.bytes};
  }
  if (sized->scratchBytes > scratchBytes && !program.device) { // a device has its own
    for (void *&area : scratch)
      options.manager->free(area);
    scratch.clear();
    scratchBytes = sized->scratchBytes;
  }
  scratch.reserve(threads);
  while (scratch.size() < threads)
    scratch.push_back(scratchBytes > 0 ? options.manager->allocate(scratchBytes, 64,
                                                                   {spec.name + " (scratch)", ""})
                                       : nullptr);
  for (size_t i = 0; i < spec.values.size(); ++i) {
    if (spec.values[i].kind == ValueSpec::Kind::Constant)
      addresses[i] = (spec.values[i].space == hostSpace
                          ? program.constants.data()
                          : program.copiedConstants.find(spec.values[i].space)->second) +
                     spec.values[i].offset;
    else if (spec.values[i].kind == ValueSpec::Kind::Temporary)
      addresses[i] = options.managed || spec.values[i].aliasOf >= 0
                         ? nullptr
                         : arenas[size_t(sized->arenaOf[i])].address + sized->offsets[i];
  }
}

void CallMemory::resolveAliases() {
  for (size_t i = 0; i < addresses.size(); ++i)
    addresses[i] = addresses[size_t(sized->storage[i])];
}

void CallMemory::clearCounters() { std::memset(counters, 0, spec.steps.size() * 64); }

void CallMemory::makeAndFree(int32_t step) {
  const auto &free = sized->freeBefore[size_t(step)], &make = sized->makeBefore[size_t(step)];
  for (int32_t value : free) // values of a branch that was not taken were not allocated
    if (void *address = std::exchange(addresses[size_t(value)], nullptr))
      managerOf(spec.values[size_t(value)].space)->free(address);
  for (int32_t value : make) {
    const ValueSpec &of = spec.values[size_t(value)];
    addresses[size_t(value)] = managerOf(of.space)->allocate(
        sized->types[size_t(value)]->bytes, of.layout.alignment, {of.name, of.location, of.space});
  }
  if (!free.empty() || !make.empty())
    resolveAliases();
}

void CallMemory::freeTemporaries() {
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (spec.values[i].kind != ValueSpec::Kind::Temporary)
      continue;
    void *address = std::exchange(addresses[i], nullptr);
    if (sized->storage[i] == int32_t(i))
      managerOf(spec.values[i].space)->free(address);
  }
}
