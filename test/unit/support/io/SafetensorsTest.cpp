//===- SafetensorsTest.cpp - named arrays in one file ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Safetensors.h"

#include "Files.h"

#include <sys/resource.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::io;
using namespace heddle::test;
using namespace std::string_literals;

static std::string withLength(const std::string &header, const std::string &data,
                              int64_t length = -1) {
  std::string file;
  for (int i = 0; i < 8; ++i)
    file.push_back(char((length < 0 ? int64_t(header.size()) : length) >> (8 * i)));
  return file + header + data;
}
static Safetensors parse(const std::string &bytes) {
  TemporaryDirectory directory;
  return readSafetensors(directory.write("a.safetensors", bytes));
}
static std::string refusal(const std::string &header, const std::string &data = "") {
  std::string text = messageOf([&] { parse(withLength(header, data)); });
  expectHas(text, {"a.safetensors'"});
  return text;
}

// As the reference implementation writes it.
static const std::string reference =
    withLength(R"({"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
               R"("b":{"dtype":"U8","shape":[2],"data_offsets":[12,14]},)"
               R"("c":{"dtype":"BOOL","shape":[],"data_offsets":[14,15]}}   )",
               "\0\0\0\0\0\0\x80?\0\0\0@\1\2\1"s);

static Safetensors example() {
  Safetensors contents;
  contents.arrays["w"] = HostArray::of<float>({0, 1, 2}, {3});
  contents.arrays["b"] = HostArray::of<uint8_t>({1, 2}, {2});
  contents.arrays["c"] = HostArray::of<bool>({true}, {});
  contents.metadata["k"] = "v";
  return contents;
}

TEST(Safetensors, file_of_the_reference_implementation_is_read) {
  Safetensors contents = parse(reference);
  EXPECT_EQ(contents.arrays, example().arrays);
  EXPECT_EQ(contents.metadata, example().metadata);
}

TEST(Safetensors, written_bytes_are_those_of_the_reference_implementation) {
  TemporaryDirectory directory;
  writeSafetensors(directory / "a", example());
  EXPECT_EQ(contentsOf(directory / "a"), reference);
}

TEST(Safetensors, every_element_type_comes_back_aligned) {
  TemporaryDirectory directory;
  Safetensors contents;
  for (int type = 0; type <= int(ElementType::F8E5M2); ++type)
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {3, 5}, {7, 0}, {1}}) {
      HostArray array = HostArray::zeros(ElementType(type), shape);
      for (size_t i = 0; i < array.bytes.size(); ++i)
        array.bytes[i] = std::byte(array.element == ElementType::I1 ? i % 2 : i * 37);
      contents.arrays["array \"" + array.describe() + "\""] = array;
    }
  writeSafetensors(directory / "a", contents);
  EXPECT_EQ(readSafetensors(directory / "a").arrays, contents.arrays);
  EXPECT_EQ(contentsOf(directory / "a")[0] % 8, 0);
}

TEST(Safetensors, names_of_axes_come_back_and_are_no_metadata) {
  TemporaryDirectory directory;
  Safetensors contents;
  contents.arrays["w"] = HostArray::of<float>({1, 2}, {1, 2}, {"in", "out$1"});
  contents.metadata["epoch"] = "3";
  writeSafetensors(directory / "a", contents);
  EXPECT_NE(contentsOf(directory / "a").find(R"("names:w":"in,out$1")"), std::string::npos);
  Safetensors back = readSafetensors(directory / "a");
  EXPECT_EQ(back.arrays, contents.arrays);
  EXPECT_EQ(back.metadata, contents.metadata);
}

TEST(Safetensors, a_changed_byte_is_noticed_where_there_are_checksums) {
  TemporaryDirectory directory;
  Safetensors contents = example();
  contents.arrays["large"] = HostArray::zeros(ElementType::F64, {300'000}); // of several pieces
  contents.checksums = true;
  writeSafetensors(directory / "a", contents);
  Safetensors back = readSafetensors(directory / "a");
  EXPECT_EQ(back.arrays, contents.arrays);
  EXPECT_EQ(back.metadata, contents.metadata);
  EXPECT_TRUE(back.checksums);
  std::string bytes = contentsOf(directory / "a"); // whose last three are those of b and c
  bytes[bytes.size() - 2] = 6;
  std::string path = directory.write("a", bytes);
  expectHas(messageOf([&] { readSafetensors(path); }),
            {path, "array 'b' is damaged: expected the checksum b6cc4292, got b1a1868b"});
  EXPECT_EQ(SafetensorsFile(path).read("w"), contents.at("w"));
  bytes[bytes.size() - 2] = 2;
  bytes[bytes.size() - 20] = 1; // the last element of the large one
  expectHas(messageOf([&] { readSafetensors(directory.write("a", bytes)); }),
            {"array 'large' is damaged"});
}

TEST(Safetensors, changed_texts_are_noticed_where_there_are_checksums) {
  TemporaryDirectory directory;
  std::string path = directory / "a.safetensors";
  io::Safetensors file;
  file.checksums = true;
  file.metadata = {{"step", "5"}, {"epoch", "1"}};
  file.arrays.emplace("w", io::HostArray::of<float>({1, 2}, {2}, {"n"}));
  io::writeSafetensors(path, file);
  EXPECT_EQ(io::readSafetensors(path).metadata, file.metadata);
  std::string whole = contentsOf(path), changed = whole;
  size_t at = whole.find("\"step\":\"5\"");
  ASSERT_NE(at, whole.npos);
  changed[at + 8] = '4';
  directory.write("a.safetensors", changed);
  expectHas(messageOf([&] { io::readSafetensors(path); }),
            {path, "metadata: expected the checksum", "the file is damaged"});
}

TEST(Safetensors, checksums_that_do_not_fit_are_refused) {
  auto with = [](const std::string &checksums) {
    return withLength(R"({"__metadata__":{"heddle.crc32":")" + checksums +
                          R"("},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                      "\1\2");
  };
  EXPECT_EQ(parse(with("b6cc4292")).at("a"), HostArray::of<uint8_t>({1, 2}, {2}));
  EXPECT_EQ(parse(with("         ")).at("a"), HostArray::of<uint8_t>({1, 2}, {2})); // of a pipe
  expectHas(messageOf([&] { parse(with("b6cc4292 00000000")); }),
            {"expected 1 checksums, one for each array, got 2"});
}

TEST(Safetensors, empty_file_comes_back) {
  TemporaryDirectory directory;
  writeSafetensors(directory / "a", {});
  EXPECT_TRUE(readSafetensors(directory / "a").arrays.empty());
  EXPECT_EQ(contentsOf(directory / "a"), withLength("{}      ", ""));
}

TEST(Safetensors, missing_array_is_named) {
  expectHas(messageOf([] { (void)example().at("weight"); }), {"no array 'weight'", "b, c, w"});
  EXPECT_EQ(example().at("b").count(), 2);
}

TEST(Safetensors, no_prefix_of_a_file_is_read) {
  for (size_t size = 0; size < reference.size(); ++size)
    messageOf([&] { parse(reference.substr(0, size)); });
  expectHas(messageOf([] { parse(reference.substr(0, reference.size() - 1)); }),
            {"truncated: expected 15 bytes of data, got 14"});
  expectHas(messageOf([] { parse(reference + "x"); }),
            {"has bytes after", "expected 15", "got 16"});
}

TEST(Safetensors, wrong_header_lengths_are_refused) {
  expectHas(messageOf([] { parse("abc"); }), {"expected 8 bytes of header length", "got 3"});
  expectHas(messageOf([] { parse(withLength("{}", "", INT64_MAX)); }),
            {"expected a header of 9223372036854775807 bytes, got 2"});
  expectHas(messageOf([] { parse(std::string(16, '\xff')); }), {"18446744073709551615"});
}

TEST(Safetensors, malformed_headers_are_refused) {
  expectHas(refusal(""), {"header:"});
  expectHas(refusal("[]"), {"expected an object"});
  expectHas(refusal("{\"a\": "), {"header:", "parse error"});
  expectHas(refusal("{} x"), {"parse error"});
  expectHas(refusal("{\"\xff\": 1}"), {"UTF-8"});
  expectHas(refusal(std::string(100'000, '[')), {"at most 16 levels"});
  expectHas(refusal(R"({"a": 3})"), {"array 'a': expected a \"dtype\"", "got 3"});
  expectHas(refusal(R"({"a": {"dtype": "F32", "shape": [1]}})"), {"two \"data_offsets\""});
  expectHas(refusal(R"({"a": {"dtype": "F32", "shape": [1.5], "data_offsets": [0, 4]}})"),
            {"\"shape\" of sizes"});
  expectHas(refusal(R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})"),
            {"\"shape\" of sizes"});
  expectHas(refusal(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]}})"),
            {"two \"data_offsets\""});
  expectHas(refusal(R"({"a": {"dtype": "F8_E8M0", "shape": [1], "data_offsets": [0, 1]}})", "x"),
            {"array 'a'", "unsupported dtype 'F8_E8M0'"});
  expectHas(refusal(R"({"__metadata__": [], "a": 1})"), {"__metadata__"});
  expectHas(refusal(R"({"__metadata__": {"k": 1}})"), {"text as metadata 'k', got 1"});
}

TEST(Safetensors, duplicate_names_are_refused) {
  std::string entry = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  expectHas(refusal("{\"a\":" + entry + ",\"a\":" + entry + "}", "x"), {"expected 'a' once"});
  expectHas(refusal(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", "x"),
            {"expected 'dtype' once"});
  expectHas(refusal(R"({"__metadata__":{"k":"1","k":"2"}})"), {"expected 'k' once"});
}

TEST(Safetensors, offsets_must_fit_sizes_and_tile_the_data) {
  auto u8 = [](const std::string &name, int64_t size, int64_t begin, int64_t end) {
    return "\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(size) +
           "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
  };
  expectHas(refusal("{" + u8("a", 3, 0, 2) + "}", "xx"),
            {"array 'a': expected 3 bytes for ui8 [3], got offsets 0 to 2"});
  expectHas(refusal("{" + u8("a", 2, 2, 0) + "}", "xx"), {"got offsets 2 to 0"});
  expectHas(refusal("{" + u8("a", 2, 0, 2) + "," + u8("b", 2, 1, 3) + "}", "xxx"),
            {"array 'b'", "at offset 2", "got 1 (an overlap)"});
  expectHas(refusal("{" + u8("a", 1, 0, 1) + "," + u8("b", 1, 2, 3) + "}", "xxx"),
            {"array 'b'", "at offset 1", "got 2 (a gap)"});
  expectHas(refusal("{" + u8("a", 2, 0, 2) + "}", "xxx"), {"has bytes after its data"});
  expectHas(refusal("{" + u8("a", 4, 0, 4) + "}", "xxx"), {"truncated"});
  expectHas(
      refusal(R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})"),
      {"array 'a'", "at most 2^60"});
}

TEST(Safetensors, names_of_axes_must_fit) {
  auto named = [](const std::string &key, const std::string &names) {
    return refusal("{\"__metadata__\":{\"" + key + "\":\"" + names + "\"}," +
                       R"("a":{"dtype":"U8","shape":[1,1],"data_offsets":[0,1]}})",
                   "x");
  };
  expectHas(named("names:a", "row"), {"array 'a': expected 2 different names", "got 'row'"});
  expectHas(named("names:a", "row,row"), {"got 'row,row'"});
  expectHas(named("names:a", "row,3"), {"got 'row,3'"});
  expectHas(named("names:b", "row"), {"'names:b'", "missing"});
}

TEST(Safetensors, contents_that_no_file_can_hold_are_refused) {
  TemporaryDirectory directory;
  auto refused = [&](Safetensors contents) {
    std::string text = messageOf([&] { writeSafetensors(directory / "a", contents); });
    EXPECT_EQ(directory.entries(), 0u);
    return text;
  };
  HostArray one = HostArray::of<uint8_t>({1}, {1});
  expectHas(refused({{{"__metadata__", one}}, {}}), {"is reserved"});
  expectHas(refused({{}, {{"names:a", "b"}}}), {"are reserved"});
  expectHas(refused({{}, {{"heddle.crc32", "b"}}}), {"are reserved"});
  expectHas(refused({{{"\xff", one}}, {}}), {"UTF-8"});
  expectHas(refused({{{"a", HostArray::of<uint8_t>({1}, {1}, {"a,b"})}}, {}}), {"got 'a,b'"});
}

TEST(Safetensors, deep_headers_are_refused) {
  std::string open(1 << 20, '['), close(1 << 20, ']');
  expectHas(refusal("{\"w\":" + open + close + "}"), {"expected at most 16 levels of brackets"});
  expectHas(refusal("{\"__metadata__\":{\"k\":" + open + close + "}}"), {"at most 16 levels"});
}

#ifndef __SANITIZE_ADDRESS__ // which ends the process instead
TEST(Safetensors, arrays_larger_than_memory_are_refused) {
  TemporaryDirectory directory;
  std::string path = directory.write(
      "a.safetensors",
      withLength(
          R"({"w":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}})", ""));
  // A sparse file: it has the full size without occupying disk space.
  if (truncate(path.c_str(), std::filesystem::file_size(path) + (int64_t(1) << 42)) != 0)
    GTEST_SKIP() << "no such large files here";
  rlimit old, small;
  getrlimit(RLIMIT_AS, &old);
  small = {rlim_t(1) << 41, old.rlim_max};
  setrlimit(RLIMIT_AS, &small);
  std::string message = messageOf([&] { readSafetensors(path); });
  setrlimit(RLIMIT_AS, &old);
  expectHas(message, {"no memory for the 4398046511104 bytes of array 'w'"});
}
#endif
