//===- Report.cpp - the HTML report of a training run ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/Report.h"

#include "lib/profile/ArenaPicture.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace heddle;
using namespace heddle::nn;

static const char *const style = R"(
:root { color-scheme: light dark; --text: #1c1c1c; --soft: #6b6b6b; --line: #d8d8d8;
  --page: #ffffff; --first: #2a62b8; --second: #c2571a; --right: 42, 98, 184; --wrong: 194, 87, 26; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e6; --soft: #9a9a9a; --line: #3a3a3a;
  --page: #161616; --first: #7fb0ff; --second: #f0985a; --right: 110, 160, 240; --wrong: 240, 152, 90; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
p { color: var(--soft); } p b { color: var(--text); }
.charts { display: flex; flex-wrap: wrap; gap: 1.5rem; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
.plan { background: #ffffff; color-scheme: light; } .plan text { fill: #1c1c1c; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8rem; font-variant-numeric: tabular-nums; }
td, th { padding: .25rem .5rem; text-align: right; font-weight: normal; } th { color: var(--soft); }
)";

namespace {
struct Line {
  std::string label, color;
  std::vector<double> values;
};
/// The horizontal axis of a chart: epochs, or steps.
struct Axis {
  std::string name;
  std::vector<int64_t> numbers;
};
} // namespace

/// Lines over an axis, with a labelled grid at round numbers.
static std::string chart(const std::string &title, const std::vector<Line> &lines, const Axis &axis,
                         const char *format) {
  size_t count = axis.numbers.size();
  double low = INFINITY, high = -INFINITY;
  for (const Line &line : lines)
    for (double value : line.values) {
      if (!std::isfinite(value))
        continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (low > high) // no value is finite
    low = high = 0;
  if (double least = 1e-6 * std::max(1.0, std::abs(low)); high - low < least)
    high = low + least;
  double step = std::pow(10, std::floor(std::log10(high - low)));
  for (double finer : {5.0, 2.0})
    if ((high - low) / step < 3)
      step = std::pow(10, std::floor(std::log10(high - low))) / 10 * finer;
  low = std::floor(low / step) * step;
  high = std::ceil(high / step) * step;

  constexpr double left = 46, top = 24, width = 340, height = 170;
  auto x = [&](size_t i) {
    return left + (count > 1 ? width * double(i) / double(count - 1) : width / 2);
  };
  auto y = [&](double value) { return top + height * (high - value) / (high - low); };
  auto at = [](double value) { return formatted("%.1f", value); };
  std::string svg =
      "<svg width='430' height='240' viewBox='0 0 430 240' role='img' aria-label='" + title + "'>";
  for (int i = 0; i <= int(std::lround((high - low) / step)); ++i) {
    double tick = low + i * step;
    svg += "<line x1='" + at(left) + "' x2='" + at(left + width) + "' y1='" + at(y(tick)) +
           "' y2='" + at(y(tick)) + "' stroke='var(--line)'/><text text-anchor='end' x='" +
           at(left - 6) + "' y='" + at(y(tick) + 4) + "'>" + formatted(format, tick) + "</text>";
  }
  size_t every = std::max<size_t>(1, (count + 9) / 10);
  for (size_t i = 0; i < count; i += every)
    svg += "<text text-anchor='middle' x='" + at(x(i)) + "' y='" + at(top + height + 16) + "'>" +
           std::to_string(axis.numbers[i]) + "</text>";
  svg += "<text text-anchor='middle' x='" + at(left + width / 2) + "' y='" + at(top + height + 32) +
         "'>" + axis.name + "</text>";
  double legend = left;
  for (const Line &line : lines) {
    std::string points;
    for (size_t i = 0; i < count; ++i)
      if (std::isfinite(line.values[i]))
        points += at(x(i)) + "," + at(y(line.values[i])) + " ";
    svg += "<polyline fill='none' stroke-width='2' stroke='" + line.color + "' points='" + points +
           "'/>";
    for (size_t i = 0; i < count; ++i)
      if (std::isfinite(line.values[i]))
        svg += "<circle r='" + std::string(count > 60 ? "1" : "3") + "' fill='" + line.color +
               "' cx='" + at(x(i)) + "' cy='" + at(y(line.values[i])) + "'><title>" + axis.name +
               " " + std::to_string(axis.numbers[i]) + ": " + formatted("%.4g", line.values[i]) +
               "</title></circle>";
    svg += "<rect x='" + at(legend) + "' y='6' width='10' height='10' fill='" + line.color +
           "'/><text x='" + at(legend + 14) + "' y='15'>" + line.label + "</text>";
    legend += 40 + 6.5 * double(line.label.size());
  }
  return svg + "</svg>";
}

static bool isShare(const std::string &name) { return name.ends_with("accuracy"); }

std::string nn::shown(const std::string &name, double value) {
  return isShare(name) ? formatted("%.2f %%", 100 * value) : formatted("%.4g", value);
}

/// The loss and each measure over the steps that are logged, at most 400 of them.
static std::string charts(const StepHistory &steps) {
  if (steps.empty())
    return "";
  std::string all;
  size_t every = (steps.size() + 399) / 400;
  for (const auto &[name, ignored] : steps.back().train) {
    double unit = isShare(name) ? 100 : 1;
    Line line{escapedForHtml(name) + (isShare(name) ? ", %" : ""), "var(--first)", {}};
    Axis axis{"step", {}};
    for (size_t i = every - 1; i < steps.size(); i += every) {
      axis.numbers.push_back(steps[i].step);
      auto value = steps[i].train.find(name);
      line.values.push_back(value == steps[i].train.end() ? NAN : unit * value->second);
    }
    all += chart(line.label, {line}, axis, "%.4g");
  }
  return "<h2>Steps</h2><div class='charts'>" + all + "</div>";
}

/// The same over epochs.
static std::string charts(const History &history) {
  if (history.empty())
    return "<p>No epochs.</p>";
  std::string all;
  Axis epochs{"epoch", {}};
  for (const EpochRecord &record : history)
    epochs.numbers.push_back(record.epoch);
  for (const auto &[name, ignored] : history.back().train) {
    double unit = isShare(name) ? 100 : 1;
    std::string label = escapedForHtml(name) + (isShare(name) ? ", %" : "");
    Line train{"training " + label, "var(--first)", {}}, test{"test " + label, "var(--second)", {}};
    for (const EpochRecord &record : history) {
      train.values.push_back(unit * record.train.at(name));
      if (auto found = record.test.find(name); found != record.test.end())
        test.values.push_back(unit * found->second);
    }
    std::vector<Line> lines{train};
    if (test.values.size() == train.values.size())
      lines.push_back(test);
    all += chart(escapedForHtml(name), lines, epochs, "%.4g");
  }
  return "<div class='charts'>" + all + "</div>";
}

/// The five steps of the program that lose most against their rooflines, per training step.
static std::string slowest(std::vector<Profile::Row> rows, int64_t trainingSteps) {
  std::erase_if(rows, [](const Profile::Row &row) { return row.lost() <= 0; });
  if (rows.empty())
    return "";
  std::ranges::stable_sort(rows, std::greater<>(), &Profile::Row::lost);
  rows.resize(std::min<size_t>(rows.size(), 5));
  std::string text =
      "<h2>Where a training step loses time</h2><p>The steps of its program that lose "
      "most against the roofline, the least time that their arithmetic and memory "
      "need on this kind of machine: medians of " +
      std::to_string(trainingSteps) +
      " training steps, in milliseconds.</p><div class='scroll'><table><tr>";
  for (const char *head :
       {"step", "of line", "lost", "measured", "predicted", "roofline", "limit", "runs"})
    text += std::string("<th>") + head + "</th>";
  for (const Profile::Row &row : rows) {
    double unit = 1e3 / double(trainingSteps);
    text += "</tr><tr><td>" + escapedForHtml(row.sum.name) + "</td><td title='" +
            escapedForHtml(row.sum.location) + "'>" + escapedForHtml(shortened(row.sum.location)) +
            "</td>";
    for (double seconds : {row.lost(), row.usual, row.sum.predicted, row.sum.bound})
      text += formatted("<td>%.3g</td>", seconds * unit);
    text += "<td>" + escapedForHtml(row.sum.limit) + "</td>" +
            formatted("<td>%.3g</td>", double(row.runs) / double(trainingSteps));
  }
  return text + "</tr></table></div>";
}

std::string nn::reportPage(const ReportParts &parts) {
  std::string page = "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
                     "content='width=device-width'><title>" +
                     escapedForHtml(parts.title) + "</title><style>" + style + "</style><h1>" +
                     escapedForHtml(parts.title) + "</h1><p>" + escapedForHtml(parts.summary) +
                     "</p><h2>Training</h2>" + charts(parts.history) + charts(parts.steps) +
                     slowest(parts.measured, parts.measuredSteps);
  std::string plan = parts.plan;
  // Inline SVG in HTML needs no namespace.
  const std::string picture = "<svg", format = " xmlns='http://www.w3.org/2000/svg'";
  for (size_t at = 0; (at = plan.find(picture + format, at)) != std::string::npos;)
    plan.erase(at + picture.size(), format.size());
  if (!plan.empty())
    page +=
        "<h2>Memory of a training step</h2><p>Steps to the right, offsets in the arena upwards; a "
        "box is the live range of a temporary.</p><div class='scroll plan'>" +
        plan + "</div>";
  return page + parts.sections + "</html>\n";
}
