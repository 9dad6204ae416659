//===- Picture.cpp - a memory plan as a picture ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translate.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace heddle;

static constexpr double width = 960, height = 360, left = 70, top = 40;

static std::string escaped(const std::string &text) {
  std::string result;
  llvm::raw_string_ostream out(result);
  llvm::printHTMLEscaped(text, out);
  return result;
}

/// 1, 2 or 5 times a power of ten, such that `whole` is about `count` steps.
static double roundStep(double whole, double count) {
  double power = std::pow(10, std::floor(std::log10(whole / count)));
  for (double step : {1.0, 2.0, 5.0})
    if (step * power >= whole / count)
      return step * power;
  return 10 * power;
}

static void drawEntry(const EntrySpec &entry, double y0, llvm::raw_ostream &out) {
  double steps = double(std::max<size_t>(1, entry.steps.size()));
  double bytes = double(std::max<int64_t>(1, entry.arenaBytes));
  auto x = [&](double step) { return left + width * step / steps; };
  auto y = [&](double offset) { return y0 + top + height * (1 - offset / bytes); };
  auto text = [&](double tx, double ty, const char *anchor, const std::string &words) {
    out << llvm::formatv("<text x='{0:f1}' y='{1:f1}' text-anchor='{2}'>{3}</text>\n", tx, ty,
                         anchor, escaped(words));
  };
  text(left, y0 + top - 12, "start",
       llvm::formatv("@{0}: {1} steps, arena of {2} bytes{3}", entry.name, entry.steps.size(),
                     entry.arenaBytes,
                     entry.symbols.empty() ? ""
                                           : "; sizes over symbols are placed when it is called")
           .str());
  out << llvm::formatv("<rect x='{0}' y='{1}' width='{2}' height='{3}' fill='#f4f4f4'/>\n", left,
                       y0 + top, width, height);
  double unit = bytes >= 1 << 20 ? 1 << 20 : bytes >= 1 << 10 ? 1 << 10 : 1;
  const char *word = unit > 1024 ? "MiB" : unit > 1 ? "KiB" : "B";
  for (double at = 0, step = roundStep(bytes / unit, 4); at * unit <= bytes; at += step)
    text(left - 6, y(at * unit) + 4, "end",
         llvm::formatv("{0} {1}", llvm::format("%g", at), word).str());
  for (double at = 0, step = std::max(1.0, roundStep(steps, 10)); at < steps; at += step)
    text(x(at + 0.5), y0 + top + height + 16, "middle", std::to_string(int64_t(at)));
  for (size_t i = 0; i < entry.values.size(); ++i) {
    const ValueSpec &value = entry.values[i], *storage = &value;
    while (storage->aliasOf >= 0)
      storage = &entry.values[size_t(storage->aliasOf)];
    auto size = value.bytes.constant();
    if (value.kind != ValueSpec::Kind::Temporary || storage->kind != ValueSpec::Kind::Temporary ||
        storage->offset < 0 || !size)
      continue;
    double x0 = x(value.firstStep), wide = x(value.lastStep + 1) - x0;
    double y1 = y(double(storage->offset + *size)), high = y(double(storage->offset)) - y1;
    out << llvm::formatv("<rect x='{0:f1}' y='{1:f1}' width='{2:f1}' height='{3:f1}' "
                         "fill='hsl({4},60%,72%)' stroke='#fff'><title>",
                         x0, y1, wide, high, i * 137 % 360)
        << escaped(llvm::formatv("{0}: {1} bytes, steps {2} to {3} {4}", value.name, *size,
                                 value.firstStep, value.lastStep, value.location)
                       .str())
        << "</title></rect>\n";
    if (high >= 12 && wide >= 7.0 * double(value.name.size()))
      text(x0 + wide / 2, y1 + high / 2 + 4, "middle", value.name);
  }
}

void translate::writePicture(const ProgramImage &image, llvm::raw_ostream &out) {
  const std::vector<EntrySpec> &entries = image.manifest.entries;
  double each = top + height + 40;
  out << llvm::formatv("<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' "
                       "font-family='sans-serif' font-size='12'>\n",
                       left + width + 20, each * double(entries.size()));
  for (size_t i = 0; i < entries.size(); ++i)
    drawEntry(entries[i], each * double(i), out);
  out << "</svg>\n";
}
