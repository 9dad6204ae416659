//===- Report.cpp - parts of a run's report -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/fashion/Report.h"

#include "heddle/io/Png.h"

#include <algorithm>
#include <cstdio>

using namespace heddle;
using namespace fashion;

static const char *const kinds[] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                    "sandal",  "shirt",   "sneaker",  "bag",   "boot"};

static const char *const style = R"(<style>
.images { display: grid; grid-template-columns: repeat(auto-fill, minmax(6rem, 1fr)); gap: .8rem; }
figure { margin: 0; text-align: center; } figure img { width: 100%; image-rendering: pixelated;
  border-bottom: 3px solid rgb(var(--right)); } figure.wrong img { border-color: rgb(var(--wrong)); }
figcaption { font-size: .8rem; line-height: 1.3; } figcaption span { color: var(--soft); display: block; }
</style>)";

static std::string number(const char *format, double value) {
  char text[64];
  snprintf(text, sizeof text, format, value);
  return text;
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
      // The shade of a correct count is relative to its class, that of a wrong count to the largest
      // confusion.
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

std::string fashion::reportSections(const nn::LabelledImages &test,
                                    const std::vector<int> &predicted) {
  return style + ("<h2>Confusion</h2>" + confusion(test, predicted)) + figures(test, predicted);
}
