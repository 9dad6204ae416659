//===- CpuFeatures.h - features of this CPU ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loading refuses a program for another CPU, before an illegal instruction ends the process; the
// message lists the missing instruction sets.
//
// $HEDDLE_CPU_WITHOUT hides instruction sets by prefixes, "avx512,amx", and those that depend on
// them, to emulate another CPU.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_CPUFEATURES_H
#define HEDDLE_RUNTIME_DEVICE_CPUFEATURES_H

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// The instruction sets among `needed` (by LLVM's names) that this CPU or its operating system
/// lacks. A manifest lists all features of its target; features that only tune code, or that this
/// runtime does not know, are ignored.
std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &needed);

/// The instruction sets that this CPU has, among those that this runtime knows.
std::vector<std::string> cpuFeatures();

/// The bytes of a core's data cache of a level (1 to 3), shared ones included, as Linux reports
/// them for the first core; `otherwise`, if it reports none, as on some virtual machines. The C
/// library's answer for L3 is no good there: it may count the caches of cores that the machine does
/// not have.
int64_t cacheBytes(int level, int64_t otherwise);

/// Whether $HEDDLE_CPU_WITHOUT is set.
bool hidesCpuFeatures();

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_CPUFEATURES_H
