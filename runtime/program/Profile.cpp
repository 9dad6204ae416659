//===- Profile.cpp - the time of each step --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Profile.h"

#include "runtime/program/Manifest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

using namespace heddle;

void Profile::add(const EntrySpec &entry, const std::vector<Begin> &times) {
  std::lock_guard lock(mutex);
  auto caller = std::find(callers.begin(), callers.end(), std::this_thread::get_id());
  int lane = int(caller - callers.begin());
  if (caller == callers.end())
    callers.push_back(std::this_thread::get_id());
  auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  for (size_t i = 0; i + 1 < times.size(); ++i) {
    auto [s, begin] = times[i];
    const StepSpec &step = entry.steps[size_t(s)];
    recorded.push_back({entry.name, step.name, step.location, seconds(begin - start),
                        seconds(times[i + 1].second - begin), step.flops, step.bytesMoved, lane});
  }
}

std::vector<Profile::Step> Profile::steps() const {
  std::lock_guard lock(mutex);
  return recorded;
}

std::string Profile::chromeTrace() const {
  using Json = nlohmann::json;
  Json events = Json::array();
  for (const Step &step : steps())
    events.push_back({{"name", step.name},
                      {"cat", step.entry},
                      {"ph", "X"},
                      {"ts", step.begin * 1e6},
                      {"dur", step.seconds * 1e6},
                      {"pid", 1},
                      {"tid", step.lane},
                      {"args",
                       {{"location", step.location},
                        {"GFLOP/s", step.seconds > 0 ? step.flops / step.seconds * 1e-9 : 0.0},
                        {"GB/s", step.seconds > 0 ? step.bytes / step.seconds * 1e-9 : 0.0}}}});
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump(
      1, ' ', false, Json::error_handler_t::replace);
}

std::string Profile::summary() const {
  std::map<std::pair<std::string, std::string>, std::pair<Step, int>> sums;
  double total = 0;
  for (const Step &step : steps()) {
    auto &[sum, calls] = sums[{step.name, step.location}];
    sum.name = step.name;
    sum.location = step.location;
    sum.seconds += step.seconds;
    sum.flops += step.flops;
    sum.bytes += step.bytes;
    ++calls;
    total += step.seconds;
  }
  std::vector<std::pair<Step, int>> rows;
  for (auto &[key, row] : sums)
    rows.push_back(std::move(row));
  std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    return a.first.seconds != b.first.seconds ? a.first.seconds > b.first.seconds
                                              : a.first.name < b.first.name;
  });
  std::string text = "   seconds      %   calls  GFLOP/s     GB/s  step\n";
  for (const auto &[step, calls] : rows) {
    char line[128];
    double per = step.seconds > 0 ? 1e-9 / step.seconds : 0;
    std::snprintf(line, sizeof line, "%10.6f %6.2f %7d %8.1f %8.1f  ", step.seconds,
                  total > 0 ? 100 * step.seconds / total : 0, calls, step.flops * per,
                  step.bytes * per);
    text += line + step.name + (step.location.empty() ? "" : "  " + step.location) + "\n";
  }
  return text;
}
