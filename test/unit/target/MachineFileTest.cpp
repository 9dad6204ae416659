//===- MachineFileTest.cpp - measured facts of a machine ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/MachineFile.h"

#include <gtest/gtest.h>

using namespace heddle;

/// "line: message", or empty if the text is valid.
static std::string mistakeIn(const std::string &text) {
  MachineFileError error;
  if (parseMachineFile(text, error))
    return "";
  return std::to_string(error.line) + ": " + error.message;
}

static std::string withFacts(const std::string &facts) {
  return "{\"heddle_machine\": 1,\n\"facts\": {\n" + facts + "\n}}";
}

TEST(MachineFile, FactsAreRatesAndSizesOfCaches) {
  MachineFileError error;
  auto facts =
      parseMachineFile(withFacts("\"memory_cycles_per_byte\": 0.25,\n\"l1_bytes\": 32768"), error);
  ASSERT_TRUE(facts) << error.message;
  using Facts = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(facts->values, (Facts{{"l1_bytes", 32768}, {"memory_cycles_per_byte", 0.25}}));
  EXPECT_EQ(mistakeIn("{\"heddle_machine\": 1}"), "");
  EXPECT_EQ(mistakeIn("{\"measured\": {\"a\": {\"a\": 1}}, \"cpu\": \"x\", \"heddle_machine\": 1}"),
            "");
}

TEST(MachineFile, MistakesHaveLines) {
  EXPECT_EQ(mistakeIn(withFacts("\"l1_bytes\": 32768,\n\"speed\": 3")), "4: unknown fact 'speed'");
  EXPECT_EQ(mistakeIn(withFacts("\"vector_bytes\": 64")), "3: unknown fact 'vector_bytes'");
  EXPECT_EQ(mistakeIn(withFacts("\"l2_cycles_per_byte\": 1,\n\n\"load_cycles\": \"0.5\"")),
            "5: expected a number for 'load_cycles', got \"0.5\"");
  EXPECT_EQ(mistakeIn(withFacts("\"load_cycles\": null")),
            "3: expected a number for 'load_cycles', got null");
  EXPECT_EQ(mistakeIn(withFacts("\"load_cycles\": 0")),
            "3: expected a number from 1e-15 to 1e+15 for 'load_cycles', got 0");
  EXPECT_EQ(mistakeIn(withFacts("\"load_cycles\": -2.5")),
            "3: expected a number from 1e-15 to 1e+15 for 'load_cycles', got -2.5");
  EXPECT_EQ(mistakeIn(withFacts("\"load_cycles\": 1e300")),
            "3: expected a number from 1e-15 to 1e+15 for 'load_cycles', got 1e+300");
  EXPECT_EQ(mistakeIn(withFacts("\"l2_bytes\": 0.5")),
            "3: expected a number from 1024 to 1e+15 for 'l2_bytes', got 0.5");
  EXPECT_EQ(mistakeIn(withFacts("\"load_cycles\": 1,\n\"load_cycles\": 2")),
            "4: 'load_cycles' occurs twice");
  EXPECT_EQ(mistakeIn("{\"heddle_machine\": 1,\n\"fact\": {}}"),
            "2: unknown key 'fact', expected 'cpu', 'facts' or 'measured'");
  EXPECT_EQ(mistakeIn("{\"heddle_machine\": 1,\n\n\"facts\": [1]}"),
            "3: expected an object for 'facts', got [1]");
  EXPECT_EQ(mistakeIn("{\n\"heddle_machine\": 2}"),
            "2: expected \"heddle_machine\": 1 in a file of heddle-probe, got 2");
  EXPECT_EQ(mistakeIn("{}"),
            "1: expected \"heddle_machine\": 1 in a file of heddle-probe, got none");
  EXPECT_EQ(mistakeIn("[]"), "1: expected an object of facts");
}

TEST(MachineFile, CutAndDamagedFilesAreRefused) {
  std::string text = withFacts("\"load_cycles\": 0.5");
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(mistakeIn(text.substr(0, length)).find("malformed JSON: "), std::string::npos)
        << length;
  EXPECT_TRUE(mistakeIn(text.substr(0, 30)).starts_with("2: malformed JSON: "));
  EXPECT_EQ(mistakeIn(withFacts("\"load_cycles\": 1e999")).substr(0, 20), "3: malformed JSON: n");
  EXPECT_NE(mistakeIn("{\"heddle_machine\": 1, \"cpu\": \"\xff\"}"), "");
  EXPECT_NE(mistakeIn(std::string(100000, '[')).find("at most 8 levels"), std::string::npos);
}
