//===- FashionTest.cpp - the training program, as a user runs it ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small set of synthetic images replaces the real one, so that a run takes
// seconds.
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Safetensors.h"
#include "heddle/nn/History.h"
#include "test/unit/support/io/Files.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <regex>
#include <sstream>
#include <thread>

using namespace heddle;
using namespace heddle::test;
using nn::EpochRecord;
using nn::History;

namespace {
/// Images of ten classes: a bright square whose position depends on the class, and noise.
void writeImages(const TemporaryDirectory &directory, const std::string &stem, int count) {
  std::string images("\0\0\x08\x03\0\0", 6), labels("\0\0\x08\x01\0\0", 6);
  for (std::string *file : {&images, &labels})
    *file += {char(count >> 8), char(count & 255)};
  images += std::string("\0\0\0\x1c\0\0\0\x1c", 8);
  uint32_t noise = 1;
  for (int i = 0; i < count; ++i) {
    int label = i * 7 % 10;
    labels += char(label);
    for (int row = 0; row < 28; ++row)
      for (int column = 0; column < 28; ++column) {
        noise = noise * 1664525 + 1013904223;
        bool inside = row / 6 == label % 4 && column / 9 == label / 4;
        images += char(inside ? 200 : (noise >> 24) / 3);
      }
  }
  directory.write(stem + "-images-idx3-ubyte", images);
  directory.write(stem + "-labels-idx1-ubyte", labels);
}

struct Outcome {
  int status = -1; ///< the exit code, or minus the signal
  std::string out, err;
};

class Fashion : public testing::Test {
protected:
  TemporaryDirectory directory;

  void SetUp() override {
    writeImages(directory, "train", 150);
    writeImages(directory, "t10k", 60);
  }

  std::vector<std::string> usual(const std::string &output) const {
    return {"--data",       directory.path,
            "--output",     directory / output,
            "--log",        directory / (output + ".log"),
            "--epochs",     "2",
            "--batch",      "32",
            "--save-every", "2"};
  }

  pid_t start(
      const std::string &program, std::vector<std::string> arguments,
      const std::function<void()> &prepare = [] {}) const {
    pid_t child = fork();
    if (child != 0)
      return child;
    prepare();
    for (auto [descriptor, name] : {std::pair(1, "out"), std::pair(2, "err")}) {
      int file = open((directory / name).c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
      dup2(file, descriptor);
    }
    std::vector<char *> words{const_cast<char *>(program.c_str())};
    for (std::string &argument : arguments)
      words.push_back(argument.data());
    words.push_back(nullptr);
    execv(program.c_str(), words.data());
    _exit(127);
  }
  Outcome wait(pid_t child) const {
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            contentsOf(directory / "out"), contentsOf(directory / "err")};
  }
  Outcome run(std::vector<std::string> arguments, const std::function<void()> &prepare = [] {}) {
    return wait(start(FASHION, std::move(arguments), prepare));
  }
  /// With further options, which come after the usual ones.
  Outcome runUsual(
      const std::string &output, std::vector<std::string> more = {},
      const std::function<void()> &prepare = [] {}) {
    std::vector<std::string> all = usual(output);
    all.insert(all.end(), more.begin(), more.end());
    return run(all, prepare);
  }
  /// The measured values of a run, which must be reproducible.
  std::vector<std::array<double, 3>> curve(const std::string &output) const {
    std::vector<std::array<double, 3>> result;
    for (const EpochRecord &record : nn::parseHistory(contentsOf(directory / (output + ".log"))))
      result.push_back(
          {record.train.at("loss"), record.test.at("loss"), record.test.at("accuracy")});
    return result;
  }
  /// The curve of an uninterrupted run on two threads.
  const std::vector<std::array<double, 3>> &wholeCurve() {
    static const auto whole = [&] {
      EXPECT_EQ(runUsual("whole", {"--threads", "2"}).status, 0);
      return curve("whole");
    }();
    return whole;
  }
};
} // namespace

TEST_F(Fashion, TrainsReportsAndClassifiesAgainWithoutTheCompiler) {
  Outcome outcome = runUsual("a", {"--rate", "0.02"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos); // no progress bar off a terminal
  History history = nn::parseHistory(contentsOf(directory / "a.log"));
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[1].epoch, 2);
  EXPECT_LT(history[1].train.at("loss"), history[0].train.at("loss"));
  EXPECT_GT(history[1].examplesPerSecond, 0);
  EXPECT_GT(history[1].peakMemoryBytes, 10 << 20);
  expectHas(contentsOf(directory / "a.log"),
            {"{\"epoch\":1,\"train_loss\":", "\"test_loss\":", "\"test_accuracy\":",
             "\"examples_per_second\":", "\"peak_memory_bytes\":"});
  std::smatch right;
  ASSERT_TRUE(std::regex_search(outcome.out, right, std::regex("the same ([0-9]+) of 60 images")))
      << outcome.out;
  EXPECT_EQ(float(std::stod(right[1]) / 60), float(history[1].test.at("accuracy")));
  Outcome again =
      wait(start(FASHION_CLASSIFY, {"--output", directory / "a", "--data", directory.path}));
  EXPECT_EQ(again.out, right[1].str() + " of 60 images right\n") << again.err;
  std::string report = contentsOf(directory / "a/report.html");
  expectHas(report, {"<svg", "training loss", "test accuracy", "<table", "data:image/png;base64,",
                     "is \\ predicted", "</html>"});
  EXPECT_EQ(report.find("<script"), std::string::npos);
  EXPECT_EQ(report.find("http"), std::string::npos) << "the report should stand alone";
}

TEST_F(Fashion, TheClassifierLinksNoCompiler) {
  std::string command = std::string("ldd ") + FASHION_CLASSIFY;
  std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
  std::string libraries;
  char line[512];
  while (fgets(line, sizeof line, pipe.get()))
    libraries += line;
  expectHas(libraries, {"libc.so"});
  EXPECT_EQ(libraries.find("LLVM"), std::string::npos) << libraries;
  EXPECT_EQ(libraries.find("MLIR"), std::string::npos) << libraries;
}

TEST_F(Fashion, TheCurveDependsOnTheSeedAndNotOnThreads) {
  ASSERT_EQ(runUsual("one", {"--threads", "1"}).status, 0);
  ASSERT_EQ(runUsual("other", {"--seed", "2"}).status, 0);
  EXPECT_EQ(curve("one").size(), 2u);
  EXPECT_EQ(curve("one"), wholeCurve());
  EXPECT_NE(curve("one"), curve("other"));
}

// 40 steps on ranks that heddle-launch starts: losses equal those of one process up to the order of
// sums. The rate is small: where an activation is near zero, the order of sums decides whether its
// gradient is zero, and a large rate makes 1 % of the loss of that within these steps.
TEST_F(Fashion, EveryStrategyTrainsAsOneProcess) {
  ASSERT_EQ(runUsual("one", {"--epochs", "8", "--rate", "0.01"}).status, 0);
  auto expected = curve("one");
  ASSERT_EQ(expected.size(), 8u);
  EXPECT_LT(expected.back()[0], 0.5 * expected.front()[0]); // the loss has fallen
  const char *strategies[] = {
      "2 --mesh data=2 --shard batch:data --zero 1", "2 --mesh data=2 --shard batch:data --zero 3",
      "2 --mesh data=2 --shard batch:data --zero 2", // micro-batches change dropout
      "4 --mesh data=2,model=2 --shard batch:data --shard net.wide/hidden:model"};
  for (const std::string strategy : strategies) {
    std::vector<std::string> all{"-n", strategy.substr(0, 1), "--no-prefix", FASHION};
    for (const std::string &word : usual(strategy))
      all.push_back(word);
    std::istringstream words(strategy.substr(2) + " --epochs 8 --rate 0.01");
    for (std::string word; words >> word;)
      all.push_back(word);
    Outcome outcome = wait(start(HEDDLE_LAUNCH, all));
    ASSERT_EQ(outcome.status, 0) << strategy << outcome.err;
    auto found = curve(strategy);
    ASSERT_EQ(found.size(), expected.size()) << strategy;
    for (size_t epoch = 0; epoch < found.size(); ++epoch)
      for (size_t i = 0; i < 2; ++i)
        EXPECT_NEAR(found[epoch][i], expected[epoch][i], 1e-4 * (expected[epoch][i] + 0.1))
            << strategy << ", epoch " << epoch + 1;
  }
}

TEST_F(Fashion, KilledAtAnyMomentARunGoesOnToTheSameCurve) {
  std::vector<std::string> arguments = usual("killed");
  arguments.push_back("--resume");
  std::filesystem::create_directory(directory / "killed");
  std::string checkpoint = directory / "killed/checkpoint.safetensors";
  // Killed while a checkpoint is being written, and right after a new one was written, alternately:
  // the run's progress decides when, not the clock.
  auto beingWritten = [&] {
    for (const auto &entry : std::filesystem::directory_iterator(directory / "killed"))
      if (entry.path().filename().string().find(".part-") != std::string::npos)
        return true;
    return false;
  };
  auto fileNumber = [&] {
    struct stat now{};
    return stat(checkpoint.c_str(), &now) == 0 ? now.st_ino : 0;
  };
  int kills = 0;
  Outcome last;
  for (int attempt = 0; kills < 4; ++attempt) {
    ino_t before = fileNumber();
    pid_t child = start(FASHION, arguments);
    siginfo_t state{};
    while (!(attempt % 2 == 0 && beingWritten()) && fileNumber() == before &&
           waitid(P_PID, id_t(child), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           state.si_pid == 0)
      std::this_thread::yield();
    kill(child, SIGKILL);
    last = wait(child);
    if (last.status < 0) {
      ++kills;
      continue;
    }
    ASSERT_EQ(last.status, 0) << last.err;
    if (kills > 0)
      break;
    // The run ended before it could be killed.
    std::filesystem::remove(checkpoint);
    std::filesystem::remove(directory / "killed.log");
  }
  if (last.status < 0)
    last = run(arguments);
  ASSERT_EQ(last.status, 0) << last.err;
  EXPECT_EQ(curve("killed"), wholeCurve());
}

TEST_F(Fashion, StoppedWithinAnEpochARunGoesOnToTheSameCurve) {
  for (const char *steps : {"3", "5", "8"}) {
    Outcome outcome = runUsual("stopped", {"--resume", "--steps", steps});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expectHas(outcome.out, {std::string("stopped after ") + steps + " steps"});
  }
  // The last run is resumed without options, except those for paths.
  Outcome outcome = run({"--data", directory.path, "--output", directory / "stopped", "--log",
                         directory / "stopped.log", "--resume"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expectHas(outcome.out, {"resuming at step 4 of epoch 2"});
  EXPECT_EQ(curve("stopped"), wholeCurve());
}

TEST_F(Fashion, EqualRunsWriteEqualFiles) {
  ASSERT_EQ(runUsual("a", {"--threads", "2"}).status, 0);
  ASSERT_EQ(runUsual("b", {"--threads", "2", "--steps", "7"}).status, 0);
  ASSERT_EQ(runUsual("b", {"--threads", "2", "--resume"}).status, 0);
  for (const char *name :
       {"checkpoint.safetensors", "classifier.safetensors", "classifier.heddle"}) {
    std::string once = contentsOf(directory / (std::string("a/") + name));
    EXPECT_FALSE(once.empty()) << name;
    EXPECT_TRUE(once == contentsOf(directory / (std::string("b/") + name))) << name;
  }
  // The log has the measurements of both processes.
  History resumed = nn::parseHistory(contentsOf(directory / "b.log"));
  ASSERT_EQ(resumed.size(), 2u);
  EXPECT_GT(resumed[0].examplesPerSecond, 0);
  EXPECT_GT(resumed[1].examplesPerSecond, 0);
}

TEST_F(Fashion, ADirectoryThatARunWritesIntoIsRefused) {
  pid_t first = start(FASHION, usual("a"));
  std::string holder = std::to_string(first);
  while (contentsOf(directory / "a/run.lock") != holder + "\n" &&
         waitpid(first, nullptr, WNOHANG) == 0)
    std::this_thread::yield();
  kill(first, SIGSTOP);
  Outcome second = runUsual("a");
  EXPECT_EQ(second.status, 1);
  expectHas(second.err,
            {"the directory '" + (directory / "a") + "' is in use by process " + holder});
  kill(first, SIGKILL);
  EXPECT_EQ(wait(first).status, -SIGKILL);
  EXPECT_EQ(runUsual("a", {"--resume"}).status, 0); // free again
}

TEST_F(Fashion, ResumeRefusesOtherOptions) {
  ASSERT_EQ(runUsual("a", {"--steps", "2"}).status, 0);
  Outcome outcome = runUsual("a", {"--resume", "--seed", "5"});
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"checkpoint.safetensors", "--seed 1", "--seed 5"});
  io::Safetensors none;
  io::writeSafetensors(directory / "a/checkpoint.safetensors", none);
  outcome = runUsual("a", {"--resume"});
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"checkpoint.safetensors", "net.first.weight"});
}

TEST_F(Fashion, ALossThatIsNoNumberNamesTheStep) {
  Outcome outcome = runUsual("a", {"--rate", "1e30"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(std::regex_search(
      outcome.err,
      std::regex("the loss is (not a number|infinite) at step [1-9][0-9]* of epoch 1")))
      << outcome.err;
}

TEST_F(Fashion, AFullDiskLeavesTheOldCheckpoint) {
  ASSERT_EQ(runUsual("a", {"--steps", "2"}).status, 0);
  std::string path = directory / "a/checkpoint.safetensors", before = contentsOf(path);
  Outcome outcome = runUsual("a", {"--resume"}, [] {
    rlimit small{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &small);
  });
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {path, "File too large"});
  EXPECT_TRUE(contentsOf(path) == before);
  ASSERT_EQ(runUsual("a", {"--resume"}).status, 0);
  EXPECT_EQ(curve("a").size(), 2u);
}

TEST_F(Fashion, BadSurroundingsAreNamed) {
  std::string file = directory.write("file", "");
  Outcome outcome = runUsual("a", {"--output", file + "/b"});
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"can't make the directory '" + file + "/b'", "Not a directory"});
  outcome = runUsual("a", {"--log", directory / "none/log"});
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"can't write '" + (directory / "none/log"), "No such file"});
  outcome = runUsual("a", {"--data", directory / "none"});
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"dataset-fashion-mnist", directory / "none"});
  std::filesystem::resize_file(directory / "train-images-idx3-ubyte", 5000);
  outcome = runUsual("a");
  EXPECT_EQ(outcome.status, 1);
  expectHas(outcome.err, {"train-images-idx3-ubyte", "truncated"});
}

TEST_F(Fashion, BadOptionsAreNamed) {
  Outcome outcome = run({"--epochs", "many"});
  EXPECT_NE(outcome.status, 0);
  expectHas(outcome.err + outcome.out, {"--epochs", "many"});
  outcome = run({"--frobnicate"});
  EXPECT_NE(outcome.status, 0);
  expectHas(outcome.err + outcome.out, {"--frobnicate"});
  outcome = run({"--help"});
  EXPECT_EQ(outcome.status, 0);
  expectHas(outcome.out,
            {"--epochs", "--batch", "--seed", "--threads", "--resume", "--log", "--help"});
}

TEST_F(Fashion, OnATerminalThereIsAProgressBar) {
  int terminal = -1;
  winsize size{24, 120, 0, 0};
  pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0)
    GTEST_SKIP() << "no pseudo-terminal can be had here";
  if (child == 0) {
    execl(FASHION, FASHION, "--data", directory.path.c_str(), "--output", (directory / "a").c_str(),
          "--batch", "32", "--epochs", "1", nullptr);
    _exit(127);
  }
  std::string text;
  char part[4096];
  for (ssize_t got; (got = read(terminal, part, sizeof part)) > 0;)
    text.append(part, size_t(got));
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::regex_search(text, std::regex("epoch 1/1 \\[#*\\.*\\] +[0-9]+/5  loss [0-9.]+  "
                                                 "accuracy [0-9.]+ %  [0-9]+ images/s")))
      << text;
}
