//===- RendezvousTest.cpp - processes meet by files -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/base/Rendezvous.h"

#include "heddle/Error.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace heddle;

static std::string pathOf(const std::string &name) {
  return testing::TempDir() + "heddle-" + std::to_string(getpid()) + "." + name;
}

TEST(Rendezvous, FilesAreThereUntilTheirOwnerWithdraws) {
  std::string path = pathOf("met");
  EXPECT_FALSE(Rendezvous::find(path));
  {
    Rendezvous mine;
    mine.publish(path, "first");
    mine.publish(path, "second");
    EXPECT_EQ(Rendezvous::find(path), "second");
    mine.withdraw();
    EXPECT_FALSE(Rendezvous::find(path));
    mine.publish(path, "third");
  }
  EXPECT_FALSE(Rendezvous::find(path));
}

TEST(Rendezvous, FilesOfOthersAreRefused) {
  std::string path = pathOf("open"), link = pathOf("link");
  Rendezvous mine;
  mine.publish(path, "text");
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  EXPECT_THROW((void)Rendezvous::find(path), Error);
  std::filesystem::permissions(path, std::filesystem::perms(0600));
  std::filesystem::create_symlink(path, link);
  EXPECT_THROW((void)Rendezvous::find(link), Error);
  std::filesystem::remove(link);
}

TEST(Rendezvous, WhatCouldNotBeWrittenIsNotRemoved) {
  std::string path = pathOf("folder");
  std::filesystem::create_directory(path);
  {
    Rendezvous mine;
    EXPECT_THROW(mine.publish(path, "text"), Error);
    EXPECT_FALSE(mine.hasPublished());
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
}
