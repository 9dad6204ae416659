//===- TrainerCheckpoint.cpp - what a trainer saves and resumes -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/ShardDirectory.h"
#include "lib/nn/ShardedCheckpoint.h"
#include "lib/nn/TrainerRun.h"
#include "runtime/control/Job.h"

using namespace heddle;
using namespace heddle::nn;

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

std::optional<Notes> AnyTrainer::savedNotes(const std::string &output, Here here) {
  std::string path = findCheckpoint(output, here);
  if (path.empty())
    return {};
  return notesIn(path, here);
}
