//===- Engines.cpp - finds engines by name --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/base/Library.h"
#include "runtime/collectives/Communicator.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

using namespace heddle;
namespace fs = std::filesystem;

static const std::string prefix = "libheddle_collectives_", suffix = ".so";

/// The folders to search for engines: those of HEDDLE_ENGINES, the folder of this library (or
/// program), and its sibling `lib`.
static std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  const char *given = std::getenv("HEDDLE_ENGINES");
  std::stringstream stream(given ? given : "");
  for (std::string part; std::getline(stream, part, ':');)
    if (!part.empty())
      all.push_back(part);
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&folders), &info) && info.dli_fname) {
    std::error_code error;
    fs::path here = fs::absolute(info.dli_fname, error).parent_path();
    all.push_back(here);
    all.push_back(here.parent_path() / "lib");
  }
  return all;
}

std::vector<std::string> heddle::engineNames() {
  std::set<std::string> names;
  for (const fs::path &folder : folders()) {
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(folder, error)) {
      std::string file = entry.path().filename().string();
      if (file.starts_with(prefix) && file.ends_with(suffix))
        names.insert(file.substr(prefix.size(), file.size() - prefix.size() - suffix.size()));
    }
  }
  return {names.begin(), names.end()};
}

/// The engine's library. Throws Error.
static Library *openLibrary(const std::string &name) {
  std::string file = prefix + name + suffix, reason;
  for (const fs::path &folder : folders())
    if (std::error_code error; fs::exists(folder / file, error)) {
      try {
        return new Library(folder / file);
      } catch (const Error &caught) {
        throw Error(
            "the engine '" + name + "' can't be opened: " + caught.what() +
            (name == "mpi" ? " (Open MPI is missing? Debian's package openmpi-bin has it)" : ""));
      }
    }
  try {
    if (!name.empty() && name.find('/') == std::string::npos)
      return new Library(file);
  } catch (const Error &) { // the message below lists the known engines
  }
  if (name == "mpi")
    throw Error("the engine 'mpi' is not installed: Heddle was built without Open MPI (Debian's "
                "packages libopenmpi-dev and openmpi-bin)");
  std::string known;
  for (const std::string &each : engineNames())
    known += (known.empty() ? "" : ", ") + each;
  throw Error("unknown engine '" + name + "'; known engines are " +
              (known.empty() ? "none" : known) +
              "; the folders of $HEDDLE_ENGINES are searched for " + prefix + "NAME" + suffix +
              " of others");
}

const HeddleCollectives &heddle::openEngine(const std::string &name) {
  static auto &mutex = *new std::mutex;
  static auto &engines = *new std::map<std::string, const HeddleCollectives *>;
  std::lock_guard lock(mutex);
  const HeddleCollectives *&engine = engines[name];
  if (engine)
    return *engine;
  // Never closed: threads of the engine and of libraries below it may run until the process ends.
  static auto &open = *new std::vector<Library *>;
  Library *library = open.emplace_back(openLibrary(name));
  auto *function =
      reinterpret_cast<decltype(&heddle_collectives)>(library->find("heddle_collectives"));
  if (!function)
    throw Error("'" + library->name + "' has no function heddle_collectives");
  const HeddleCollectives *table = function();
  if (!table)
    throw Error("the engine '" + name + "' can't be opened: heddle_collectives of '" +
                library->name + "' gave none");
  if (table->version != HEDDLE_COLLECTIVES_VERSION)
    throw Error("'" + library->name + "' has version " + std::to_string(table->version) +
                " of the interface of engines, expected " +
                std::to_string(HEDDLE_COLLECTIVES_VERSION));
  return *(engine = table);
}
