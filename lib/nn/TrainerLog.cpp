//===- TrainerLog.cpp - the log of a trainer ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/TrainerRun.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::nn;

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
