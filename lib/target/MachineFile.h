//===- MachineFile.h - measured facts of a machine --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `heddle-probe` measures a machine and writes a file that $HEDDLE_MACHINE names:
//
//     {
//      "heddle_machine": 1,
//      "cpu": "sapphirerapids",
//      "facts": {
//       "cycles_per_second": 2.9e+09,
//       "l2_cycles_per_byte": 0.021
//      },
//      "measured": {...}
//     }
//
// Facts have the keys of `#nest.machine`: rates (lib/cost/Rates.h) and the sizes of caches.
// "measured" is for people. Facts of a file affect predicted times only; decisions use the defaults
// of the CPU's family, so that programs have the same code on all CPUs of it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_MACHINEFILE_H
#define HEDDLE_LIB_TARGET_MACHINEFILE_H

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

struct MachineFile {
  std::string path; ///< for messages
  std::string text;
  std::string error; ///< why it can't be read

  /// Reads the file that $HEDDLE_MACHINE names; an empty path if the variable is not set.
  static MachineFile ofEnvironment();
};

struct MachineFacts {
  std::vector<std::pair<std::string, double>> values; ///< by key, sorted

  /// The keys that a file may have.
  static bool isKnown(const std::string &key);
};

struct MachineFileError {
  std::string message;
  unsigned line = 1;
};

/// Parses the text of a file. On failure returns none and sets `error`.
std::optional<MachineFacts> parseMachineFile(const std::string &text, MachineFileError &error);

} // namespace heddle

#endif // HEDDLE_LIB_TARGET_MACHINEFILE_H
