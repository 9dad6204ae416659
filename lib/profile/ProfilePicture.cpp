//===- ProfilePicture.cpp - a profile as a picture ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/profile/ArenaPicture.h"
#include "lib/profile/Profile.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

using namespace heddle;

static constexpr double width = 760, top = 40, lineHeight = 18;

std::string heddle::shortened(const std::string &location) {
  size_t from = location.rfind('/') + 1, to = location.rfind(':');
  return to == std::string::npos || to < from ? "" : location.substr(from, to - from);
}

namespace {
struct Line {
  std::string name;
  std::vector<const Profile::Step *> runs;
  double seconds = 0;

  /// `busy`: the total seconds of all lines.
  std::string label(double busy) const {
    return name + " " + shortened(runs.front()->location) +
           formatted(" %.0f %%", 100 * seconds / std::max(busy, 1e-9));
  }
};
} // namespace

/// The longest steps, in the order of their first run.
static std::vector<Line> linesOf(const std::vector<Profile::Step> &steps, size_t count) {
  std::vector<Line> lines;
  std::map<std::pair<std::string, std::string>, size_t> numbers;
  for (const Profile::Step &step : steps) {
    auto [found, isNew] = numbers.try_emplace({step.name, step.location}, lines.size());
    if (isNew)
      lines.push_back({step.name, {}, 0});
    lines[found->second].runs.push_back(&step);
    lines[found->second].seconds += step.seconds;
  }
  if (lines.size() > count) {
    std::vector<double> seconds;
    for (const Line &line : lines)
      seconds.push_back(line.seconds);
    std::nth_element(seconds.begin(), seconds.begin() + long(count), seconds.end(),
                     std::greater<>());
    std::erase_if(lines,
                  [least = seconds[count]](const Line &line) { return line.seconds <= least; });
  }
  return lines;
}

std::string Profile::picture(size_t count) const {
  std::vector<Step> steps = this->steps();
  double begin = steps.empty() ? 0 : steps.front().begin, end = begin, busy = 0;
  for (const Step &step : steps) {
    begin = std::min(begin, step.begin);
    end = std::max(end, step.begin + step.seconds);
    busy += step.seconds;
  }
  double span = std::max(end - begin, 1e-9);
  std::vector<Line> lines = linesOf(steps, count);
  double height = lineHeight * double(lines.size()), left = 220;
  for (const Line &line : lines) // a character is about half as wide as high
    left = std::max(left, 20 + 5.8 * double(line.label(busy).size()));
  std::string out = formatted("<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
                              "font-family='sans-serif' font-size='11'>\n",
                              left + width + 20, top + height + 20);
  out += formatted("<text x='%.0f' y='20'>%zu steps in %.3g ms</text>\n", left, steps.size(),
                   span * 1e3);
  double unit = std::pow(10, std::floor(std::log10(span)));
  unit *= span / unit < 2 ? 0.2 : span / unit < 5 ? 0.5 : 1;
  for (int i = 0; double(i) * unit <= span; ++i) {
    double x = left + width * double(i) * unit / span;
    out += formatted("<path d='M%.1f %.1fv%.1f' stroke='#ddd'/><text x='%.1f' y='%.1f' "
                     "text-anchor='middle'>%.3g ms</text>\n",
                     x, top - 4, height + 4, x, top + height + 14, double(i) * unit * 1e3);
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    double y = top + lineHeight * double(i);
    out += formatted("<text x='%.0f' y='%.1f' text-anchor='end'>", left - 6, y + 13) +
           escapedForHtml(lines[i].label(busy)) + "</text>\n";
    for (const Step *run : lines[i].runs)
      out +=
          formatted("<rect x='%.2f' y='%.1f' width='%.2f' height='%.0f' fill='hsl(%zu,60%%,60%%)'>",
                    left + width * (run->begin - begin) / span, y + 2,
                    std::max(0.5, width * run->seconds / span), lineHeight - 4, i * 137 % 360) +
          "<title>" +
          escapedForHtml(run->name +
                         formatted(": %.4g ms, %.3g GFLOP/s, %.3g GB/s", run->seconds * 1e3,
                                   run->flops / std::max(run->seconds, 1e-12) * 1e-9,
                                   run->bytes / std::max(run->seconds, 1e-12) * 1e-9) +
                         (run->predicted > 0 ? "; " : "") + run->estimate() + " " + run->location) +
          "</title></rect>\n";
  }
  return out + "</svg>\n";
}
