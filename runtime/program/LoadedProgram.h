//===- LoadedProgram.h - a program that is ready to run ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a loaded program, which all its calls share. `mutex` guards `sizedEntries` and the
// hash; the rest does not change after loading.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_LOADEDPROGRAM_H
#define HEDDLE_RUNTIME_PROGRAM_LOADEDPROGRAM_H

#include "runtime/base/CodePages.h"
#include "runtime/base/Library.h"
#include "runtime/device/Device.h"
#include "runtime/program/SizedEntry.h"

#include <algorithm>

namespace heddle {

/// Lives as long as the program or any of its calls.
struct LoadedProgram {
  LoadedProgram() = default;
  ~LoadedProgram();
  Manifest manifest;
  Mapping code, constants;
  std::shared_ptr<DeviceProgram> device;       ///< null if the code is this CPU's
  std::vector<DeviceProgram::Entry> functions; ///< by entry
  std::vector<bool> serial;                    ///< by entry: thread 0, or a device, runs all steps
  std::map<std::string, std::shared_ptr<MemoryManager>, std::less<>>
      managers; ///< of memory spaces other than the host's
  std::map<std::string, char *, std::less<>> copiedConstants; ///< their addresses in these spaces
  std::map<const StepSpec *, HeddleLibraryFunction> libraryFunctions;
  /// By entry and values of its symbols.
  ForkMutex mutex;
  std::map<std::pair<const EntrySpec *, std::vector<int64_t>>, std::shared_ptr<const SizedEntry>>
      sizedEntries;

  /// Finds the memory spaces and library functions that the entries use (if `device` is null, on
  /// this CPU), and copies constants there. Values get the names that the spaces have here:
  /// "NAME:1" for "NAME". Throws Error that names a missing one.
  void resolve(Device *device);
  /// `function(entry)` returns its code. The manifest must be set.
  template <typename F>
  void setFunctions(F &&function) {
    for (const EntrySpec &entry : manifest.entries) {
      functions.push_back(function(entry));
      serial.push_back(device ||
                       std::none_of(entry.steps.begin(), entry.steps.end(),
                                    [](const StepSpec &step) { return step.isShared(); }));
    }
  }

  /// Equal for equal programs, in any process; computed on first use.
  const std::string &hash();

  std::shared_ptr<const SizedEntry> sizedFor(const EntrySpec &entry,
                                             const std::vector<int64_t> &symbols);
  DeviceProgram::Entry functionOf(const EntrySpec &entry) const {
    return functions[indexOf(entry)];
  }
  bool isSerial(const EntrySpec &entry) const { return serial[indexOf(entry)]; }

private:
  void copyConstants(const EntrySpec &entry);
  std::string hashText;                            ///< guarded by `mutex`
  std::vector<std::unique_ptr<Library>> libraries; ///< open during the program's lifetime
  size_t indexOf(const EntrySpec &entry) const { return size_t(&entry - manifest.entries.data()); }
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_LOADEDPROGRAM_H
