//===- ArenaPicture.cpp - a memory plan as a picture ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/profile/ArenaPicture.h"

#include <algorithm>
#include <cmath>

using namespace heddle;

std::string heddle::escapedForHtml(const std::string &text) {
  std::string result;
  for (char c : text)
    if (c == '<' || c == '>' || c == '&' || c == '\'')
      result += formatted("&#%d;", int(c));
    else
      result += c;
  return result;
}

static constexpr double width = 960, height = 360, left = 70, top = 40;

/// 1, 2 or 5 times a power of ten, such that `whole` is about `count` steps.
static double roundStep(double whole, double count) {
  double power = std::pow(10, std::floor(std::log10(whole / count)));
  for (double step : {1.0, 2.0, 5.0})
    if (step * power >= whole / count)
      return step * power;
  return 10 * power;
}

static std::string text(double x, double y, const char *anchor, const std::string &words) {
  return formatted("<text x='%.1f' y='%.1f' text-anchor='%s'>", x, y, anchor) +
         escapedForHtml(words) + "</text>\n";
}

static std::string drawEntry(const EntrySpec &entry, double y0) {
  double steps = double(std::max<size_t>(1, entry.steps.size()));
  double bytes = double(std::max<int64_t>(1, entry.arenaBytes));
  auto x = [&](double step) { return left + width * step / steps; };
  auto y = [&](double offset) { return y0 + top + height * (1 - offset / bytes); };
  std::string out =
      text(left, y0 + top - 12, "start",
           "@" + entry.name + (entry.role.empty() ? "" : " of " + entry.role) + ": " +
               std::to_string(entry.steps.size()) + " steps, arena of " +
               std::to_string(entry.arenaBytes) + " bytes" +
               (entry.symbols.empty() ? "" : "; sizes over symbols are placed when it is called"));
  out += formatted("<rect x='%.0f' y='%.0f' width='%.0f' height='%.0f' fill='#f4f4f4'/>\n", left,
                   y0 + top, width, height);
  double unit = bytes >= 1 << 20 ? 1 << 20 : bytes >= 1 << 10 ? 1 << 10 : 1;
  const char *word = unit > 1024 ? "MiB" : unit > 1 ? "KiB" : "B";
  for (double at = 0, step = roundStep(bytes / unit, 4); at * unit <= bytes; at += step)
    out += text(left - 6, y(at * unit) + 4, "end", formatted("%g %s", at, word));
  for (double at = 0, step = std::max(1.0, roundStep(steps, 10)); at < steps; at += step)
    out += text(x(at + 0.5), y0 + top + height + 16, "middle", std::to_string(int64_t(at)));
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
    out += formatted("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' "
                     "fill='hsl(%zu,60%%,72%%)' stroke='#fff'><title>",
                     x0, y1, wide, high, i * 137 % 360) +
           escapedForHtml(value.name + ": " + std::to_string(*size) + " bytes, steps " +
                          std::to_string(value.firstStep) + " to " +
                          std::to_string(value.lastStep) + " " + value.location) +
           "</title></rect>\n";
    if (high >= 12 && wide >= 7.0 * double(value.name.size()))
      out += text(x0 + wide / 2, y1 + high / 2 + 4, "middle", value.name);
  }
  return out;
}

std::string heddle::arenaPicture(const Manifest &manifest) {
  double each = top + height + 40;
  std::string out = formatted("<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
                              "font-family='sans-serif' font-size='12'>\n",
                              left + width + 20, each * double(manifest.entries.size()));
  for (size_t i = 0; i < manifest.entries.size(); ++i)
    out += drawEntry(manifest.entries[i], each * double(i));
  return out + "</svg>\n";
}
