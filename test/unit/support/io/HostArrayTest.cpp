//===- HostArrayTest.cpp - dense arrays -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/HostArray.h"

#include "Files.h"

using namespace heddle;
using namespace heddle::io;
using namespace heddle::test;

TEST(HostArray, values_are_row_major) {
  auto array = HostArray::of<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3}, {"row", "column"});
  EXPECT_EQ(array.element, ElementType::I32);
  EXPECT_EQ(array.count(), 6);
  EXPECT_EQ(array.bytes.size(), 24u);
  EXPECT_EQ(array.values<int32_t>()[4], 5);
  EXPECT_EQ(array.describe(), "i32 [row: 2, column: 3]");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.bytes.data()) % 64, 0u);
}

TEST(HostArray, scalars_and_empty_arrays_have_one_and_no_element) {
  EXPECT_EQ(HostArray().count(), 1);
  EXPECT_EQ(HostArray().values<float>()[0], 0.0f);
  EXPECT_EQ(HostArray::zeros(ElementType::F64, {}).bytes.size(), 8u);
  EXPECT_EQ(HostArray::zeros(ElementType::F64, {3, 0}).bytes.size(), 0u);
  EXPECT_EQ(HostArray::zeros(ElementType::F64, {INT64_MAX, 0, INT64_MAX}).count(), 0);
}

TEST(HostArray, mistakes_are_errors) {
  expectHas(messageOf([] { HostArray::of<float>({1, 2, 3}, {2, 2}); }),
            {"expected 4 values", "f32 [2, 2]", "got 3"});
  expectHas(messageOf([] { HostArray::zeros(ElementType::F32, {2, 2}, {"row"}); }),
            {"a name for each of 2 axes, got 1"});
  expectHas(messageOf([] { HostArray::zeros(ElementType::F32, {2, -1}); }), {"got -1"});
  expectHas(messageOf([] { HostArray::zeros(ElementType::F32, {INT64_MAX, INT64_MAX}); }),
            {"at most 2^60"});
  expectHas(messageOf([] { HostArray::of<float>({1}, {}).values<double>(); }),
            {"expected elements of type f64, got f32 []"});
}

TEST(HostArray, mistakes_name_their_source_location) {
  auto expectLine = [](int line, auto action) {
    expectHas(messageOf(action), {std::string(__FILE__) + ":" + std::to_string(line) + ":"});
  };
  HostArray array;
  expectLine(__LINE__, [&] { array.values<double>(); });
  expectLine(__LINE__, [&] { HostArray::zeros(ElementType::F32, {-1}); });
  expectLine(__LINE__, [&] { HostArray::zeros(ElementType::F32, {1}, {"a", "b"}); });
  expectLine(__LINE__, [&] { HostArray::of<float>({1, 2}, {3}); });
}
