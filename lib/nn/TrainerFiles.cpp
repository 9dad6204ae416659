//===- TrainerFiles.cpp - the files of a trainer --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/AtomicFile.h"
#include "heddle/io/ShardDirectory.h"
#include "lib/nn/Report.h"
#include "lib/nn/ShardedCheckpoint.h"
#include "lib/nn/TrainerRun.h"
#include "lib/profile/ArenaPicture.h"
#include "runtime/program/Program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sys/stat.h>
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

/// Returns true if the log is a regular file that the process may truncate. It must not truncate
/// the file behind its standard output, which /dev/stdout names.
bool AnyTrainer::Run::isLogToRewrite() const {
  struct stat log, other;
  if (stat(options.log.c_str(), &log) != 0 || !S_ISREG(log.st_mode))
    return false;
  for (int descriptor : {STDOUT_FILENO, STDERR_FILENO})
    if (fstat(descriptor, &other) == 0 && log.st_dev == other.st_dev && log.st_ino == other.st_ino)
      return false;
  return true;
}

/// Opens a log to append to it. A pipe without a reader is an error, since opening it would block.
static FILE *openedLog(const std::string &path, Here here) {
  int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0)
    throw Error("can't write '" + path + "': " +
                    (errno == ENXIO ? "it is a pipe that no process reads" : std::strerror(errno)),
                here);
  fcntl(descriptor, F_SETFL, O_APPEND); // writes block until the reader reads
  return fdopen(descriptor, "a");
}

void AnyTrainer::Run::requireLog(Here here) {
  requireOwnFile(options.log, "the log", here);
  requireWritable(options.log, here);
  std::error_code ignored;
  if (std::filesystem::is_fifo(options.log,
                               ignored)) // a reader would see the end of the file if it were closed
    log.reset(openedLog(options.log, here));
  if (!isLogToRewrite())
    return;
  std::ifstream before(options.log);
  if (before && !(before >> std::ws).eof() && before.peek() != '{')
    throw Error("expected a log of training, which is overwritten, or a new file, got '" +
                    options.log + "', which does not begin with '{'",
                here);
}

void AnyTrainer::Run::openLog(Here here) {
  keepMeasurements();
  if (!log) // truncated when the first line is written
    log.reset(openedLog(options.log, here));
}

/// The complete lines of the log of a run that is resumed; empty if there is no log.
std::string AnyTrainer::Run::logOfResumed() const {
  std::error_code ignored;
  if (resumed.empty() || !std::filesystem::is_regular_file(options.log, ignored))
    return "";
  std::ifstream file(options.log);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.substr(0, text.rfind('\n') + 1); // the last line may be incomplete
}

/// Takes the measurements of earlier epochs of a resumed run from its log, since checkpoints do not
/// have them. Without a readable log there are none.
void AnyTrainer::Run::keepMeasurements() {
  try {
    for (const EpochRecord &old : parseHistory(logOfResumed(), Here()))
      if (auto i = size_t(old.epoch - 1);
          i < history.size() && history[i].json(false) == old.json(false))
        history[i] = old;
  } catch (const Error &) {
  }
}

/// Takes the steps up to the checkpoint from the log of a resumed run; later ones are computed
/// again. A step that was logged only because a run ended there is dropped, as it is no multiple of
/// logEvery.
void AnyTrainer::Run::keepSteps() {
  if (!logged.empty() || options.logEvery == 0)
    return;
  try {
    for (const StepRecord &old : parseSteps(logOfResumed(), Here()))
      if (old.step > 0 && old.step <= done() && old.step % options.logEvery == 0 &&
          old.epoch == (old.step - 1) / batches + 1)
        logged.push_back(old);
  } catch (const Error &) {
  }
}

void AnyTrainer::Run::endTimeline(Here here) {
  measured = timeline->profile()->rows();
  timeline->record(false);
  if (!options.timeline.empty())
    timeline->write(options.timeline, ranks.isSplit() ? ranks.ranks() : Ranks(), here);
  timeline.reset();
}

/// Appends a line to the log; before the first one writes the lines of the run so far.
void AnyTrainer::Run::writeLog(const std::string &line, Here here) {
  if (!log)
    return;
  bool isRewritten = !isLogBegun && isLogToRewrite();
  std::string text = isRewritten ? toText(history, /*measured=*/true, logged) : line + "\n";
  if (isRewritten && ftruncate(fileno(log.get()), 0) != 0)
    throw Error("can't write '" + options.log + "': " + std::strerror(errno), here);
  isLogBegun = true;
  if (fputs(text.c_str(), log.get()) < 0 || fflush(log.get()) != 0)
    throw Error("can't write '" + options.log + "': " + std::strerror(errno), here);
}

void AnyTrainer::Run::logStep(const StepRecord &record, Here here) {
  logged.push_back(record);
  writeLog(record.json(), here);
}

/// The settings on which the results of a run depend, as notes.
Notes AnyTrainer::Run::determinants() const {
  Notes notes = options.notes;
  notes["batch"] = std::to_string(training.batch);
  notes["seed"] = std::to_string(training.seed);
  notes["rate"] = exact(training.rate);
  notes["clip"] = exact(training.clip);
  notes["clip-by-value"] = exact(training.clipByValue);
  notes["average"] = exact(training.average);
  notes["last"] = std::to_string(int(training.last));
  notes["plateau"] = "none";
  if (const auto &plateau = training.plateau)
    notes["plateau"] = exact(plateau->factor) + " " + std::to_string(plateau->patience) + " " +
                       exact(plateau->threshold) + " " + exact(plateau->least);
  notes["optimizer"] = describe(training.optimizer);
  notes["similar"] = std::to_string(training.similar);
  notes["multiple-of"] = std::to_string(training.multipleOf);
  notes["skip-damaged"] = std::to_string(training.skipDamaged);
  notes["goal"] = training.goal.measure + (training.goal.larger ? ", larger" : ", smaller");
  notes["progress"] = training.progress ? exact(*training.progress) : "that of the run";
  notes["micro-batches"] = std::to_string(*training.microBatches);
  notes["products"] = std::string(spelling(training.products.value_or(ElementType::F32)));
  return notes;
}

/// The settings that depend on the data: the number of samples, and the rates of the schedule at
/// four steps.
Notes AnyTrainer::Run::course(const Dataset &data) const {
  int64_t steps = training.epochs * batches;
  Schedule rate =
      training.schedule ? training.schedule(training.rate, steps) : constantRate(training.rate);
  std::string rates;
  for (int64_t quarter = 0; quarter < 4 && steps > 0; ++quarter)
    rates += (quarter ? ", " : "") + exact(rate((steps - 1) * quarter / 3));
  return {{"samples", std::to_string(data.count())},
          {"epochs", std::to_string(training.epochs)},
          {"rates", rates}};
}

/// Throws Error unless all ranks have the same position and settings.
void AnyTrainer::Run::agree(const Notes &course) const {
  Agreement said{{"entry", "training"}, {"position", place()}};
  for (const Notes &notes : {determinants(), course})
    said.insert(said.end(), notes.begin(), notes.end());
  ranks.ranks().job()->channel()->agree(said);
}

static constexpr const char *fileEnding = ".safetensors", *directoryEnding = ".shards";

/// One rank writes a file, several write a directory; the other form, if it exists, is outdated and
/// removed.
void AnyTrainer::Run::saveState(const std::string &stem, auto &tree, const Notes &notes,
                                Here here) {
  std::string one = file((stem + fileEnding).c_str()),
              many = file((stem + directoryEnding).c_str());
  std::error_code ignored;
  if (!ranks.isSplit()) {
    saveTree(one, tree, notes, {}, here);
    std::filesystem::remove_all(many, ignored);
    return;
  }
  saveTree(many, tree, notes, {.ranks = ranks.ranks()}, here);
  if (ranks.speaks())
    std::filesystem::remove(one, ignored);
}

/// Equal runs write equal files, so measurements are not stored.
void AnyTrainer::Run::save(Here here) {
  if (!saves())
    return;
  Notes notes = notesOf(position);
  notes.merge(determinants());
  notes.merge(Notes(ofData));
  notes["history"] = toText(history, /*measured=*/false);
  saveState("checkpoint", state, notes, here);
}

void AnyTrainer::Run::saveBest(Here here) {
  if (!saves())
    return;
  TrainedState snapshot{trained(), state.mode.evaluation()};
  Notes notes = options.notes; // the user's
  notes["record"] = history.back().json(false);
  notes["products"] = determinants()["products"]; // evaluation needs it
  if (!ranks.isSplit())
    return saveTree(file("best.safetensors"), snapshot, notes, {}, here);
  // A single file, as one rank writes it, is assembled from the ranks' shards, tensor by tensor.
  std::string many = file("best.shards");
  saveTree(many, snapshot, notes, {.ranks = ranks.ranks()}, here);
  if (ranks.speaks()) {
    io::exportShards(many, file("best.safetensors"), here);
    std::error_code ignored;
    std::filesystem::remove_all(many, ignored);
  }
}

std::string nn::findCheckpoint(const std::string &output, Here here) {
  std::string best;
  std::pair<int64_t, int64_t> farthest{INT64_MIN, INT64_MIN};
  for (const char *ending : {fileEnding, directoryEnding}) {
    std::string path = output + "/checkpoint" + ending;
    if (!std::filesystem::exists(path) ||
        (std::filesystem::is_directory(path) && !io::isShardDirectory(path)))
      continue;
    OpenedCheckpoint opened(path, here);
    const auto &notes = opened.header().metadata;
    auto number = [&](const char *name) {
      auto found = notes.find(name);
      return found == notes.end() ? 0 : int64_t(std::atoll(found->second.c_str()));
    };
    if (std::pair at{number("epoch"), number("step")}; at > farthest) {
      farthest = at;
      best = path;
    }
  }
  return best;
}

static Notes notesIn(const std::string &path, Here here) {
  OpenedCheckpoint opened(path, here);
  const auto &kept = opened.header().metadata;
  return Notes(kept.begin(), kept.end());
}

/// The first setting that differs, such as "batch 8, expected batch 16"; empty if there is none.
static std::string otherSetting(const Notes &had, const Notes &expected) {
  for (const auto &[name, value] : expected)
    if (auto kept = had.find(name); kept == had.end() || kept->second != value)
      return name + " " + (kept == had.end() ? "unknown" : kept->second) + ", expected " + name +
             " " + value;
  return "";
}

/// A resumed run must have the same samples and rates. A different number of epochs changes the
/// rates of a schedule, which is allowed.
void AnyTrainer::Run::requireSameCourse(const Notes &course, Here here) const {
  Notes had = resumed, expected = course;
  had.insert(course.begin(), course.end()); // older files lack them
  if (had["epochs"] != expected["epochs"])
    expected.erase("rates");
  expected.erase("epochs");
  if (std::string other = otherSetting(had, expected); !other.empty())
    throw Error("the checkpoint in '" + options.output + "' is of a run with " + other, here);
}

void AnyTrainer::Run::resume(const std::string &path, Here here) {
  Notes notes = notesIn(path, here);
  bool isStated = !notes.empty();
  // Defaults for older files:
  notes.merge(Notes{{"micro-batches", "1"},
                    {"clip-by-value", "0"},
                    {"average", "0"},
                    {"last", std::to_string(int(Last::Pad))},
                    {"plateau", "none"}});
  if (std::string other = isStated ? otherSetting(notes, options.notes) : ""; !other.empty())
    throw Error("'" + path + "' is of a run with " + other, here);
  Notes expected = determinants();
  for (const char *later :
       {"optimizer", "similar", "multiple-of", "skip-damaged", "goal", "progress"})
    notes.try_emplace(later, expected[later]); // older files lack them
  std::string other = isStated ? otherSetting(notes, expected) : "";
  // Tensors are checked first: the list of tensors that differ identifies another network, a
  // setting that happens to differ does not. A setting may be the reason why tensors differ, so the
  // message has it too.
  try {
    loadTree(path, state, {}, Here());
  } catch (const Error &error) {
    throw Error(error.what() + (other.empty() ? "" : "\n  it is of a run with " + other), here);
  }
  if (!other.empty())
    throw Error("'" + path + "' is of a run with " + other, here);
  try {
    position = positionOf(notes);
    history = parseHistory(notes.at("history"), here);
    if (position.epoch != int64_t(history.size()))
      throw std::out_of_range("epoch");
  } catch (const std::logic_error &) { // a note is missing or not a number
    throw Error("'" + path + "' is not a checkpoint of a trainer", here);
  }
  resumed = notes;
  if (auto epochs = notes.find("epochs");
      epochs != notes.end() && epochs->second != std::to_string(training.epochs))
    print("the run had " + epochs->second + " epochs, now it has " +
          std::to_string(training.epochs) + ": the rates of a schedule change accordingly");
  print("resuming at step " + std::to_string(position.step + 1) + " of epoch " +
        std::to_string(position.epoch + 1));
}

void nn::loadTrained(const std::string &path, TrainedState &state, Here here) {
  LoadOptions options{.names = {}, .ignored = {"mode.random.*", "scale.*", "moving.*"}};
  for (std::string_view names = AnyOptimizer::heddleFieldNames(); !names.empty();)
    options.ignored.push_back(std::string(heddle::detail::nextField(names)) + ".*");
  loadTree(path, state, options, here);
}

void AnyTrainer::load(const std::string &path, Here here) {
  TrainedState snapshot{run->state.net, run->state.mode.evaluation()};
  loadTrained(path, snapshot, here);
  run->state.net = snapshot.net;
  if (run->state.moving)
    run->state.moving = MovingAverage::make(run->state.net, here);
  run->state.mode.moments = snapshot.mode.moments;
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

std::optional<Notes> AnyTrainer::savedNotes(const std::string &output, Here here) {
  std::string path = findCheckpoint(output, here);
  if (path.empty())
    return {};
  return notesIn(path, here);
}
