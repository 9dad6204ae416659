//===- PlanPicture.cpp - pictures of found tasks --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The picture has two parts, one below the other. A row of the first one is a choice, a column a
// device; a square is coloured by the name that is split most. A row of the second one is a device
// or a link, and shows when it is busy.
//
//===----------------------------------------------------------------------===//

#include "Drawing.h"
#include "TaskPlanning.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::planner;

namespace {
class Picture {
public:
  explicit Picture(const TaskPlanning &planning)
      : planning(planning), tasks(*planning.tasks), graph(planning.graph) {}

  std::string run() {
    addChoices();
    addTimelines();
    drawing.addLegend("split: ");
    return drawing.svg();
  }

private:
  const TaskPlanning &planning;
  const Tasks &tasks;
  const Graph &graph;
  Drawing drawing;

  /// That of the name that is split most.
  std::string colourOf(unsigned choice) {
    const Configuration &each = tasks.configuration(choice);
    auto most = std::max_element(each.degrees.begin(), each.degrees.end());
    bool isWhole = most == each.degrees.end() || *most == 1;
    size_t name = size_t(most - each.degrees.begin());
    return drawing.colourOf(isWhole ? "" : graph.choices[choice].names[name].label);
  }

  void addChoices() {
    for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
      const Configuration &each = tasks.configuration(choice);
      drawing.addText(4, graph.choices[choice].name);
      for (unsigned device : each.devices)
        drawing.addBox(Drawing::left + double(device) * Drawing::row, Drawing::row - 2,
                       colourOf(choice), planning.text(choice, each));
      drawing.endRow();
    }
    drawing.endRow();
  }

  void addTimelines() {
    const Timetable &times = tasks.timetable();
    std::vector<int64_t> busy = tasks.busy(), memory = tasks.memory();
    size_t devices = planning.cluster.devices.size();
    std::vector<std::vector<Timetable::Id>> ofResource(busy.size());
    for (Timetable::Id id : times.sorted())
      if (times.resource(id) < busy.size())
        ofResource[times.resource(id)].push_back(id);
    double scale = Drawing::timeline / double(std::max<int64_t>(tasks.end(), 1));
    drawing.addText(Drawing::left, "0 to " + milliseconds(tasks.end()));
    drawing.endRow();
    for (size_t resource = 0; resource < busy.size(); ++resource) {
      if (busy[resource] == 0)
        continue;
      bool isDevice = resource < devices;
      drawing.addText(
          4, isDevice ? planning.cluster.devices[resource].name +
                            llvm::formatv(" ({0:f2} GB)", double(memory[resource]) * 1e-9).str()
                      : linkName(unsigned(resource - devices)));
      addTasks(ofResource[resource], scale, isDevice);
      drawing.endRow();
    }
  }
  std::string linkName(unsigned lane) const {
    const std::vector<Cluster::Link> &links = planning.cluster.links;
    auto link =
        std::find_if(links.begin(), links.end(), [&](auto &each) { return each.lane == lane; });
    auto name = [&](unsigned node) {
      return node < planning.cluster.devices.size() ? planning.cluster.devices[node].name
                                                    : "switch " + std::to_string(node);
    };
    return name(link->from) + " to " + name(link->to);
  }
  /// Tasks that are too short to be seen are one with the one before.
  void addTasks(std::vector<Timetable::Id> &all, double scale, bool isDevice) {
    const Timetable &times = tasks.timetable();
    llvm::sort(all, [&](auto a, auto b) { return times[a].begin < times[b].begin; });
    for (size_t i = 0; i < all.size();) {
      int64_t begin = times[all[i]].begin, end = times[all[i]].end;
      std::string title = tasks.labelOf(times.key(all[i]));
      std::string colour = isDevice ? colourOfTask(times.key(all[i])) : "#68a";
      for (++i; i < all.size() && (double(times[all[i]].end - begin) * scale < 0.5 ||
                                   (title == tasks.labelOf(times.key(all[i])) &&
                                    double(times[all[i]].begin - end) * scale < 0.2));
           ++i)
        end = times[all[i]].end;
      drawing.addBox(Drawing::left + double(begin) * scale,
                     std::max(double(end - begin) * scale, 0.2), colour, title);
    }
  }
  std::string colourOfTask(uint64_t key) {
    std::optional<unsigned> choice = tasks.choiceOf(key);
    return choice ? colourOf(*choice) : "#444";
  }
};
} // namespace

std::string heddle::pictureOf(const TaskPlanning &planning) { return Picture(planning).run(); }

std::string heddle::traceOf(const TaskPlanning &planning) {
  const Tasks &tasks = *planning.tasks;
  const Timetable &times = tasks.timetable();
  size_t devices = planning.cluster.devices.size(), all = tasks.busy().size();
  std::string text = "[\n";
  for (size_t i = 0; i < all; ++i)
    text +=
        llvm::formatv(
            "{0},\n",
            llvm::json::Value(llvm::json::Object{
                {"ph", "M"},
                {"name", "thread_name"},
                {"pid", 0},
                {"tid", int64_t(i)},
                {"args", llvm::json::Object{{"name", i < devices ? planning.cluster.devices[i].name
                                                                 : "link " + std::to_string(
                                                                                 i - devices)}}}}))
            .str();
  for (Timetable::Id id : times.sorted())
    if (times.resource(id) < all)
      text += llvm::formatv("{0},\n", llvm::json::Value(llvm::json::Object{
                                          {"ph", "X"},
                                          {"name", tasks.labelOf(times.key(id))},
                                          {"pid", 0},
                                          {"tid", int64_t(times.resource(id))},
                                          {"ts", double(times[id].begin) * 1e-6},
                                          {"dur", double(times[id].end - times[id].begin) * 1e-6}}))
                  .str();
  // The format has no comma before the end.
  text.replace(text.size() - 2, 2, "\n]\n");
  return text;
}
