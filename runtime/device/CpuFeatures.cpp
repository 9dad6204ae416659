//===- CpuFeatures.cpp - features of this CPU -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/device/CpuFeatures.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

using namespace heddle;

#if defined(__x86_64__)
// __builtin_cpu_supports needs a literal.
// clang-format off: its result is not stable here.
#define FEATURES(F) \
  F("sse3") F("ssse3") F("sse4.1") F("sse4.2") F("sse4a") F("popcnt") F("aes") F("pclmul") \
  F("avx") F("avx2") F("fma") F("fma4") F("xop") F("f16c") F("bmi") F("bmi2") F("lzcnt") \
  F("movbe") F("adx") F("gfni") F("vaes") F("vpclmulqdq") F("avxvnni") F("avx512f") \
  F("avx512cd") F("avx512bw") F("avx512dq") F("avx512vl") F("avx512ifma") F("avx512vbmi") \
  F("avx512vbmi2") F("avx512vnni") F("avx512bitalg") F("avx512vpopcntdq") F("avx512bf16") \
  F("avx512fp16") F("avx512vp2intersect") F("amx-tile") F("amx-int8") F("amx-bf16")
// clang-format on

/// The feature that all CPUs with this one have, and that LLVM enables along with it; empty: none.
static std::string_view needed(std::string_view feature) {
  if (feature.starts_with("avx512"))
    return feature == "avx512f" ? "avx2" : "avx512f";
  for (std::string_view of256 : {"vaes", "vpclmulqdq", "avxvnni"})
    if (feature == of256)
      return "avx2";
  for (std::string_view ofAvx : {"avx2", "fma", "fma4", "xop", "f16c"})
    if (feature == ofAvx)
      return "avx";
  return "";
}

static bool isHidden(std::string_view feature) {
  const char *given = std::getenv("HEDDLE_CPU_WITHOUT");
  for (std::string_view rest = given ? given : ""; !rest.empty();) {
    std::string_view prefix = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), prefix.size() + 1));
    if (!prefix.empty() && feature.starts_with(prefix))
      return true;
  }
  return !needed(feature).empty() && isHidden(needed(feature));
}

static bool isMissing(std::string_view feature) {
#define CHECK(NAME)                                                                                \
  if (feature == NAME)                                                                             \
    return !__builtin_cpu_supports(NAME) || isHidden(NAME);
  FEATURES(CHECK)
  return false;
}

std::vector<std::string> heddle::cpuFeatures() {
#define LIST(NAME) NAME,
  std::vector<std::string> present = {FEATURES(LIST)};
  __builtin_cpu_init();
  std::erase_if(present, isMissing);
  return present;
}

std::vector<std::string> heddle::missingCpuFeatures(const std::vector<std::string> &needed) {
  __builtin_cpu_init();
  std::vector<std::string> missing;
  for (const std::string &feature : needed)
    if (isMissing(feature))
      missing.push_back(feature);
  return missing;
}
#else
std::vector<std::string> heddle::missingCpuFeatures(const std::vector<std::string> &) { return {}; }
std::vector<std::string> heddle::cpuFeatures() { return {}; }
#endif

bool heddle::hidesCpuFeatures() { return std::getenv("HEDDLE_CPU_WITHOUT"); }

int64_t heddle::cacheBytes(int level, int64_t otherwise) {
  for (int index = 0;; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    int found = 0;
    std::string type, unit;
    int64_t size = 0;
    if (!(std::ifstream(folder + "level") >> found))
      return otherwise;
    std::ifstream(folder + "type") >> type;
    if (found != level || type == "Instruction")
      continue;
    if (std::ifstream(folder + "size") >> size >> unit && size > 0)
      return size * (unit == "M" ? 1 << 20 : unit == "K" ? 1 << 10 : 1);
  }
}
