//===- PlanFile.cpp - meshes and shardings as text ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/support/PlanFile.h"

#include "heddle/Expr.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"

#include <charconv>

using namespace heddle;
using namespace heddle::mesh;
using namespace llvm;

bool mesh::isSchedule(StringRef word) {
  return is_contained({"greedy", "gpipe", "1f1b", "interleaved"}, word);
}
bool mesh::isMemory(StringRef word) { return is_contained({"device", "host", "file"}, word); }

static std::string commented(const std::string &text, const std::string &where) {
  return where.empty() ? text : text + " # " + where;
}
static std::string inBrackets(const std::string &where) {
  return where.empty() ? "" : " (" + where + ")";
}
std::string MeshRule::str() const { return "the rule '" + text + "'" + inBrackets(where); }

std::string MeshRule::forSome() const {
  return ::commented((recomputes ? "recompute? " : "op? ") + operators, where);
}

std::string Plan::whereIs(StringRef setting) const {
  auto found = settings.find(setting);
  return found == settings.end() ? "" : inBrackets(found->second.where);
}

/// The shortest text that reads as the same number.
static std::string shortest(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, std::end(text), number).ptr);
}

std::string Plan::Links::str() const {
  return "links " + axis + " " + shortest(bytesPerSecond) + " bytes/s " + shortest(startSeconds) +
         " s";
}

std::vector<std::string> Plan::statements() const {
  std::vector<std::string> lines;
  for (StringRef word : {"graph", "schedule"})
    if (auto set = settings.find(word); set != settings.end())
      lines.push_back(commented((word + " " + set->second.text).str(), set->second.where));
  for (const Links &each : links)
    lines.push_back(commented(each.str(), each.where));
  return lines;
}

std::string Plan::parseMesh(StringRef text) {
  SmallVector<StringRef> axes;
  text.split(axes, ',');
  for (StringRef each : axes) {
    auto [name, number] = each.trim().split('=');
    int64_t size;
    if (!isValidName(std::string_view(name)) || name.contains('.') ||
        number.getAsInteger(10, size) || size < 1)
      return "expected axes with sizes, such as data=2,model=4, got '" + text.str() + "'";
    mesh.axes.emplace_back(name.str(), size);
  }
  return "";
}

std::string Plan::set(StringRef word, StringRef value, std::string where) {
  std::string text = value.str();
  llvm::erase(text, ' ');
  auto [known, isNew] = settings.try_emplace(word.str(), Setting{text, where});
  if (!isNew)
    return known->second.text == text ? ""
                                      : formatv("'{0} {1}' contradicts '{0} {2}'{3}", word, text,
                                                known->second.text, inBrackets(known->second.where))
                                            .str();
  if (word == "graph")
    return text.size() == 16 && all_of(text, isHexDigit)
               ? ""
               : "expected 16 hexadecimal digits after 'graph', got '" + value.trim().str() + "'";
  if (word == "schedule")
    return isSchedule(text)
               ? ""
               : "expected greedy, gpipe, 1f1b or interleaved after 'schedule', got '" +
                     value.trim().str() + "'";
  int64_t number;
  if (word != "mesh" && (value.trim().getAsInteger(10, number) || number < 0))
    return formatv("expected a number after '{0}', got '{1}'", word, value.trim()).str();
  return word == "mesh" ? parseMesh(value.trim()) : "";
}

/// `data 1e9 bytes/s 5e-06 s`
std::string Plan::parseLinks(StringRef text, std::string where) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  Links made{"", 0, 0, std::move(where)};
  if (words.size() == 5)
    made.axis = words[0].str();
  auto isAtLeast = [](double number, double least) {
    return number >= least && number <= std::numeric_limits<double>::max();
  };
  if (!isValidName(made.axis) || words[1].getAsDouble(made.bytesPerSecond) ||
      !isAtLeast(made.bytesPerSecond, std::numeric_limits<double>::min()) ||
      words[2] != "bytes/s" || words[3].getAsDouble(made.startSeconds) ||
      !isAtLeast(made.startSeconds, 0) || words[4] != "s")
    return "expected links AXIS RATE bytes/s LATENCY s, such as 'links data 1e9 bytes/s 5e-06 s', "
           "got 'links " +
           text.trim().str() + "'";
  auto known = find_if(links, [&](const Links &other) { return other.axis == made.axis; });
  if (known == links.end())
    links.push_back(std::move(made));
  else if (known->str() != made.str())
    return formatv("'{0}' contradicts '{1}'{2}", made.str(), known->str(), inBrackets(known->where))
        .str();
  return "";
}

/// The largest number of parts of an axis; products of two such numbers don't overflow.
static constexpr int64_t mostParts = int64_t(1) << 20;

/// `data`, or `data(2)4`
static bool parseAxis(StringRef text, std::string &axis) {
  AxisPart part = text.trim();
  axis = part.str();
  return isValidName(part.name) && part.before <= mostParts && part.count <= mostParts;
}

/// `net.last@stage=1`, `net.last@data(1)2=1`, or `adam@file`, which operators can't have.
static bool parsePlace(StringRef text, MeshRule &rule) {
  auto [pattern, place] = text.rsplit('@');
  auto [axis, coordinate] = place.split('=');
  rule.pattern = pattern.trim().str();
  if (rule.pattern.empty() ||
      (rule.isOfOperators && pattern.find_first_of("/:") != StringRef::npos))
    return false;
  if (!place.contains('=')) {
    rule.memory = place.trim().str();
    return isMemory(rule.memory) && !rule.isOfOperators;
  }
  return parseAxis(axis, rule.axes.emplace_back()) &&
         !coordinate.trim().getAsInteger(10, rule.coordinate) && rule.coordinate >= 0;
}

/// `net.wide/hidden:model`, or `hidden:`
static bool parseSplit(StringRef text, MeshRule &rule) {
  if (text.contains('/')) {
    auto [pattern, name] = text.rsplit('/');
    rule.pattern = pattern.trim().str();
    text = name;
  }
  auto [name, axes] = text.split(':');
  rule.name = name.trim().str();
  bool good = isValidName(rule.name) && text.contains(':');
  SmallVector<StringRef> words;
  if (!axes.trim().empty())
    axes.split(words, '+');
  for (StringRef word : words)
    good &= parseAxis(word, rule.axes.emplace_back());
  return good && !(rule.isOfOperators && rule.pattern.empty());
}

std::string Plan::parseRule(StringRef text, std::string where) {
  MeshRule rule{text.str(), std::move(where)};
  StringRef rest = rule.text;
  auto consume = [&](StringRef word) {
    rule.mayMatchNothing = rest.consume_front((word + "? ").str());
    return rule.mayMatchNothing || rest.consume_front((word + " ").str());
  };
  rule.recomputes = consume("recompute");
  rule.isOfOperators = rule.recomputes || consume("op");
  if (rule.isOfOperators)
    rule.operators = rest.str();
  bool isPlace = rest.contains('@');
  std::string expected =
      "[PATTERN/]NAME:[AXIS[+AXIS...]], PATTERN@AXIS=COORDINATE or PATTERN@MEMORY";
  bool good = false;
  if (rule.recomputes) {
    expected = "recompute PATTERN";
    rule.pattern = rest.trim().str();
    good = !rule.pattern.empty() && rest.find_first_of("/:@") == StringRef::npos;
  } else if (isPlace) {
    expected = rule.isOfOperators
                   ? "op PATTERN@AXIS=COORDINATE"
                   : "PATTERN@AXIS=COORDINATE or PATTERN@MEMORY (device, host or file)";
    good = parsePlace(rest, rule);
  } else {
    if (rule.isOfOperators)
      expected = "op PATTERN/NAME:[AXIS[+AXIS...]]";
    good = parseSplit(rest, rule);
  }
  if (!good)
    return "expected a rule " + expected + ", got '" + rule.text + "'";
  rules.push_back(std::move(rule));
  return "";
}

std::string Plan::parseLine(StringRef text, std::string where) {
  auto [line, comment] = text.split('#');
  line = line.trim();
  if (where.empty())
    where = comment.trim().str();
  auto [word, value] = line.split(' ');
  if (is_contained({"mesh", "graph", "zero", "micro-batches", "schedule"}, word))
    return set(word, value, std::move(where));
  return word == "links" ? parseLinks(value, std::move(where)) : parseRule(line, std::move(where));
}

std::string Plan::parse(StringRef axes, ArrayRef<std::string> lines) {
  std::string problem = axes.empty() ? "" : set("mesh", axes, "");
  for (const std::string &line : lines)
    if (problem.empty())
      problem = parseLine(line);
  return problem;
}

std::string Plan::parseFile(StringRef text, StringRef path) {
  for (unsigned number = 1; !text.empty(); ++number) {
    auto [line, rest] = text.split('\n');
    text = rest;
    std::string where = formatv("plan '{0}', line {1}", path, number);
    if (line.split('#').first.trim().empty())
      continue;
    if (std::string problem = parseLine(line, where); !problem.empty())
      return where + ": " + problem;
  }
  return "";
}

std::string Plan::readFile(StringRef path) {
  auto file = MemoryBuffer::getFile(path);
  return file ? parseFile((*file)->getBuffer(), path)
              : "can't read the plan '" + path.str() + "': " + file.getError().message();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// True if the pattern's words match consecutive words of `name`. Without a word before it, a dot
/// of the pattern matches an end of the name.
static bool matches(StringRef pattern, StringRef name) {
  if (pattern.empty())
    return true;
  SmallVector<StringRef> wanted, words{""};
  pattern.split(wanted, '.');
  name.split(words, '.');
  words.push_back("");
  SmallVector<GlobPattern> globs;
  for (StringRef word : wanted) {
    auto glob = GlobPattern::create(word);
    if (!glob) {
      consumeError(glob.takeError());
      return false;
    }
    globs.push_back(std::move(*glob));
  }
  for (size_t first = 0; first + globs.size() <= words.size(); ++first)
    if (all_of(enumerate(globs), [&](auto glob) {
          StringRef word = words[first + glob.index()];
          return glob.value().match(word) && word.empty() == wanted[glob.index()].empty();
        }))
      return true;
  return false;
}

bool MeshRule::fits(const std::string &path) const { return matches(pattern, path); }
