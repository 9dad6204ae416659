//===- TrainerFiles.cpp - the files of a trainer --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/AtomicFile.h"
#include "heddle/io/ShardDirectory.h"
#include "lib/nn/Report.h"
#include "lib/nn/TrainerRun.h"
#include "lib/profile/ArenaPicture.h"
#include "runtime/program/Program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <regex>
#include <unistd.h>

using namespace heddle;
using namespace heddle::nn;

std::string nn::inWords(const Values &values, const char *separator) {
  std::string text;
  if (auto loss = values.find("loss"); loss != values.end())
    text = "loss " + shown("loss", loss->second);
  for (const auto &[name, value] : values)
    if (name != "loss")
      text += separator + name + " " + shown(name, value);
  return text;
}

/// The names of the files that a run writes into its output directory, except its log.
static constexpr std::array leftFiles{
    "checkpoint.safetensors", "checkpoint.shards", "best.safetensors", "report.html",
    "train.heddle",           "accumulate.heddle", "update.heddle"};
/// Files in the output directory that only a run in progress uses.
static constexpr std::array lockFiles{"run.lock", "best.shards"};

/// Returns true for a temporary file (see AtomicFile) of a run that was killed while it wrote.
static bool isPartOfSaved(const std::string &file) {
  static const std::regex part("(checkpoint|best)\\.safetensors\\.part-[0-9]+-[0-9]+");
  return std::regex_match(file, part);
}

/// The absolute path; its last parts need not exist.
static std::filesystem::path resolved(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
}

/// Throws Error if `path`, chosen by the user, is a file that the run writes for another purpose.
void AnyTrainer::Run::requireOwnFile(const std::string &path, const char *what, Here here) const {
  namespace fs = std::filesystem;
  fs::path given = resolved(path);
  std::string name = given.filename();
  bool isTaken = std::ranges::find(lockFiles, name) != lockFiles.end() ||
                 std::ranges::find(leftFiles, name) != leftFiles.end();
  if (isTaken && given.parent_path() == resolved(options.output))
    throw Error(std::string("expected a file of its own for ") + what + ", got '" + path +
                    "', which the run writes itself",
                here);
}

/// Throws Error if the user's file can't be written, as far as can be checked without changing it.
/// The output directory and its parents are created later.
void AnyTrainer::Run::requireWritable(const std::string &path, Here here) const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path folder = resolved(path).parent_path(), output = resolved(options.output);
  bool isMade = std::ranges::mismatch(folder, output).in1 ==
                folder.end(); // the output directory or a parent of it
  int problem = 0;
  if (fs::is_directory(path, ignored))
    problem = EISDIR;
  else if (fs::exists(path, ignored)) // a device or a pipe as well
    problem = access(path.c_str(), W_OK) == 0 ? 0 : errno;
  else if (fs::exists(folder, ignored) || !isMade)
    problem = access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  if (problem)
    throw Error("can't write '" + path + "': " + std::strerror(problem), here);
}

void AnyTrainer::Run::openOutput(Here here) {
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error)
    throw Error("can't make the directory '" + options.output + "': " + error.message(), here);
  if (access(options.output.c_str(), W_OK) != 0)
    throw Error("can't write into the directory '" + options.output + "': " + std::strerror(errno),
                here);
  auto requireNoLink = [&](const char *name) {
    if (std::filesystem::is_symlink(file(name), error))
      throw Error("expected a regular file, got the symbolic link '" + file(name) +
                      "', whose target would be overwritten",
                  here);
  };
  std::ranges::for_each(lockFiles, requireNoLink);
  std::ranges::for_each(leftFiles, requireNoLink);
  lock.emplace(options.output, here);
  // The first save of a run on several ranks was interrupted, or the manifest was removed.
  std::string shards = file("checkpoint.shards");
  if (saves() && options.resume && std::filesystem::is_directory(shards, error) &&
      !std::filesystem::is_empty(shards, error) && !io::isShardDirectory(shards)) {
    print("'" + shards + "' has no manifest and can't be resumed");
    moveAside({"checkpoint.shards"}, here);
  }
  for (const char *name : {"checkpoint.safetensors", "best.safetensors"})
    if (saves() && std::filesystem::is_directory(file(name)))
      throw Error("expected a file, got the directory '" + file(name) + "'", here);
}

/// Moves the files of an earlier run aside. Called after all checks of this run.
void AnyTrainer::Run::keepEarlierRun(Here here) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(options.output, ignored))
    if (isPartOfSaved(entry.path().filename()))
      fs::remove(entry.path(), ignored);
  if (!saves() || options.resume)
    return;
  fs::path output = options.output, log = options.log;
  auto isThere = [&](const char *name) { return fs::exists(output / name); };
  if (std::ranges::none_of(leftFiles, isThere))
    return;
  std::vector<fs::path> names(leftFiles.begin(), leftFiles.end());
  std::error_code isElsewhere;
  if (fs::equivalent(log.parent_path(), output, isElsewhere))
    names.push_back(log.filename());
  moveAside(std::move(names), here);
}

/// Moves files of the output directory into a new subdirectory.
void AnyTrainer::Run::moveAside(std::vector<std::filesystem::path> names, Here here) {
  namespace fs = std::filesystem;
  fs::path output = options.output, aside;
  std::error_code error;
  for (int i = 1; aside.empty() || fs::exists(aside); ++i)
    aside = output / ("earlier-" + std::to_string(i));
  fs::create_directory(aside, error);
  for (const fs::path &name : names)
    if (!error && fs::exists(output / name))
      fs::rename(output / name, aside / name, error);
  if (error)
    throw Error("can't move the files of an earlier run to '" + aside.string() +
                    "': " + error.message(),
                here);
  print("moved the files of an earlier run to '" + aside.string() + "'");
}

void AnyTrainer::Run::endTimeline(Here here) {
  measured = timeline->profile()->rows();
  timeline->record(false);
  if (!options.timeline.empty())
    timeline->write(options.timeline, ranks.isSplit() ? ranks.ranks() : Ranks(), here);
  timeline.reset();
}

/// Pictures of the memory plans of the programs that a step runs, for each of their roles. Writes
/// the program files; empty if this process has not trained.
std::string AnyTrainer::Run::arenaPictures(Here here) {
  std::string pictures;
  auto add = [&](const char *name, auto &function, auto &...arguments) {
    std::string program = file(name);
    function.save(program, state, arguments..., here);
    pictures += arenaPicture(Program::load(program)->manifest());
  };
  if (!lastFields)
    return "";
  if (step)
    add("train.heddle", *step, *lastFields, training.rate);
  if (stepInParts)
    add("train.heddle", *stepInParts, lastParts, training.rate);
  if (accumulate) {
    add("accumulate.heddle", *accumulate, sum, *lastFields);
    add("update.heddle", *update, sum, training.rate);
  }
  return pictures;
}

void AnyTrainer::report(const std::string &title, const std::string &sections, Here here) {
  if (!run->writes())
    throw Error("expected an output directory for the report", here);
  if (!run->ranks.speaks())
    return;
  ReportParts parts{title,         "", run->history, run->logged, run->measured,
                    run->recorded, "", sections};
  if (run->history.empty() && !run->logged.empty()) {
    const StepRecord &last = run->logged.back();
    parts.summary =
        std::to_string(last.step) + " steps; the last one has " + inWords(last.train, ", ") + ".";
  } else if (!run->history.empty()) {
    const EpochRecord &last = run->history.back();
    const EpochRecord &top = run->history[size_t(std::max<int64_t>(0, run->best()))];
    char speed[96];
    snprintf(speed, sizeof speed, ", %.0f %s a second, %.0f MiB of memory at most",
             last.examplesPerSecond, run->options.unit.c_str(),
             double(last.peakMemoryBytes) / (1 << 20));
    parts.summary = std::to_string(last.epoch) + " epochs; the best one is " +
                    std::to_string(top.epoch) + ": " +
                    inWords(top.test.empty() ? top.train : top.test, ", ") + speed + ".";
  }
  try {
    parts.plan = run->arenaPictures(here);
  } catch (const Error &error) { // for example, the loss captures tensors
    run->print(std::string("can't write a program file of the step: ") + error.what());
    parts.sections = "<p>There is no memory plan of the step: " + escapedForHtml(error.what()) +
                     "</p>" + parts.sections;
  }
  io::writeFileAtomically(
      run->file("report.html"), [&](io::FileSink &sink) { sink.write(reportPage(parts)); }, here);
}
