//===- Drawing.cpp - rows of boxes as a picture ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drawing.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace heddle;

static std::string escaped(const std::string &text) {
  std::string result;
  llvm::raw_string_ostream out(result);
  llvm::printHTMLEscaped(text, out);
  return result;
}

void Drawing::addText(double x, const std::string &text) {
  body +=
      llvm::formatv("<text x=\"{0}\" y=\"{1}\">{2}</text>\n", x, height + row - 2, escaped(text))
          .str();
}

void Drawing::addBox(double x, double wide, const std::string &colour, const std::string &title) {
  body += llvm::formatv("<rect x=\"{0:f1}\" y=\"{1:f1}\" width=\"{2:f1}\" height=\"{3}\" "
                        "fill=\"{4}\"><title>{5}</title></rect>\n",
                        x, double(height), wide, row - 2, colour, escaped(title))
              .str();
  width = std::max(width, x + wide);
}

void Drawing::addLine(const std::vector<std::pair<double, double>> &points,
                      const std::string &colour) {
  std::string list;
  for (auto [x, y] : points)
    list += llvm::formatv("{0:f1},{1:f1} ", x, y).str();
  body += llvm::formatv("<polyline points=\"{0}\" fill=\"none\" stroke=\"{1}\"/>\n", list, colour)
              .str();
}

std::string Drawing::colourOf(const std::string &name) {
  if (name.empty())
    return "#999";
  auto at = std::find(names.begin(), names.end(), name);
  auto number = size_t(at - names.begin());
  if (at == names.end())
    names.push_back(name);
  return llvm::formatv("hsl({0},65%,50%)", number * 137 % 360).str();
}

void Drawing::addLegend(const std::string &what) {
  addText(4, what + llvm::join(names, ", "));
  endRow();
}

std::string Drawing::svg() const {
  return llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                       "font-family=\"sans-serif\" font-size=\"9\">\n{2}</svg>\n",
                       int(width) + 4, height + row, body)
      .str();
}
