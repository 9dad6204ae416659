//===- main.cpp - list, train and compare the models ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Commands.h"

#include "heddle/runtime_c.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <csignal>
#include <cstring>
#include <sstream>

using namespace heddle;

/// Accepts whole numbers from `least` to `most`; rejects texts that CLI11 would wrap or parse as
/// octal.
static CLI::Validator wholeNumber(uint64_t least, uint64_t most) {
  auto check = [=](std::string &text) -> std::string {
    uint64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
      return "expected a whole number from " + std::to_string(least) + " to " +
             std::to_string(most) + ", got " + text;
    text = std::to_string(number);
    return "";
  };
  return CLI::Validator(check, "");
}

/// Accepts numbers above 0, or from 0 on, up to `most`.
static CLI::Validator number(bool fromZero, double most) {
  auto check = [=](std::string &text) -> std::string {
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    bool isIn = fromZero ? value >= 0 : value > 0;
    if (!text.empty() && !*end && isIn && value <= most)
      return "";
    std::ostringstream message;
    message << "expected a number " << (fromZero ? "of at least 0" : "above 0")
            << " and of at most " << most << ", got " << text;
    return message.str();
  };
  return CLI::Validator(check, "");
}
static constexpr double mostRate = 1e30; // representable in f32, also times a schedule's factor

/// Adds a command on a model.
static CLI::App *addCommand(CLI::App &app, zoo::Options &options, const char *name,
                            const char *text) {
  CLI::App *command = app.add_subcommand(name, text);
  command->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command->add_option("name", options.name, "A model that `list` prints")->required();
  command->add_option("--size", options.size, "tiny, small, full or flexflow")
      ->capture_default_str();
  command->add_option("--output", options.output, "Directory (NAME-SIZE)");
  command->add_option("--threads", options.threads, "Threads; 0 for all cores")
      ->capture_default_str()
      ->check(wholeNumber(0, 1024));
  command->add_option("--seed", options.seed, "Seed of all random numbers (1)")
      ->check(wholeNumber(0, UINT64_MAX));
  return command;
}

static void addCompiling(CLI::App &command, zoo::Options &options) {
  command.add_option("--device", options.device, "Run there: cpu, auto, or such as opencl:0")
      ->capture_default_str();
  command
      .add_option("--plugin", options.plugins,
                  "Load this plugin into the compiler; may be given several times")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

static void addTraining(CLI::App &command, zoo::Options &options) {
  command.add_option("--steps", options.steps, "Stop after this many steps")
      ->check(wholeNumber(1, 1000000000));
  command.add_option("--batch", options.batch, "Samples in a step")->check(wholeNumber(1, 1000000));
  command.add_option("--rate", options.rate, "Highest learning rate")
      ->check(number(false, mostRate));
  command.add_option("--products", options.products,
                     "Mixed precision: type of the factors of products that are summed, such as "
                     "bf16 (f32)");
}

static void addTrain(CLI::App &app, zoo::Options &options) {
  CLI::App *command =
      addCommand(app, options, "train", "Train a model; writes checkpoints, a log and a report");
  addTraining(*command, options);
  command->add_option("--epochs", options.epochs, "Passes over the data")
      ->check(wholeNumber(0, 100000));
  command
      ->add_option("--patience", options.patience,
                   "Stop after so many epochs without a better one; 0: never")
      ->check(wholeNumber(0, 100000));
  command->add_option("--readers", options.readers, "Threads that read samples")
      ->check(wholeNumber(1, 64));
  command
      ->add_option("--save-every", options.saveEvery,
                   "Steps between checkpoints within an epoch; 0: only after epochs")
      ->capture_default_str()
      ->check(wholeNumber(0, 1000000000));
  command->add_option(
      "--log", options.log,
      "Write one JSON object a line, of epochs and steps, to this file (OUTPUT/log.jsonl)");
  command->add_option("--log-every", options.logEvery, "Log every so many steps; 0: only epochs")
      ->capture_default_str()
      ->check(wholeNumber(0, 1000000000));
  CLI::Option *oneBatch =
      command->add_flag("--one-batch", options.oneBatch,
                        "Train on the first batch of the data only, one step an epoch, without "
                        "checkpoints: a correct network overfits it");
  command->add_flag("--check", options.check,
                    "Find indices out of range and the first NaN, with a source location; slower");
  command
      ->add_flag("--resume", options.resume,
                 "Continue from the last checkpoint; start if there is none")
      ->excludes(oneBatch);
  command->add_flag("--ir", options.ir, "Print the nd IR of the step instead of training");
  addCompiling(*command, options);
  nn::addMeshFlags(*command, options.mesh);
}

/// Prints an error for an unknown command; CLI11 only reports that a command is missing.
static bool isCommand(const CLI::App &app, const std::string &word) {
  std::string known;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
    if (command->get_name() == word)
      return true;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  fprintf(stderr, "heddle-models: unknown command '%s', expected one of %s\n", word.c_str(),
          known.c_str());
  return false;
}

/// The exit code; 1 if the output could not be written.
static int ended(int status) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return status;
  fprintf(stderr, "heddle-models: can't write the output: %s\n", std::strerror(errno));
  return status ? status : 1;
}

int main(int argc, char **argv) {
  CLI::App app("Lists, trains, evaluates, compares and exports the models of the zoo.",
               "heddle-models");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help); // lists the commands
  app.set_version_flag("--version", heddle_runtime_version());
  zoo::Options options;
  app.add_subcommand("list", "Print the models, each with the number of its parameters");
  addTrain(app, options);
  CLI::App *evaluate = addCommand(app, options, "evaluate", "Evaluate a trained model");
  CLI::App *generate = addCommand(app, options, "generate", "Generate text with a trained model");
  for (CLI::App *command : {evaluate, generate})
    command->add_option(
        "--checkpoint", options.checkpoint,
        "File (OUTPUT/best.safetensors; checkpoint.safetensors before the first epoch's end)");
  zoo::Generation &how = options.generation;
  generate->add_option("--prompt", how.prompt, "The beginning of the text");
  generate->add_option("--length", how.length, "Tokens to write")
      ->capture_default_str()
      ->check(wholeNumber(1, 1000000000));
  generate
      ->add_option("--temperature", how.temperature,
                   "Of sampling; 0: choose the most probable token")
      ->capture_default_str()
      ->check(number(true, mostRate));
  generate->add_option("--top-k", how.topK, "Draw from the k most probable tokens only; 0: all")
      ->check(wholeNumber(0, 1000000000));
  generate
      ->add_option("--top-p", how.topP,
                   "Draw from the most probable tokens with this total probability")
      ->check(number(false, 1));
  CLI::App *compare = addCommand(app, options, "compare",
                                 "Train a model and its PyTorch twin from the same weights");
  addTraining(*compare, options);
  compare->get_option("--products")
      ->description("Type of the factors of products, bf16 or f16 (f32), in PyTorch by autocast; "
                    "losses may then differ by 2 % instead of 1 %");
  compare->get_option("--steps")->description(
      "Number of steps (10); with --recipe, of the whole schedule");
  compare
      ->add_option("--noisy", options.noisy,
                   "Runs of the twin from parameters with noise in their last bits, which measure "
                   "the effect of rounding; not with --recipe")
      ->capture_default_str()
      ->check(wholeNumber(0, 100));
  compare->get_option("--output")
      ->description("The comparison's directory is OUTPUT-compare (NAME-SIZE-compare)");
  compare->add_option("--python", options.python, "Python with PyTorch")->capture_default_str();
  compare->add_option("--optimizer", options.optimizer, "adam or sgd")->capture_default_str();
  compare->add_option("--epochs", options.epochs, "Passes over the data, with --recipe")
      ->check(wholeNumber(0, 100000));
  compare->add_flag("--recipe", options.recipe,
                    "Train as `train` does, with dropout, and test both at the end");
  CLI::App *exported = addCommand(app, options, "export", "Write program files and their tensors");
  addTraining(*exported, options);
  exported->add_option("--checkpoint", options.checkpoint,
                       "A run's checkpoint.safetensors, with the optimiser's state (none: as "
                       "initialised)");
  exported
      ->add_option("--layers", options.layers,
                   "Equal layers of a model that has a row of them (those of the size)")
      ->check(wholeNumber(1, 1000));
  exported->add_flag("--ir", options.ir,
                     "Print the nd IR of the training step instead; with --output, write it there "
                     "as step.mlir, with its tensors");
  for (CLI::App *command : {evaluate, exported})
    addCompiling(*command, options);
  if (argc > 1 && argv[1][0] != '-' && !isCommand(app, argv[1]))
    return 2;
  CLI11_PARSE(app, argc, argv);
  options.generation.seed = options.seed.value_or(1);
  // Exceeding the limit of file sizes makes a write fail instead of killing the process.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    const std::pair<const char *, int (*)(const zoo::Options &)> commands[] = {
        {"train", zoo::train},
        {"evaluate", zoo::evaluate},
        {"generate", zoo::generate},
        {"compare", zoo::compare},
        {"export", zoo::exportPrograms}};
    for (auto [name, run] : commands)
      if (app.got_subcommand(name))
        return ended(run(options));
    return ended(zoo::list());
  } catch (const std::exception &error) {
    fflush(stdout);
    fprintf(stderr, "heddle-models: %s\n", error.what());
    options.mesh.fail(error.what());
    return 1;
  }
}
