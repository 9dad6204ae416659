//===- Report.cpp - a run on one page -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/fashion/Report.h"

#include "heddle/io/AtomicFile.h"
#include "heddle/io/Png.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace heddle;
using namespace fashion;

static const char *const kinds[] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                    "sandal",  "shirt",   "sneaker",  "bag",   "boot"};

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
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8rem; font-variant-numeric: tabular-nums; }
td, th { padding: .25rem .5rem; text-align: right; font-weight: normal; } th { color: var(--soft); }
.images { display: grid; grid-template-columns: repeat(auto-fill, minmax(6rem, 1fr)); gap: .8rem; }
figure { margin: 0; text-align: center; } figure img { width: 100%; image-rendering: pixelated;
  border-bottom: 3px solid rgb(var(--right)); } figure.wrong img { border-color: rgb(var(--wrong)); }
figcaption { font-size: .8rem; line-height: 1.3; } figcaption span { color: var(--soft); display: block; }
)";

static std::string number(const char *format, double value) {
  char text[64];
  snprintf(text, sizeof text, format, value);
  return text;
}

namespace {
struct Line {
  std::string label, color;
  std::vector<double> values; ///< one an epoch
};
} // namespace

/// Lines over epochs, with a labelled grid at round numbers.
static std::string chart(const std::string &title, const std::vector<Line> &lines,
                         const char *format) {
  size_t count = lines[0].values.size();
  double low = INFINITY, high = -INFINITY;
  for (const Line &line : lines)
    for (double value : line.values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (high - low < 1e-6)
    high = low + 1e-6;
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
  auto at = [](double value) { return number("%.1f", value); };
  std::string svg =
      "<svg width='430' height='240' viewBox='0 0 430 240' role='img' aria-label='" + title + "'>";
  for (double tick = low; tick <= high + step / 2; tick += step)
    svg += "<line x1='" + at(left) + "' x2='" + at(left + width) + "' y1='" + at(y(tick)) +
           "' y2='" + at(y(tick)) + "' stroke='var(--line)'/><text text-anchor='end' x='" +
           at(left - 6) + "' y='" + at(y(tick) + 4) + "'>" + number(format, tick) + "</text>";
  size_t every = std::max<size_t>(1, (count + 9) / 10);
  for (size_t i = 0; i < count; i += every)
    svg += "<text text-anchor='middle' x='" + at(x(i)) + "' y='" + at(top + height + 16) + "'>" +
           std::to_string(i + 1) + "</text>";
  svg += "<text text-anchor='middle' x='" + at(left + width / 2) + "' y='" + at(top + height + 32) +
         "'>epoch</text>";
  double legend = left;
  for (const Line &line : lines) {
    std::string points;
    for (size_t i = 0; i < count; ++i)
      points += at(x(i)) + "," + at(y(line.values[i])) + " ";
    svg += "<polyline fill='none' stroke-width='2' stroke='" + line.color + "' points='" + points +
           "'/>";
    for (size_t i = 0; i < count; ++i)
      svg += "<circle r='3' fill='" + line.color + "' cx='" + at(x(i)) + "' cy='" +
             at(y(line.values[i])) + "'><title>epoch " + std::to_string(i + 1) + ": " +
             number("%.4g", line.values[i]) + "</title></circle>";
    svg += "<rect x='" + at(legend) + "' y='6' width='10' height='10' fill='" + line.color +
           "'/><text x='" + at(legend + 14) + "' y='15'>" + line.label + "</text>";
    legend += 40 + 6.5 * double(line.label.size());
  }
  return svg + "</svg>";
}

static std::string charts(const History &history) {
  if (history.empty())
    return "<p>No epochs.</p>";
  Line trainLoss{"training loss", "var(--first)", {}}, testLoss{"test loss", "var(--second)", {}},
      accuracy{"test accuracy, %", "var(--second)", {}};
  for (const EpochRecord &record : history) {
    trainLoss.values.push_back(record.trainLoss);
    testLoss.values.push_back(record.testLoss);
    accuracy.values.push_back(100 * record.testAccuracy);
  }
  return "<div class='charts'>" + chart("loss", {trainLoss, testLoss}, "%.3g") +
         chart("accuracy", {accuracy}, "%.4g") + "</div>";
}

static std::string confusion(const nn::LabelledImages &test, const std::vector<int> &predicted) {
  int counts[10][10] = {}, most = 1;
  for (size_t i = 0; i < predicted.size(); ++i)
    ++counts[test.label(int64_t(i))][predicted[i]];
  for (int a = 0; a < 10; ++a)
    for (int p = 0; p < 10; ++p)
      if (a != p)
        most = std::max(most, counts[a][p]);
  std::string table = "<div class='scroll'><table><tr><th>is \\ predicted</th>";
  for (const char *kind : kinds)
    table += std::string("<th>") + kind + "</th>";
  table += "<th>right</th></tr>";
  for (int a = 0; a < 10; ++a) {
    int total = 0;
    for (int count : counts[a])
      total += count;
    table += std::string("<tr><th>") + kinds[a] + "</th>";
    for (int p = 0; p < 10; ++p) {
      // Right ones against their class, wrong ones against the worst confusion.
      double share = a == p ? double(counts[a][p]) / std::max(total, 1) * 0.5
                            : double(counts[a][p]) / most * 0.7;
      table += "<td style='background: rgba(var(--" + std::string(a == p ? "right" : "wrong") +
               "), " + number("%.2f", share) + ")'>" + std::to_string(counts[a][p]) + "</td>";
    }
    table += "<td>" + number("%.1f %%", 100.0 * counts[a][a] / std::max(total, 1)) + "</td></tr>";
  }
  return table + "</table></div>";
}

static std::string figure(const nn::LabelledImages &test, int64_t image, int predicted) {
  std::span<const uint8_t> pixels = test.image(image);
  auto array = io::HostArray::of<uint8_t>(pixels, {test.rows(), test.columns()});
  bool right = predicted == test.label(image);
  return std::string("<figure") + (right ? "" : " class='wrong'") + "><img alt='" +
         kinds[test.label(image)] + "' src='data:image/png;base64," +
         io::encodeBase64(io::encodePng(array)) + "'><figcaption>" + kinds[predicted] +
         (right ? "" : std::string("<span>is: ") + kinds[test.label(image)] + "</span>") +
         "</figcaption></figure>";
}

static std::string figures(const nn::LabelledImages &test, const std::vector<int> &predicted) {
  std::string wrong, right;
  int wrongs = 0, rights = 0;
  for (size_t i = 0; i < predicted.size(); ++i) {
    bool isRight = predicted[i] == test.label(int64_t(i));
    int &count = isRight ? rights : wrongs;
    if (count++ < 24)
      (isRight ? right : wrong) += figure(test, int64_t(i), predicted[i]);
  }
  return "<h2>Wrong: the first of " + std::to_string(wrongs) + "</h2><div class='images'>" + wrong +
         "</div><h2>Right: the first of " + std::to_string(rights) + "</h2><div class='images'>" +
         right + "</div>";
}

void fashion::writeReport(const std::string &path, const History &history,
                          const nn::LabelledImages &test, const std::vector<int> &predicted) {
  int64_t right = 0;
  for (size_t i = 0; i < predicted.size(); ++i)
    right += predicted[i] == test.label(int64_t(i));
  std::string summary =
      "<p><b>" +
      number("%.2f %%", 100.0 * double(right) / double(std::max<size_t>(predicted.size(), 1))) +
      "</b> of " + std::to_string(predicted.size()) + " test images classified right after " +
      std::to_string(history.size()) + " epochs";
  if (!history.empty() && history.back().examplesPerSecond > 0)
    summary += ", trained at " + number("%.0f", history.back().examplesPerSecond) +
               " images a second, with " +
               number("%.0f MiB", double(history.back().peakMemoryBytes) / (1 << 20)) +
               " of memory at most";
  std::string page =
      "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width'><title>Fashion-MNIST with Heddle</title><style>" +
      std::string(style) + "</style><h1>Fashion-MNIST with Heddle</h1>" + summary +
      ".</p><h2>Training</h2>" + charts(history) + "<h2>Confusion</h2>" +
      confusion(test, predicted) + figures(test, predicted) + "</html>\n";
  io::writeFileAtomically(path, [&](io::FileSink &sink) { sink.write(page); });
}
