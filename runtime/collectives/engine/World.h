//===- World.h - how ranks find each other ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_ENGINE_WORLD_H
#define HEDDLE_RUNTIME_COLLECTIVES_ENGINE_WORLD_H

#include "runtime/base/Rendezvous.h"
#include "runtime/collectives/Collectives.h"

#include <chrono>
#include <concepts>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::collectives {

/// The failure of a function of the table. Engines throw it; the table returns its status.
struct Failure {
  int32_t status;
  std::string text;

  /// `parts`: strings and numbers, which are concatenated.
  template <typename... Parts>
  Failure(int32_t status, const Parts &...parts) : status(status) {
    (append(parts), ...);
  }

private:
  void append(std::string_view part) { text += part; }
  void append(std::integral auto number) { text += std::to_string(number); }
};

inline thread_local std::string lastMessage;

/// Runs a function of the table; a Failure becomes the status and the thread's last message.
template <typename Action>
int32_t guarded(Action &&action) noexcept {
  try {
    action();
    return HEDDLE_OK;
  } catch (const Failure &failure) {
    lastMessage = failure.text;
    return failure.status;
  } catch (const std::exception &error) {
    lastMessage = error.what();
    return HEDDLE_FAILED;
  }
}

using Clock = std::chrono::steady_clock;

/// "5", "0.25": the shortest text for a number of seconds.
std::string seconds(double value);

/// HeddleWorld, parsed.
class World {
public:
  /// Throws Failure if the arguments are invalid.
  explicit World(const HeddleWorld &given);
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  int32_t rank, size;
  double timeout = 300; ///< in seconds

  /// The value of an option, "" if it was not given.
  std::string option(const std::string &name);
  /// Throws Failure for options that `option` was never called for.
  void refuseOtherOptions() const;
  /// A number that is not negative. Throws Failure.
  double number(const std::string &name, double otherwise);

  /// All-gathers `mine`, in the order of ranks. Throws Failure, also after `timeout`.
  template <typename T>
  std::vector<T> exchange(const T &mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(size_t(size), mine);
    exchange(&mine, sizeof(T), all.data());
    return all;
  }

private:
  const HeddleWorld &given;
  std::map<std::string, std::string> options;
  std::map<std::string, bool> known;
  int rounds = 0;
  Rendezvous meeting; ///< by files

  void exchange(const void *mine, int64_t bytes, void *all);
  void exchangeFiles(const void *mine, int64_t bytes, char *all);
  std::string file(int32_t rank) const;
};

} // namespace heddle::collectives

#endif // HEDDLE_RUNTIME_COLLECTIVES_ENGINE_WORLD_H
