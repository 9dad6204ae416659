//===- NpyTest.cpp - arrays in NumPy's format -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Npy.h"

#include "Files.h"

using namespace heddle;
using namespace heddle::io;
using namespace heddle::test;
using namespace std::string_literals;

/// A file as NumPy writes it: the header is padded so that the elements begin at byte 128.
static std::string npy(const std::string &header, const std::string &elements, int version = 1) {
  size_t before = version == 1 ? 10 : 12, length = 128 - before;
  std::string padded = header + std::string(length - header.size() - 1, ' ') + "\n";
  std::string file = "\x93NUMPY"s + char(version) + '\0' + char(length) + '\0';
  return file + (version == 1 ? ""s : "\0\0"s) + padded + elements;
}
static const std::string six = "\0\0\1\0\2\0\3\0\4\0\5\0"s;

static HostArray parse(const std::string &bytes) {
  TemporaryDirectory directory;
  return readNpy(directory.write("a.npy", bytes));
}
static std::string refusal(const std::string &bytes) {
  std::string text = messageOf([&] { parse(bytes); });
  expectHas(text, {"a.npy'"});
  return text;
}

TEST(Npy, file_of_numpy_is_read) {
  std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
  auto expected = HostArray::of<int16_t>({0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_EQ(parse(npy(header, six)), expected);
  EXPECT_EQ(parse(npy(header, six, 2)), expected);
  EXPECT_EQ(parse(npy(header, six, 3)), expected);
}

TEST(Npy, fortran_order_is_turned_around) {
  auto array = parse(npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", six));
  EXPECT_EQ(array, (HostArray::of<int16_t>({0, 2, 4, 1, 3, 5}, {2, 3})));
}

TEST(Npy, big_endian_elements_are_swapped) {
  auto array = parse(
      npy("{'descr': '>f8', 'fortran_order': False, 'shape': (), }", "\x40\x04\0\0\0\0\0\0"s));
  EXPECT_EQ(array, (HostArray::of<double>({2.5}, {})));
}

TEST(Npy, other_spellings_of_the_header_are_read) {
  auto array = parse(npy("{\"shape\":(6L,),\"fortran_order\":False,\"descr\":\"=i2\"}", six));
  EXPECT_EQ(array.shape, std::vector<int64_t>{6});
}

TEST(Npy, written_bytes_are_those_of_numpy) {
  TemporaryDirectory directory;
  writeNpy(directory / "a", HostArray::of<int16_t>({0, 1, 2, 3, 4, 5}, {2, 3}));
  EXPECT_EQ(contentsOf(directory / "a"),
            npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }", six));
  writeNpy(directory / "a", HostArray::of<int16_t>({0, 2, 4, 1, 3, 5}, {2, 3}), Order::Fortran);
  EXPECT_EQ(contentsOf(directory / "a"),
            npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", six));
  writeNpy(directory / "a", HostArray::of<bool>({true, false}, {2}));
  EXPECT_EQ(contentsOf(directory / "a"),
            npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\1\0"s));
}

static void roundTrip(ElementType element, const std::vector<int64_t> &shape) {
  TemporaryDirectory directory;
  HostArray array = HostArray::zeros(element, shape);
  for (size_t i = 0; i < array.bytes.size(); ++i)
    array.bytes[i] = std::byte(element == ElementType::I1 ? i % 2 : i * 37);
  for (Order order : {Order::C, Order::Fortran}) {
    writeNpy(directory / "a", array, order);
    HostArray back = readNpy(directory / "a");
    if (isFloat(element) && !isFloat(back.element)) // NumPy lacks the type and stores bit patterns
      back.element = element;
    EXPECT_EQ(back, array) << array.describe();
  }
}

TEST(Npy, every_element_type_comes_back) {
  for (int type = 0; type <= int(ElementType::F8E5M2); ++type)
    roundTrip(ElementType(type), {2, 3, 5});
}

TEST(Npy, every_rank_comes_back) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{}, {7}, {1, 1}, {4, 0}, {0, 4}, {2, 3, 1, 2, 4}})
    roundTrip(ElementType::I16, shape);
}

TEST(Npy, long_header_takes_version_2) {
  TemporaryDirectory directory;
  HostArray array = HostArray::zeros(ElementType::UI8, std::vector<int64_t>(30'000, 1));
  writeNpy(directory / "a", array);
  EXPECT_EQ(contentsOf(directory / "a")[6], 2);
  EXPECT_EQ(readNpy(directory / "a"), array);
}

TEST(Npy, damaged_files_are_refused) {
  std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
  std::string good = npy(header, six);
  expectHas(refusal(""),
            {"truncated", "expected 8 bytes of magic number and version at byte 0, got 0"});
  expectHas(refusal(good.substr(0, 9)), {"expected 2 bytes of header length at byte 8, got 1"});
  expectHas(refusal(good.substr(0, 50)), {"expected a header of 118 bytes, got 40"});
  expectHas(refusal(good.substr(0, 139)), {"truncated: expected 12 bytes for i16 [2, 3], got 11"});
  expectHas(refusal(good + "x"), {"has bytes after", "expected 12 bytes for i16 [2, 3], got 13"});
  expectHas(refusal("PK" + good), {"not an .npy file"});
  std::string version = good;
  version[6] = 9;
  expectHas(refusal(version), {"version 1, 2 or 3, got version 9"});
}

TEST(Npy, no_prefix_of_a_file_is_read) {
  std::string good = npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }", six);
  for (size_t size = 0; size < good.size(); ++size)
    refusal(good.substr(0, size));
}

TEST(Npy, bad_headers_are_refused) {
  auto header = [](const std::string &text) { return refusal(npy(text, six)); };
  expectHas(header("{'descr': '<i2', 'shape': (6,)}"), {"got only some of them"});
  expectHas(header("{'descr': '<i2', 'descr': '<i2'}"), {"expected 'descr' once"});
  expectHas(header("{'colour': 'red'}"), {"header, byte", "got 'colour'"});
  expectHas(header("{'descr': '<U2', 'fortran_order': False, 'shape': (6,)}"),
            {"unsupported dtype '<U2'"});
  expectHas(header("{'descr': '<c8', 'fortran_order': False, 'shape': (6,)}"),
            {"unsupported dtype '<c8'"});
  expectHas(header("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (6,)}"),
            {"got records"});
  expectHas(header("{'descr': '<i2', 'fortran_order': 0, 'shape': (6,)}"),
            {"expected True or False, got '0'"});
  expectHas(header("{'descr': '<i2', 'fortran_order': False, 'shape': (-6,)}"), {"got '-'"});
  expectHas(header("{'descr': '<i2', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
            {"expected a size"});
  expectHas(header("{'descr': '<i2', 'fortran_order': False, 'shape': (3037000500, 3037000500)}"),
            {"at most 2^60"});
  expectHas(header("{'descr': '<i2', 'fortran_order': False, 'shape': (6,)} + 1"),
            {"expected nothing after '}', got '+'"});
  expectHas(header("{'descr': '<i2"), {"expected a closing quote"});
  expectHas(header("{'descr' '<i2'}"), {"expected ':', got '''"});
  expectHas(header("{"), {"got the end of the header"});
  expectHas(refusal(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\1\2")),
            {"element 1", "expected 0 or 1, got 2"});
}

TEST(Npy, paths_that_are_no_files_are_refused) {
  TemporaryDirectory directory;
  expectHas(messageOf([&] { readNpy(directory / "none"); }), {"none'", "No such file"});
  expectHas(messageOf([&] { readNpy(directory.path.string()); }), {"got a directory"});
}
