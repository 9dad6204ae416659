//===- Report.cpp - the report of a run -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/fashion/Fashion.h"

#include <algorithm>
#include <fstream>

using namespace heddle;

static const char *const kinds[] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                    "sandal",  "shirt",   "sneaker",  "bag",   "boot"};

/// A polyline over equal steps, scaled to its range.
static std::string curve(const std::vector<double> &values, const std::string &title, const std::string &unit, double scale) {
  if (values.empty())
    return "";
  double low = *std::min_element(values.begin(), values.end()), high = *std::max_element(values.begin(), values.end());
  if (high == low)
    high = low + 1e-9;
  std::string points, marks;
  for (size_t i = 0; i < values.size(); ++i) {
    double x = 20 + (values.size() > 1 ? 320.0 * double(i) / double(values.size() - 1) : 160);
    double y = 130 - 100 * (values[i] - low) / (high - low);
    points += std::to_string(x) + "," + std::to_string(y) + " ";
    marks += "<circle cx='" + std::to_string(x) + "' cy='" + std::to_string(y) + "' r='3'><title>epoch " +
             std::to_string(i + 1) + ": " + std::to_string(values[i] * scale) + unit + "</title></circle>";
  }
  auto rounded = [&](double v) {
    char text[32];
    snprintf(text, sizeof text, "%.3g%s", v * scale, unit.c_str());
    return std::string(text);
  };
  return "<figure><figcaption>" + title + "</figcaption><svg viewBox='0 0 360 150' width='360'><polyline points='" + points +
         "' fill='none' stroke='currentColor' stroke-width='2'/><g fill='currentColor'>" + marks +
         "</g><g font-size='11' fill='currentColor'><text x='20' y='18'>" + rounded(high) +
         "</text><text x='20' y='147'>" + rounded(low) + "</text></g></svg></figure>";
}

/// An image as an SVG of its bright pixels.
static std::string picture(const nn::LabelledImages &data, int64_t image) {
  std::string svg = "<svg viewBox='0 0 " + std::to_string(data.columns) + " " + std::to_string(data.rows) +
                    "' width='84' shape-rendering='crispEdges' style='background:#000'>";
  for (int64_t r = 0; r < data.rows; ++r)
    for (int64_t c = 0; c < data.columns; ++c)
      if (int value = data.pixels[size_t((image * data.rows + r) * data.columns + c)]; value > 16) {
        char color[8];
        snprintf(color, sizeof color, "#%02x%02x%02x", value, value, value);
        svg += "<rect x='" + std::to_string(c) + "' y='" + std::to_string(r) + "' width='1' height='1' fill='" + color + "'/>";
      }
  return svg + "</svg>";
}

void fashion::writeReport(const std::string &path, const std::vector<double> &loss, const std::vector<double> &accuracy,
                          const nn::LabelledImages &test, const std::vector<int> &predicted) {
  std::vector<std::vector<int>> confusion(10, std::vector<int>(10));
  for (size_t i = 0; i < predicted.size(); ++i)
    ++confusion[test.labels[i]][size_t(predicted[i])];
  std::string matrix = "<table><tr><th>actual \\ predicted</th>";
  for (const char *kind : kinds)
    matrix += std::string("<th>") + kind + "</th>";
  matrix += "</tr>";
  for (int a = 0; a < 10; ++a) {
    int total = 1;
    for (int count : confusion[size_t(a)])
      total += count;
    matrix += std::string("<tr><th>") + kinds[a] + "</th>";
    for (int p = 0; p < 10; ++p) {
      int count = confusion[size_t(a)][size_t(p)];
      matrix += "<td style='background:rgba(" + std::string(a == p ? "40,160,80" : "200,60,40") + "," +
                std::to_string(0.9 * count / total) + ")'>" + std::to_string(count) + "</td>";
    }
    matrix += "</tr>";
  }
  matrix += "</table>";
  std::string grid;
  for (int64_t i = 0; i < std::min<int64_t>(40, int64_t(predicted.size())); ++i) {
    bool right = predicted[size_t(i)] == test.labels[size_t(i)];
    grid += "<figure class='" + std::string(right ? "right" : "wrong") + "'>" + picture(test, i) + "<figcaption>" +
            kinds[predicted[size_t(i)]] + (right ? "" : std::string(" (") + kinds[test.labels[size_t(i)]] + ")") +
            "</figcaption></figure>";
  }
  std::ofstream file(path);
  file << "<!doctype html><meta charset='utf-8'><title>Fashion-MNIST with Heddle</title><style>"
          ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
          "figure{display:inline-block;margin:.4rem;text-align:center}figcaption{font-size:.8rem}.wrong figcaption{color:#d33}"
          "table{border-collapse:collapse;font-size:.8rem}td,th{padding:.25rem .45rem;text-align:right}</style>"
          "<h1>Fashion-MNIST with Heddle</h1><h2>Training</h2>"
       << curve(loss, "training loss", "", 1) << curve(accuracy, "test accuracy", " %", 100)
       << "<h2>Confusion</h2>" << matrix << "<h2>Predictions</h2><p>The true class stands in brackets where the prediction is wrong.</p>"
       << grid << "\n";
  file.flush();
  if (!file)
    throw Error("can't write '" + path + "'");
}
