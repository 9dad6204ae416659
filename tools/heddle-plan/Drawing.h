//===- Drawing.h - rows of boxes as a picture -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An SVG that is drawn row by row: labels at the left, boxes beside them.
//
//     Drawing drawing;
//     drawing.addText(4, "net.w");
//     drawing.addBox(Drawing::left, 10, drawing.colourOf("batch"), "net.w: batch over data");
//     drawing.endRow();
//     drawing.svg();
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_DRAWING_H
#define HEDDLE_TOOLS_DRAWING_H

#include <string>
#include <vector>

namespace heddle {

class Drawing {
public:
  static constexpr int row = 12, left = 240, timeline = 900;

  void addText(double x, const std::string &text);
  /// In this row. The title appears when the mouse points at the box.
  void addBox(double x, double wide, const std::string &colour, const std::string &title);
  void addLine(const std::vector<std::pair<double, double>> &points, const std::string &colour);
  void endRow(int rows = 1) { height += rows * row; }
  int bottom() const { return height; }

  /// A colour for each name; grey for the empty one.
  std::string colourOf(const std::string &name);
  /// The names with colours, as a row.
  void addLegend(const std::string &what);
  std::string svg() const;

private:
  std::string body;
  std::vector<std::string> names; ///< that have colours
  int height = row;
  double width = left + timeline;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_DRAWING_H
