//===- MeshPicture.cpp - a plan as a picture ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first part has a row for each operator and a column for each axis of the mesh; a square is
// coloured by the name that the axis splits. The second part has rows of a device: what it
// computes, what its links move, and what its memory holds; and below, if a timeline was measured,
// the same of a rank.
//
//===----------------------------------------------------------------------===//

#include "Drawing.h"
#include "MeshPlanning.h"

#include "llvm/Support/FormatVariadic.h"

#include <nlohmann/json.hpp>

#include <fstream>

using namespace heddle;
using namespace heddle::planner;

static void addSplits(Drawing &drawing, const std::vector<MeshPlanning::Split> &splits,
                      const Topology &topology) {
  for (size_t i = 0; i < topology.axes.size(); ++i)
    drawing.addText(Drawing::left + double(i) * 60, topology.axes[i].name);
  drawing.endRow();
  for (const MeshPlanning::Split &each : splits) {
    drawing.addText(4, each.name);
    for (size_t i = 0; i < each.ofAxes.size(); ++i) {
      const std::string &name = each.ofAxes[i];
      drawing.addBox(Drawing::left + double(i) * 60, 50, drawing.colourOf(name),
                     each.name + (name.empty() ? ": not split by " : ": " + name + " by ") +
                         topology.axes[i].name);
    }
    drawing.endRow();
  }
  drawing.addLegend("split: ");
  drawing.endRow();
}

/// A row for each resource, in the order in which they occur. Steps that are too short to be seen
/// are one with the one before.
static void addTimeline(Drawing &drawing, const std::vector<TimedStep> &steps, double scale,
                        const std::string &what) {
  std::vector<std::string> rows;
  for (const TimedStep &each : steps)
    if (std::find(rows.begin(), rows.end(), each.resource) == rows.end())
      rows.push_back(each.resource);
  for (const std::string &row : rows) {
    drawing.addText(4, what + row);
    std::vector<const TimedStep *> own;
    for (const TimedStep &each : steps)
      if (each.resource == row && each.end > each.begin)
        own.push_back(&each);
    for (size_t i = 0; i < own.size();) {
      int64_t begin = own[i]->begin, end = own[i]->end;
      std::string title = own[i]->label + ", " + milliseconds(own[i]->end - own[i]->begin);
      for (++i; i < own.size() && double(own[i]->end - begin) * scale < 0.5; ++i)
        end = own[i]->end;
      drawing.addBox(Drawing::left + double(begin) * scale,
                     std::max(double(end - begin) * scale - 0.2, 0.2),
                     row == "cores" ? "#484" : "#68a", title);
    }
    drawing.endRow();
  }
}

static void addMemory(Drawing &drawing, const Prediction &predicted, double scale) {
  drawing.addText(4,
                  llvm::formatv("memory, at most {0:f1} MB", double(predicted.mostBytes) * 1e-6));
  double high = 3 * Drawing::row - 2, base = drawing.bottom() + high, last = base;
  std::vector<std::pair<double, double>> points;
  for (auto [time, bytes] : predicted.held) {
    double x = Drawing::left + double(time) * scale;
    points.emplace_back(x, last);
    last = base - high * double(bytes) / double(std::max<int64_t>(predicted.mostBytes, 1));
    points.emplace_back(x, last);
  }
  drawing.addLine(points, "#a40");
  drawing.endRow(3);
}

std::string heddle::pictureOf(const std::vector<MeshPlanning::Split> &splits,
                              const Topology &topology, const Prediction &predicted,
                              const std::string &title, const std::vector<TimedStep> &measured) {
  Drawing drawing;
  drawing.addText(4, title);
  drawing.endRow(2);
  addSplits(drawing, splits, topology);
  int64_t end = predicted.picoseconds, last = 0;
  for (const TimedStep &each : measured)
    last = std::max(last, each.end);
  double scale = Drawing::timeline / double(std::max<int64_t>({end, last, 1}));
  drawing.addText(Drawing::left, "0 to " + milliseconds(end) + " predicted" +
                                     (last ? ", " + milliseconds(last) + " measured" : ""));
  drawing.endRow();
  addTimeline(drawing, predicted.steps, scale, "predicted: ");
  addTimeline(drawing, measured, scale, "measured: ");
  addMemory(drawing, predicted, scale);
  return drawing.svg();
}

//===----------------------------------------------------------------------===//
// Measured timelines
//===----------------------------------------------------------------------===//

/// The length of the sequence that the names repeat; all of them if they do not.
static size_t periodOf(const std::vector<std::string> &names) {
  for (size_t period = 1; period < names.size(); ++period) {
    bool repeats = names.size() % period == 0;
    for (size_t i = period; repeats && i < names.size(); ++i)
      repeats = names[i] == names[i - period];
    if (repeats)
      return period;
  }
  return names.size();
}

std::optional<std::vector<TimedStep>> heddle::readTimeline(const std::string &path) {
  using Json = nlohmann::json;
  std::ifstream file(path);
  if (!file) {
    fail("can't read the timeline '" + path + "': " + std::strerror(errno));
    return std::nullopt;
  }
  Json trace = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  std::vector<TimedStep> steps, transfers;
  std::vector<std::string> names;
  try {
    for (const Json &event : trace.at("traceEvents")) {
      if (event.at("ph") != "X" || event.at("pid") != 0)
        continue;
      auto begin = int64_t(event.at("ts").get<double>() * 1e6);
      bool isTransfer = event.at("tid").get<int>() >= 1000;
      (isTransfer ? transfers : steps)
          .push_back({event.at("name"), isTransfer ? "links" : "cores", begin,
                      begin + int64_t(event.at("dur").get<double>() * 1e6)});
      if (!isTransfer)
        names.push_back(steps.back().label);
    }
  } catch (const Json::exception &) {
    steps.clear();
  }
  if (steps.empty()) {
    fail("expected a timeline of heddle-run with steps of rank 0 in '" + path + "', got none");
    return std::nullopt;
  }
  size_t first = steps.size() - periodOf(names); // of the last call
  int64_t origin = steps[first].begin;
  std::vector<TimedStep> last(steps.begin() + ptrdiff_t(first), steps.end());
  for (const TimedStep &each : transfers)
    if (each.begin >= origin)
      last.push_back(each);
  for (TimedStep &each : last) {
    each.begin -= origin;
    each.end -= origin;
  }
  return last;
}
