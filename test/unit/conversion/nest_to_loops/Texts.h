//===- Texts.h - nests as text, for tests -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions with one nest each; an empty schedule lets the chooser choose.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_CONVERSION_NEST_TO_LOOPS_TEXTS_H
#define HEDDLE_TEST_UNIT_CONVERSION_NEST_TO_LOOPS_TEXTS_H

#include <string>
#include <vector>

namespace heddle::test {

struct Operand {
  std::string type, layout;
};

inline std::string attributes(const std::string &layout, const std::string &schedule) {
  std::string text = "{layouts = [#nest.layout<" + layout + ">]";
  if (!schedule.empty())
    text += ", schedule = #nest.schedule<" + schedule + ">";
  return text + "}";
}

/// A function of these operands, called %0, %1, ... in `nest`, whose value is %r.
inline std::string function(const std::vector<Operand> &operands, const std::string &nest,
                            const std::string &result) {
  std::string text = "func.func @f(";
  for (size_t i = 0; i < operands.size(); ++i)
    text += std::string(i ? ", " : "") + "%a" + std::to_string(i) + ": !nd.tensor<" +
            operands[i].type + "> {nest.layout = #nest.layout<" + operands[i].layout + ">}";
  return text + ") -> !nd.tensor<" + result + "> {\n%r = " + nest + "\nreturn %r : !nd.tensor<" +
         result + ">\n}\n";
}

/// The body that multiplies two numbers of a type, in f32.
inline std::string product(const std::string &type) {
  std::string widen = type == "f32" ? ""
                                    : "%u = arith.extf %x : " + type +
                                          " to f32\n%v = arith.extf %y : " + type + " to f32\n";
  return "{\n^bb0(%x: " + type + ", %y: " + type + "):\n" + widen + "%p = arith.mulf " +
         (widen.empty() ? "%x, %y" : "%u, %v") + " : f32\nnest.yield %p : f32\n}";
}

inline std::string matmul(int m, int n, int k, const std::string &a, const std::string &b,
                          const std::string &c, const std::string &schedule,
                          const std::string &type = "f32") {
  std::string typeA = type + ", k: " + std::to_string(k) + ", m: " + std::to_string(m);
  std::string typeB = type + ", k: " + std::to_string(k) + ", n: " + std::to_string(n);
  std::string typeC = type + ", m: " + std::to_string(m) + ", n: " + std::to_string(n);
  std::string nest = "nest.compute (m: " + std::to_string(m) + ", n: " + std::to_string(n) +
                     ") reduce (k: " + std::to_string(k) +
                     ") reads %a0[], %a1[] {\n^bb0(%x: " + type + ", %y: " + type +
                     "):\n%p = arith.mulf %x, %y : " + type + "\nnest.yield %p : " + type +
                     "\n} combine add [0.0 : f32] " + attributes(c, schedule) + " : (!nd.tensor<" +
                     typeA + ">, !nd.tensor<" + typeB + ">) -> !nd.tensor<" + typeC + ">";
  return function({{typeA, a}, {typeB, b}}, nest, typeC);
}

struct Window {
  int batch = 1, in = 3, out = 5, rows = 6, columns = 7, window = 3, stride = 1, padding = 1;
  std::string layoutIn = "[batch, channel, row, column]", layoutWeight = "[channel, ky, kx, out]",
              layoutOut = "[batch, out, row, column]", schedule;
  bool excludes = false;    ///< taps out of bounds are excluded instead of zero
  std::string type = "f32"; ///< of both operands; the result is of f32
};

inline std::string convolution(const Window &w) {
  auto s = [](int i) { return std::to_string(i); };
  int rows = (w.rows + 2 * w.padding - w.window) / w.stride + 1,
      columns = (w.columns + 2 * w.padding - w.window) / w.stride + 1;
  std::string image = w.type + ", batch: " + s(w.batch) + ", channel: " + s(w.in) +
                      ", column: " + s(w.columns) + ", row: " + s(w.rows);
  std::string weight = w.type + ", channel: " + s(w.in) + ", kx: " + s(w.window) +
                       ", ky: " + s(w.window) + ", out: " + s(w.out);
  std::string result = "f32, batch: " + s(w.batch) + ", column: " + s(columns) +
                       ", out: " + s(w.out) + ", row: " + s(rows);
  auto at = [&](const std::string &name, const std::string &step) {
    return s(w.stride) + " * " + name + " + " + step + " - " + s(w.padding);
  };
  auto end = [&](const std::string &name, const std::string &step, int size) {
    return s(size - 1 + w.padding) + " - " + s(w.stride) + " * " + name + " - " + step;
  };
  std::string guard = w.padding == 0
                          ? ""
                          : " if [" + at("row", "ky") + " >= 0, " + end("row", "ky", w.rows) +
                                " >= 0, " + at("column", "kx") + " >= 0, " +
                                end("column", "kx", w.columns) + " >= 0]" +
                                (w.excludes ? "" : " else 0.0 : " + w.type);
  std::string nest =
      "nest.compute (batch: " + s(w.batch) + ", row: " + s(rows) + ", column: " + s(columns) +
      ", out: " + s(w.out) + ") reduce (ky: " + s(w.window) + ", kx: " + s(w.window) +
      ", channel: " + s(w.in) + ") reads %a0[row = " + at("row", "ky") +
      ", column = " + at("column", "kx") + "]" + guard + ", %a1[] " + product(w.type) +
      " combine add [0.0 : f32] " + attributes(w.layoutOut, w.schedule) + " : (!nd.tensor<" +
      image + ">, !nd.tensor<" + weight + ">) -> !nd.tensor<" + result + ">";
  return function({{image, w.layoutIn}, {weight, w.layoutWeight}}, nest, result);
}

/// The gradient of a convolution (stride 1, padding keeps the size) to the image or to the weight.
inline std::string convolutionGradient(const Window &w, bool toWeight) {
  auto s = [](int i) { return std::to_string(i); };
  int pad = w.window / 2;
  std::string image = "batch: " + s(w.batch) + ", channel: " + s(w.in) +
                      ", column: " + s(w.columns) + ", row: " + s(w.rows);
  std::string weight = "channel: " + s(w.in) + ", kx: " + s(w.window) + ", ky: " + s(w.window) +
                       ", out: " + s(w.out);
  std::string result = "batch: " + s(w.batch) + ", column: " + s(w.columns) + ", out: " + s(w.out) +
                       ", row: " + s(w.rows);
  std::string sign = toWeight ? " + " : " - ", back = toWeight ? " - " : " + ";
  auto at = [&](const std::string &name, const std::string &step) {
    return name + sign + step + back + s(pad);
  };
  auto end = [&](const std::string &name, const std::string &step, int size) {
    return s(toWeight ? size - 1 + pad : size - 1 - pad) + " - " + name + back + step;
  };
  std::string points = "batch: " + s(w.batch) + ", row: " + s(w.rows) + ", column: " + s(w.columns);
  std::string produced = toWeight ? "ky: " + s(w.window) + ", kx: " + s(w.window) +
                                        ", channel: " + s(w.in) + ", out: " + s(w.out)
                                  : points + ", channel: " + s(w.in);
  std::string reduced =
      toWeight ? points : "ky: " + s(w.window) + ", kx: " + s(w.window) + ", out: " + s(w.out);
  std::string first = w.type + ", " + (toWeight ? image : result),
              second = w.type + ", " + (toWeight ? result : weight),
              made = "f32, " + (toWeight ? weight : image);
  std::string nest =
      "nest.compute (" + produced + ") reduce (" + reduced +
      ") reads %a0[row = " + at("row", "ky") + ", column = " + at("column", "kx") + "] if [" +
      at("row", "ky") + " >= 0, " + end("row", "ky", w.rows) + " >= 0, " + at("column", "kx") +
      " >= 0, " + end("column", "kx", w.columns) + " >= 0] else 0.0 : " + w.type + ", %a1[] " +
      product(w.type) + " combine add [0.0 : f32] " +
      attributes(toWeight ? w.layoutWeight : w.layoutIn, w.schedule) + " : (!nd.tensor<" + first +
      ">, !nd.tensor<" + second + ">) -> !nd.tensor<" + made + ">";
  return function({{first, toWeight ? w.layoutIn : w.layoutOut},
                   {second, toWeight ? w.layoutOut : w.layoutWeight}},
                  nest, made);
}

/// A copy of m by n from one layout to another.
inline std::string copy(int m, int n, const std::string &from, const std::string &to,
                        const std::string &type = "f32", const std::string &schedule = "") {
  std::string tensor = type + ", m: " + std::to_string(m) + ", n: " + std::to_string(n);
  bool isUnsigned = type[0] == 'u';
  std::string scalar = isUnsigned ? type.substr(1) : type;
  std::string nest = "nest.compute (m: " + std::to_string(m) + ", n: " + std::to_string(n) +
                     ") reads %a0[] {\n^bb0(%x: " + scalar + "):\nnest.yield %x : " + scalar +
                     "\n} " + attributes(to, schedule) + " : (!nd.tensor<" + tensor +
                     ">) -> !nd.tensor<" + tensor + ">";
  return function({{tensor, from}}, nest, tensor);
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_CONVERSION_NEST_TO_LOOPS_TEXTS_H
