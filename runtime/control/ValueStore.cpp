//===- ValueStore.cpp - values that ranks exchange by key -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/control/ValueStore.h"

using namespace heddle;

void ValueStore::put(int rank, BodyReader &body) {
  uint64_t id = body.number();
  std::string key = body.text(), value = body.text();
  uint64_t readers = body.number();
  body.end();
  if (auto found = values.find(key); found == values.end()) {
    size_t added = key.size() + value.size();
    if (bytes + added > mostBytes)
      return reply(rank, id, false,
                   "no room for the value '" + key + "' of " + std::to_string(value.size()) +
                       " bytes: ranks may store " + std::to_string(mostBytes));
    bytes += added;
    values.emplace(key, Value{std::move(value), readers});
  } else if (found->second.text != value) {
    return reply(rank, id, false, "the value '" + key + "' exists already, and differs");
  }
  reply(rank, id, true, "");
  if (auto asked = waiting.extract(key))
    for (auto [reader, request] : asked.mapped())
      answer(reader, request, key);
}

void ValueStore::get(int rank, BodyReader &body) {
  uint64_t id = body.number();
  std::string key = body.text();
  body.end();
  answer(rank, id, key);
}

/// Sends a value to a rank, once it exists. The last reader removes it: otherwise a long job that
/// exchanges values would fill the memory.
void ValueStore::answer(int rank, uint64_t id, const std::string &key) {
  auto found = values.find(key);
  if (found == values.end())
    return void(waiting[key].emplace_back(rank, id));
  Value &value = found->second;
  reply(rank, id, true, value.text);
  if (value.readers == 0 || --value.readers > 0)
    return;
  bytes -= key.size() + value.text.size();
  values.erase(found);
}
