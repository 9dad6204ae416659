//===- Profile.cpp - the time of each step --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "lib/profile/Profile.h"

#include "lib/profile/ArenaPicture.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

using namespace heddle;

/// The number of threads that work on a step.
static double sharers(const StepSpec &step, int threads) {
  if (!step.isShared())
    return 1;
  return double(step.chunksAt >= 0 ? threads : std::min<int64_t>(threads, step.chunks));
}

std::string Profile::Step::estimate() const {
  if (predicted <= 0)
    return "";
  std::string text = formatted("predicted %.3g ms", predicted * 1e3) +
                     (isTypical ? " for typical sizes" : "") + " (" + limit + ")";
  return seconds > 0 ? text + formatted(", %.3g %% of its roofline", 100 * bound / seconds) : text;
}

void Profile::add(const EntrySpec &entry, const std::vector<Begin> &times, int threads) {
  std::lock_guard lock(mutex);
  auto caller = std::find(callers.begin(), callers.end(), std::this_thread::get_id());
  int lane = int(caller - callers.begin());
  if (caller == callers.end())
    callers.push_back(std::this_thread::get_id());
  auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  std::map<int32_t, Clock::time_point> begun; // transfers that are not awaited yet
  for (size_t i = 0; i + 1 < times.size(); ++i) {
    auto [s, begin] = times[i];
    Clock::time_point end = times[i + 1].second;
    const StepSpec &step = entry.steps[size_t(s)];
    recorded.push_back({entry.name, step.name, step.location, seconds(begin - start),
                        seconds(end - begin), step.flops, step.bytesMoved, lane, s,
                        step.predicted / sharers(step, threads),
                        step.bound / sharers(step, threads), entry.isTypical(step), step.limit});
    const StepSpec *moves = &step;
    if (step.kind == StepKind::Start) {
      begun[s] = begin;
      continue;
    }
    if (step.kind == StepKind::Await) {
      auto found = begun.find(step.awaits);
      if (found == begun.end())
        continue;
      begin = found->second;
      moves = &entry.steps[size_t(step.awaits)];
      begun.erase(found);
    }
    if (moves->communication)
      moved.push_back({entry.name, moves->name, moves->location, seconds(begin - start),
                       seconds(end - begin), 0, moves->bytesMoved, lane, s, 0, 0, false, ""});
  }
}

std::vector<Profile::Transfer> Profile::transfers() const {
  std::lock_guard lock(mutex);
  return moved;
}

std::vector<Profile::Step> Profile::steps() const {
  std::lock_guard lock(mutex);
  return recorded;
}

using Json = nlohmann::json;

/// The rows of transfers follow those of steps.
static constexpr int firstTransferRow = 1000;

static Json eventOf(const Profile::Step &step, int process, int row) {
  Json about = {{"location", step.location},
                {"GFLOP/s", step.seconds > 0 ? step.flops / step.seconds * 1e-9 : 0.0},
                {"GB/s", step.seconds > 0 ? step.bytes / step.seconds * 1e-9 : 0.0}};
  if (step.predicted > 0) {
    about["predicted us"] = step.predicted * 1e6;
    about["% of roofline"] = step.seconds > 0 ? 100 * step.bound / step.seconds : 0.0;
    about["limit"] = step.limit;
    if (step.isTypical)
      about["predicted for"] = "typical sizes";
  }
  return {{"name", step.name},         {"cat", step.entry}, {"ph", "X"},  {"ts", step.begin * 1e6},
          {"dur", step.seconds * 1e6}, {"pid", process},    {"tid", row}, {"args", about}};
}

static Json eventsOf(const std::vector<Profile::Step> &steps,
                     const std::vector<Profile::Transfer> &transfers, int process, double shift) {
  Json events = Json::array();
  auto add = [&](Profile::Step step, int row) {
    step.begin += shift;
    events.push_back(eventOf(step, process, row));
  };
  for (const Profile::Step &step : steps)
    add(step, step.lane);
  for (const Profile::Transfer &transfer : transfers)
    add(transfer, firstTransferRow + transfer.lane);
  return events;
}

/// Metadata: the name of a process, or of one of its rows.
static Json nameOf(const char *what, int process, int row, const std::string &name) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", row}, {"args", {{"name", name}}}};
}

static std::string traceOf(const Json &events) {
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump(
      1, ' ', false, Json::error_handler_t::replace);
}

std::string Profile::chromeTrace() const {
  return traceOf(eventsOf(steps(), transfers(), /*process=*/1, 0));
}

std::string Profile::chromeEvents(int rank, Clock::time_point origin) const {
  double shift = std::chrono::duration<double>(start - origin).count();
  return eventsOf(steps(), transfers(), rank, shift)
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Profile::joinTraces(const std::vector<std::string> &texts) {
  std::vector<Json> lists;
  double first = INFINITY;
  for (const std::string &text : texts) {
    lists.push_back(Json::parse(text));
    for (const Json &event : lists.back())
      first = std::min(first, event.at("ts").get<double>());
  }
  Json all = Json::array();
  for (size_t rank = 0; rank < lists.size(); ++rank) {
    int process = int(rank);
    all.push_back(nameOf("process_name", process, 0, "rank " + std::to_string(rank)));
    std::map<int, bool> rows;
    for (Json &event : lists[rank]) {
      event["ts"] = event["ts"].get<double>() - first;
      rows[event["tid"]] = true;
      all.push_back(std::move(event));
    }
    for (auto [row, used] : rows)
      all.push_back(
          nameOf("thread_name", process, row, row < firstTransferRow ? "steps" : "transfers"));
  }
  return traceOf(all);
}

/// The sum of numbers, if all are the median.
static double usualSum(std::vector<double> &numbers) {
  auto middle = numbers.begin() + long(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle * double(numbers.size());
}

std::vector<Profile::Row> Profile::rows() const {
  std::map<std::pair<std::string, std::string>, Row> sums;
  std::map<std::pair<std::string, int32_t>, std::pair<Row *, std::vector<double>>> times;
  for (const Step &step : steps()) {
    Row &row = sums[{step.name, step.location}];
    auto &[of, seconds] = times[{step.entry, step.index}];
    of = &row;
    seconds.push_back(step.seconds);
    if (++row.runs == 1) {
      row.sum = step;
      continue;
    }
    bool isKnown = row.sum.predicted > 0 && step.predicted > 0;
    row.sum.predicted = isKnown ? row.sum.predicted + step.predicted : 0;
    row.sum.bound = isKnown ? row.sum.bound + step.bound : 0;
    row.sum.isTypical |= step.isTypical;
    row.sum.seconds += step.seconds;
    row.sum.flops += step.flops;
    row.sum.bytes += step.bytes;
  }
  for (auto &[key, each] : times)
    each.first->usual += usualSum(each.second);
  std::vector<Row> rows;
  for (auto &[key, row] : sums)
    rows.push_back(std::move(row));
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return a.sum.seconds != b.sum.seconds ? a.sum.seconds > b.sum.seconds : a.sum.name < b.sum.name;
  });
  return rows;
}

std::string Profile::summary() const {
  std::vector<Row> rows = this->rows();
  double total = 0;
  for (const Row &row : rows)
    total += row.sum.seconds;
  std::string text = "   seconds      %   calls  GFLOP/s     GB/s   predicted  roofline  step\n";
  for (const auto &[step, calls, usual] : rows) {
    double per = step.seconds > 0 ? 1e-9 / step.seconds : 0;
    bool isKnown = step.predicted > 0 && step.seconds > 0;
    std::string predicted =
        isKnown ? (step.isTypical ? "~" : "") + formatted("%.6f", step.predicted) : "-";
    std::string part = isKnown ? formatted("%.0f %%", 100 * step.bound / step.seconds) : "-";
    text += formatted("%10.6f %6.2f %7d %8.1f %8.1f %11s %9s  ", step.seconds,
                      total > 0 ? 100 * step.seconds / total : 0, calls, step.flops * per,
                      step.bytes * per, predicted.c_str(), part.c_str()) +
            step.name + (step.location.empty() ? "" : "  " + step.location) + "\n";
  }
  return text;
}
