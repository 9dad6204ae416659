//===- Database.cpp - measured times of nests on disk ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/tuning/Database.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <cmath>
#include <sqlite3.h>

using namespace heddle::tuning;

/// Other processes store one measurement at a time.
static constexpr int mostMillisecondsToWait = 10000;

// The file's header has "Hdle", and the version of the table.
static constexpr const char *makeTable =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS times (key TEXT PRIMARY KEY, nest TEXT NOT NULL,"
    " machine TEXT NOT NULL, version TEXT NOT NULL, threads INTEGER NOT NULL,"
    " seconds REAL NOT NULL, samples INTEGER NOT NULL, spread REAL NOT NULL);"
    "PRAGMA application_id = 1214540901; PRAGMA user_version = 1; COMMIT;";
static constexpr int64_t application = 1214540901, formatVersion = 1;

namespace {
/// A statement and its parameters.
class Statement {
public:
  Statement(sqlite3 *handle, const char *text) {
    status = sqlite3_prepare_v2(handle, text, -1, &statement, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  /// Binds the next parameters.
  Statement &bind(const std::string &text) {
    return note(
        sqlite3_bind_text(statement, ++bound, text.data(), int(text.size()), SQLITE_TRANSIENT));
  }
  Statement &bind(double value) { return note(sqlite3_bind_double(statement, ++bound, value)); }
  Statement &bind(int value) { return note(sqlite3_bind_int(statement, ++bound, value)); }
  Statement &bind(const Key &key) {
    std::string all = key.machine + '\0' + key.version + '\0' + std::to_string(key.threads) + '\0';
    auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(all + key.nest));
    return bind(llvm::toHex(hash, /*LowerCase=*/true))
        .bind(key.nest)
        .bind(key.machine)
        .bind(key.version)
        .bind(key.threads);
  }

  /// True for a row of the result.
  bool step() {
    if (status == SQLITE_OK)
      status = sqlite3_step(statement);
    bool isRow = status == SQLITE_ROW;
    if (isRow)
      status = SQLITE_OK;
    return isRow;
  }
  double real(int column) { return sqlite3_column_double(statement, column); }
  int64_t integer(int column) { return sqlite3_column_int64(statement, column); }
  std::string text(int column) {
    auto *text = reinterpret_cast<const char *>(sqlite3_column_text(statement, column));
    return text ? text : "";
  }
  /// Of the last step; SQLITE_OK, or SQLITE_DONE after the last row.
  int status = SQLITE_OK;

private:
  sqlite3_stmt *statement = nullptr;
  int bound = 0;

  Statement &note(int of) {
    if (status == SQLITE_OK)
      status = of;
    return *this;
  }
};
} // namespace

Database::Database(std::string given, Warn warn) : path(std::move(given)), warn(std::move(warn)) {
  (void)llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
  llvm::sys::fs::UniqueID before, now;
  bool isThere = !llvm::sys::fs::getUniqueID(path, before);
  State state = open();
  if (state != State::Damaged && state != State::OtherVersion)
    return;
  close();
  // Unless another process has just done so.
  if (isThere && !llvm::sys::fs::getUniqueID(path, now) && now == before)
    setAside(state);
  if (open() != State::Good)
    close();
}

Database::~Database() { close(); }

void Database::close() { sqlite3_close(std::exchange(handle, nullptr)); }

bool Database::run(const char *statements) {
  return sqlite3_exec(handle, statements, nullptr, nullptr, nullptr) == SQLITE_OK;
}

Database::State Database::open() {
  constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  int status = sqlite3_open_v2(path.c_str(), &handle, flags, /*zVfs=*/nullptr);
  if (status == SQLITE_OK)
    sqlite3_busy_timeout(handle, mostMillisecondsToWait);
  State state = status == SQLITE_OK ? check() : State::Unusable;
  if (state == State::Unusable) {
    warnOnce("the times of nests can't be kept in '" + path + "': " + sqlite3_errmsg(handle));
    close();
  }
  return state;
}

/// The state of an open file; none: it is empty. Its statements have ended then, and their lock is
/// free: two processes that both read and wait to write would wait forever.
std::optional<Database::State> Database::stateOfFile() {
  Statement whole(handle, "PRAGMA quick_check(1)");
  if (!whole.step())
    return stateAfter(whole.status);
  if (whole.text(0) != "ok")
    return State::Damaged;
  Statement header(handle, "SELECT application_id, user_version, (SELECT count(*) FROM "
                           "sqlite_schema) FROM pragma_application_id, pragma_user_version");
  if (!header.step())
    return stateAfter(header.status);
  if (header.integer(0) == application && header.integer(1) == formatVersion)
    return State::Good;
  return header.integer(2) > 0 ? std::optional(State::OtherVersion) : std::nullopt;
}

Database::State Database::stateAfter(int status) {
  bool isDamage = status == SQLITE_NOTADB || status == SQLITE_CORRUPT;
  return isDamage ? State::Damaged : State::Unusable;
}

/// Checks an open file, and makes the table of an empty one.
Database::State Database::check() {
  if (std::optional<State> state = stateOfFile())
    return *state;
  return run(makeTable) ? State::Good : stateAfter(sqlite3_errcode(handle));
}

void Database::setAside(State state) {
  std::error_code error = llvm::sys::fs::rename(path, path + ".old");
  warnOnce("the times of nests in '" + path + "' are " +
           (state == State::Damaged ? "damaged" : "of another version or program") +
           (error ? ", and can't be renamed: " + error.message()
                  : "; the file is now '" + path + ".old', and times are measured anew"));
}

void Database::warnOnce(const std::string &what) {
  if (!std::exchange(hasWarned, true))
    warn(what);
}

std::optional<Measurement> Database::find(const Key &key) {
  if (!handle)
    return std::nullopt;
  Statement row(handle, "SELECT seconds, samples, spread FROM times WHERE key = ? AND nest = ? AND "
                        "machine = ? AND version = ? AND threads = ?");
  if (!row.bind(key).step()) {
    if (row.status != SQLITE_DONE)
      warnOnce("can't read the times of nests in '" + path + "': " + sqlite3_errmsg(handle));
    return std::nullopt;
  }
  Measurement found{row.real(0), int(row.integer(1)), row.real(2)};
  if (!(found.seconds > 0) || !std::isfinite(found.seconds))
    return std::nullopt;
  return found;
}

void Database::store(const Key &key, const Measurement &measurement) {
  if (!handle)
    return;
  Statement row(handle, "INSERT OR REPLACE INTO times VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  row.bind(key).bind(measurement.seconds).bind(measurement.samples).bind(measurement.spread);
  row.step();
  if (row.status != SQLITE_DONE)
    warnOnce("the times of nests can't be kept in '" + path + "': " + sqlite3_errmsg(handle));
}
