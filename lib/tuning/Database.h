//===- Database.h - measured times of nests on disk -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of SQLite with the times of nests that were measured, by the text of the nest and by what
// else its time depends on. It knows no IR: texts are those of kernels
// (lib/conversion/nest_to_steps/OutlineKernels.h), which are the same for all spellings of names.
//
//     Database times("times.sqlite", warn);
//     times.store({text, machine, version, 1}, {2.5e-6, 100, 0.02});
//     times.find({text, machine, version, 1})->seconds       2.5e-6
//
// Processes and threads may share a file, each with a Database of its own. A file that is damaged
// or of another version is renamed to FILE.old, and made anew. A file that can't be written is only
// read. Each warns once, and nothing fails.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TUNING_DATABASE_H
#define HEDDLE_LIB_TUNING_DATABASE_H

#include <functional>
#include <optional>
#include <string>

struct sqlite3;

namespace heddle::tuning {

/// Two nests with equal keys take the same time.
struct Key {
  std::string nest;    ///< its text, with layouts and schedule, under canonical names
  std::string machine; ///< the facts of the machine
  std::string version; ///< of the compiler, and of the way in which times are measured
  int threads = 1;
};

struct Measurement {
  double seconds = 0; ///< the median
  int samples = 0;
  double spread = 0; ///< the distance of the quartiles, divided by the median
};

class Database {
public:
  using Warn = std::function<void(const std::string &)>;

  /// Makes the file if there is none.
  Database(std::string path, Warn warn);
  ~Database();
  Database(const Database &) = delete;
  Database &operator=(const Database &) = delete;

  std::optional<Measurement> find(const Key &key);
  /// Replaces an earlier measurement.
  void store(const Key &key, const Measurement &measurement);

private:
  std::string path;
  Warn warn;
  sqlite3 *handle = nullptr; ///< null: the file can't be opened
  bool hasWarned = false;

  enum class State { Good, Damaged, OtherVersion, Unusable };
  State open();
  State check();
  std::optional<State> stateOfFile();
  static State stateAfter(int status);
  void close();
  bool run(const char *statements);
  void setAside(State state);
  void warnOnce(const std::string &what);
};

} // namespace heddle::tuning

#endif // HEDDLE_LIB_TUNING_DATABASE_H
