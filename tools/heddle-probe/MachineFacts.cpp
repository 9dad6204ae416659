//===- MachineFacts.cpp - what was measured, as facts of a machine --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/heddle-probe/Measure.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>

using namespace heddle;
using namespace heddle::probe;
using Json = nlohmann::ordered_json;

/// Runs of a machine differ in the third digit.
static double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return std::strtod(text, nullptr);
}

std::vector<std::pair<std::string, double>> Measured::facts() const {
  std::vector<std::pair<std::string, double>> all;
  auto add = [&](const std::string &key, double value) {
    if (value > 0)
      all.emplace_back(key, value);
  };
  double vectors = flops / (2 * double(vectorBytes) / 4);
  add("cycles_per_second", rounded(clock));
  add("operation_cycles", rounded(clock / vectors));
  add("store_cycles", rounded(clock * double(vectorBytes) / stores));
  for (const Bandwidth &level : loads) {
    double cycles = clock / level.one;
    if (level.level == "l1") {
      add("load_cycles", rounded(cycles * double(vectorBytes)));
      continue;
    }
    add(level.level + "_cycles_per_byte", rounded(cycles));
    add(level.level + "_far_cycles", rounded(clock / level.shortRuns - cycles));
  }
  add("barrier_seconds", rounded(barrier));
  add("l1_bytes", double(caches.l1));
  add("l2_bytes", double(caches.l2));
  add("l3_bytes", double(caches.l3));
  return all;
}

std::string Measured::json(const std::string &cpu) const {
  Json facts = Json::object(), bandwidths = Json::object();
  for (const auto &[key, value] : this->facts())
    if (value == double(int64_t(value)))
      facts[key] = int64_t(value);
    else
      facts[key] = value;
  for (const Bandwidth &level : loads)
    bandwidths[level.level] = {{"one thread", rounded(level.one * 1e-9)},
                               {"all threads", rounded(level.all * 1e-9)}};
  Json all = {
      {"heddle_machine", 1},
      {"cpu", cpu},
      {"facts", facts},
      {"measured",
       {{"threads", threads},
        {"vector bytes", vectorBytes},
        {"GFLOP/s in f32",
         {{"one thread", rounded(flops * 1e-9)}, {"all threads", rounded(flopsOfAll * 1e-9)}}},
        {"GB/s read", bandwidths},
        {"microseconds",
         {{"barrier", rounded(barrier * 1e6)},
          {"start of all threads", rounded(dispatch * 1e6)}}}}}};
  return all.dump(1) + "\n";
}
