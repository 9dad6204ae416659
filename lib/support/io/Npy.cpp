//===- Npy.cpp - arrays in NumPy's format ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Npy.h"

#include "File.h"
#include "heddle/Error.h"
#include "heddle/io/AtomicFile.h"

#include <cassert>
#include <charconv>
#include <optional>
#include <utility>

using namespace heddle;
using namespace heddle::io;

static constexpr std::string_view magic = "\x93NUMPY";

/// NumPy's type code, a letter and the size in bytes: "f4".
static std::string codeOf(ElementType element) {
  std::string_view text = spelling(element);
  // NumPy has neither bf16 nor 8-bit floats: their bit patterns are written as integers.
  bool isPattern = element == ElementType::BF16 || (isFloat(element) && byteSize(element) == 1);
  char letter = element == ElementType::I1 ? 'b' : isPattern ? 'u' : text.front();
  return letter + std::to_string(byteSize(element));
}

static std::optional<ElementType> elementOf(std::string_view code) {
  for (ElementType each : {ElementType::I1, ElementType::I8, ElementType::I16, ElementType::I32,
                           ElementType::I64, ElementType::UI8, ElementType::UI16, ElementType::UI32,
                           ElementType::UI64, ElementType::F16, ElementType::F32, ElementType::F64})
    if (codeOf(each) == code)
      return each;
  return std::nullopt;
}

/// Copies elements from row-major to column-major order, or back.
static Bytes reorder(const Bytes &from, const HostArray &array, bool toFortran) {
  size_t rank = array.shape.size(), size = size_t(byteSize(array.element));
  Bytes to(from.size());
  std::vector<int64_t> at(rank);
  for (size_t row = 0; row < from.size(); row += size) { // row-major, with coordinates `at`
    size_t column = 0;
    for (size_t axis = rank; axis-- > 0;)
      column = column * size_t(array.shape[axis]) + size_t(at[axis]);
    if (toFortran)
      std::memcpy(&to[column * size], &from[row], size);
    else
      std::memcpy(&to[row], &from[column * size], size);
    for (size_t axis = rank; axis-- > 0 && ++at[axis] == array.shape[axis];)
      at[axis] = 0;
  }
  return to;
}

namespace {
/// Parses the Python literal of a header, and no other Python.
class HeaderReader {
public:
  HeaderReader(const std::string &path, std::string_view text, size_t offset)
      : path(path), text(text), offset(offset) {}

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;

  void read() {
    bool hasDescr = false, hasOrder = false, hasShape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      bool &seen = key == "descr"           ? hasDescr
                   : key == "fortran_order" ? hasOrder
                   : key == "shape"         ? hasShape
                                            : unknown(key);
      if (std::exchange(seen, true))
        bad("expected '" + key + "' once, got it twice");
      if (&seen == &hasDescr)
        readDescr();
      else if (&seen == &hasOrder)
        fortran = truth();
      else
        readShape();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (next < text.size())
      bad("expected nothing after '}', got " + here());
    if (!hasDescr || !hasOrder || !hasShape)
      bad("expected 'descr', 'fortran_order' and 'shape', got only some of them");
  }

private:
  const std::string &path;
  std::string_view text;
  size_t offset, next = 0;

  [[noreturn]] void bad(const std::string &message) const {
    fail(path, "header, byte " + std::to_string(offset + next) + ": " + message);
  }
  bool &unknown(const std::string &key) const {
    bad("expected 'descr', 'fortran_order' or 'shape', got '" + key + "'");
  }
  std::string here() const {
    return next < text.size() ? "'" + std::string(1, text[next]) + "'" : "the end of the header";
  }
  void skipSpace() {
    while (next < text.size() && std::string_view(" \t\r\n").find(text[next]) != text.npos)
      ++next;
  }
  bool accept(char c) {
    skipSpace();
    bool is = next < text.size() && text[next] == c;
    next += is;
    return is;
  }
  void expect(char c) {
    if (!accept(c))
      bad("expected '" + std::string(1, c) + "', got " + here());
  }
  std::string string() {
    skipSpace();
    if (next >= text.size() || (text[next] != '\'' && text[next] != '"'))
      bad("expected a text, got " + here());
    size_t end = text.find(text[next], next + 1);
    if (end == text.npos)
      bad("expected a closing quote");
    std::string result(text.substr(next + 1, end - next - 1));
    next = end + 1;
    return result;
  }
  bool truth() {
    skipSpace();
    for (bool value : {false, true})
      if (std::string_view word = value ? "True" : "False"; text.substr(next).starts_with(word)) {
        next += word.size();
        return value;
      }
    bad("expected True or False, got " + here());
  }
  void readDescr() {
    skipSpace();
    if (next < text.size() && text[next] == '[')
      bad("expected elements of one number each, got records");
    descr = string();
  }
  void readShape() {
    expect('(');
    while (!accept(')')) {
      skipSpace();
      int64_t size = 0;
      const char *begin = text.data() + next, *end = text.data() + text.size();
      auto [after, error] = std::from_chars(begin, end, size);
      if (error != std::errc() || size < 0)
        bad("expected a size of 0 to 2^63 - 1, got " + here());
      next += size_t(after - begin);
      accept('L'); // Python 2's suffix of long integers
      shape.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }
};
} // namespace

static HostArray read(const std::string &path) {
  InputFile file(path);
  uint8_t head[12];
  file.read(0, head, 8, "magic number and version");
  if (std::memcmp(head, magic.data(), magic.size()) != 0)
    fail(path, "not an .npy file: expected the bytes 93 \"NUMPY\" at its beginning");
  if (head[6] < 1 || head[6] > 3)
    fail(path, "expected a .npy file of version 1, 2 or 3, got version " + std::to_string(head[6]));
  int64_t lengthBytes = head[6] == 1 ? 2 : 4, begin = 8 + lengthBytes;
  file.read(8, head + 8, lengthBytes, "header length");
  int64_t length = 0;
  for (int64_t i = lengthBytes; i-- > 0;)
    length = length << 8 | head[8 + i];
  if (length > file.size() - begin)
    fail(path, "truncated: expected a header of " + std::to_string(length) + " bytes, got " +
                   std::to_string(file.size() - begin));
  std::string text(size_t(length), 0);
  file.read(begin, text.data(), length, "header");
  HeaderReader header(path, text, size_t(begin));
  header.read();

  std::string_view code = header.descr;
  bool swapped = code.starts_with('>');
  if (code.find_first_of("<>|=") == 0)
    code.remove_prefix(1);
  std::optional<ElementType> element = elementOf(code);
  if (!element)
    fail(path, "unsupported dtype '" + header.descr + "': expected b1, i1 to i8, u1 to u8 or f2 " +
                   "to f8");
  HostArray array{*element, header.shape, {}, {}};
  int64_t bytes = 0, found = file.size() - begin - length;
  try {
    bytes = array.count() * byteSize(*element);
  } catch (const Error &error) {
    fail(path, error.what());
  }
  if (bytes != found)
    fail(path,
         (found < bytes ? "truncated: expected " : "has bytes after its elements: expected ") +
             std::to_string(bytes) + " bytes for " + array.describe() + ", got " +
             std::to_string(found));
  file.read(begin + length, array.bytes, bytes, "elements");
  if (swapped)
    swapBytes(array.bytes, byteSize(*element));
  if (header.fortran && array.shape.size() > 1)
    array.bytes = reorder(array.bytes, array, false);
  checkBooleans(path, "the array", array);
  return array;
}

HostArray io::readNpy(const std::string &path, Here here) {
  return located(here, [&] { return read(path); });
}

void io::writeNpy(const std::string &path, const HostArray &array, Order order, Here here) {
  assert(int64_t(array.bytes.size()) == array.count() * byteSize(array.element));
  std::string shape;
  for (int64_t size : array.shape)
    shape += std::to_string(size) + (array.shape.size() == 1 ? "," : ", ");
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  bool fortran = order == Order::Fortran;
  std::string header = "{'descr': '" + std::string(byteSize(array.element) == 1 ? "|" : "<") +
                       codeOf(array.element) +
                       "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" +
                       shape + "), }";
  // Elements begin at a multiple of 64; version 1 has two bytes for the length.
  auto padded = [&](size_t before) { return (before + header.size() + 1 + 63) / 64 * 64 - before; };
  size_t lengthBytes = padded(10) <= 0xFFFF ? 2 : 4, length = padded(8 + lengthBytes);
  header.resize(length - 1, ' ');
  header.push_back('\n');
  auto fill = [&](FileSink &sink) {
    sink.write(magic);
    sink.write(lengthBytes == 2 ? std::string_view("\1\0", 2) : std::string_view("\2\0", 2));
    for (size_t i = 0; i < lengthBytes; ++i) {
      char byte = char(length >> (8 * i));
      sink.write(&byte, 1);
    }
    sink.write(header);
    if (fortran && array.shape.size() > 1) {
      Bytes reordered = reorder(array.bytes, array, true);
      sink.write(reordered.data(), reordered.size());
    } else {
      sink.write(array.bytes.data(), array.bytes.size());
    }
  };
  writeFileAtomically(path, fill, here);
}
