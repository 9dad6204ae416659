//===- ValueStore.h - values that ranks exchange by key ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that ranks `put` and `get` by key, at the server. A `get` of a value that does not
// exist yet is answered by the `put` that stores it:
//
//     rank 1: get "address"              rank 1 waits
//     rank 0: put "address", 1 reader    both are answered; the value is removed
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_VALUESTORE_H
#define HEDDLE_RUNTIME_CONTROL_VALUESTORE_H

#include "runtime/control/Frame.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

class ValueStore {
public:
  /// Answers a request, whose number is `id`.
  using Reply = std::function<void(int rank, uint64_t id, bool succeeded, std::string_view text)>;

  /// Keys and values take at most `mostBytes`.
  ValueStore(size_t mostBytes, Reply reply) : mostBytes(mostBytes), reply(std::move(reply)) {}

  void put(int rank, BodyReader &body);
  void get(int rank, BodyReader &body);

private:
  struct Value {
    std::string text;
    uint64_t readers; ///< reads until it is removed; 0: never
  };

  size_t mostBytes, bytes = 0;
  Reply reply;
  std::map<std::string, Value> values;
  std::map<std::string, std::vector<std::pair<int, uint64_t>>> waiting; ///< (rank, request) by key

  void answer(int rank, uint64_t id, const std::string &key);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_VALUESTORE_H
