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

#include "TaskPlanning.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::planner;

namespace {
/// A colour for each name that is split; grey for what is whole.
class Colours {
public:
  std::string of(const Graph::Choice &choice, const Configuration &each) {
    auto most = std::max_element(each.degrees.begin(), each.degrees.end());
    if (most == each.degrees.end() || *most == 1)
      return "#999";
    const std::string &label = choice.names[size_t(most - each.degrees.begin())].label;
    auto at = std::find(labels.begin(), labels.end(), label);
    auto number = size_t(at - labels.begin());
    if (at == labels.end())
      labels.push_back(label);
    return llvm::formatv("hsl({0},65%,50%)", number * 137 % 360).str();
  }
  std::vector<std::string> labels;
};

class Picture {
public:
  explicit Picture(const TaskPlanning &planning)
      : planning(planning), tasks(*planning.tasks), graph(planning.graph) {}

  std::string run() {
    addChoices();
    addTimelines();
    std::string legend;
    for (const std::string &label : colours.labels)
      legend += (legend.empty() ? "split: " : ", ") + label;
    addText(4, height + row, legend);
    return llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                         "font-family=\"sans-serif\" font-size=\"9\">\n{2}</svg>\n",
                         width + 4, height + 2 * row, body)
        .str();
  }

private:
  static constexpr int row = 12, left = 240, timeline = 900;
  const TaskPlanning &planning;
  const Tasks &tasks;
  const Graph &graph;
  Colours colours;
  std::string body;
  int width = left + timeline, height = row;

  void addText(int x, int y, const std::string &text) {
    std::string escaped;
    llvm::raw_string_ostream out(escaped);
    llvm::printHTMLEscaped(text, out);
    body += llvm::formatv("<text x=\"{0}\" y=\"{1}\">{2}</text>\n", x, y - 2, escaped).str();
  }
  void addBox(double x, double y, double wide, const std::string &colour,
              const std::string &title) {
    std::string escaped;
    llvm::raw_string_ostream out(escaped);
    llvm::printHTMLEscaped(title, out);
    body += llvm::formatv("<rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" height=\"{3}\" "
                          "fill=\"{4}\"><title>{5}</title></rect>\n",
                          x, y, wide, row - 2, colour, escaped)
                .str();
  }

  void addChoices() {
    for (unsigned choice = 0; choice < graph.choices.size(); ++choice) {
      const Configuration &each = tasks.configuration(choice);
      addText(4, height + row, graph.choices[choice].name);
      for (unsigned device : each.devices)
        addBox(left + double(device) * row, height, row - 2,
               colours.of(graph.choices[choice], each), planning.text(choice, each));
      width = std::max(width, left + row * int(planning.devices));
      height += row;
    }
    height += row;
  }

  void addTimelines() {
    const Timetable &times = tasks.timetable();
    std::vector<int64_t> busy = tasks.busy(), memory = tasks.memory();
    size_t devices = planning.cluster.devices.size();
    std::vector<std::vector<Timetable::Id>> ofResource(busy.size());
    for (Timetable::Id id : times.sorted())
      if (times.resource(id) < busy.size())
        ofResource[times.resource(id)].push_back(id);
    double scale = timeline / double(std::max<int64_t>(tasks.end(), 1));
    addText(left, height + row, "0 to " + milliseconds(tasks.end()));
    height += row;
    for (size_t resource = 0; resource < busy.size(); ++resource) {
      if (busy[resource] == 0)
        continue;
      bool isDevice = resource < devices;
      addText(4, height + row,
              isDevice ? planning.cluster.devices[resource].name +
                             llvm::formatv(" ({0:f2} GB)", double(memory[resource]) * 1e-9).str()
                       : linkName(unsigned(resource - devices)));
      addTasks(ofResource[resource], scale, isDevice);
      height += row;
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
      std::string colour = isDevice ? colourOf(times.key(all[i])) : "#68a";
      for (++i; i < all.size() && (double(times[all[i]].end - begin) * scale < 0.5 ||
                                   (title == tasks.labelOf(times.key(all[i])) &&
                                    double(times[all[i]].begin - end) * scale < 0.2));
           ++i)
        end = times[all[i]].end;
      addBox(left + double(begin) * scale, height, std::max(double(end - begin) * scale, 0.2),
             colour, title);
    }
  }
  std::string colourOf(uint64_t key) {
    std::optional<unsigned> choice = tasks.choiceOf(key);
    return choice ? colours.of(graph.choices[*choice], tasks.configuration(*choice)) : "#444";
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
