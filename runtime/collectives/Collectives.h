//===- Collectives.h - the interface of engines that move data ----*- C -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program on many devices is run by ranks: threads or processes, numbered from 0. An engine moves
// data between them by shared memory, MPI, or an emulated network. It is a shared library with one
// function, which returns a table of functions:
//
//     const HeddleCollectives *heddle_collectives(void);
//
// A rank opens a context, creates groups, starts operations on them and waits for their results:
//
//     HeddleWorld world = {.rank = 0, .size = 2, .key = "job-17", .directory = "/tmp/job-17"};
//     HeddleContext *context;
//     HeddleGroup *data;
//     HeddlePending *sum;
//     if (table->create(&world, &context) || table->group(context, "data", NULL, 0, &data))
//       puts(table->message());
//     HeddleOperation operation = {.kind = HEDDLE_ALL_REDUCE, .combiner = HEDDLE_SUM,
//                                  .element = 11, .input = gradient, .output = gradient,
//                                  .counts = &count};
//     if (table->start(data, &operation, &sum) || table->wait(sum, -1))
//       puts(table->message()); // all-reduce #12 of group data: rank 1 did not arrive within 5 s
//
// The members of a group call the same operations in the same order; each may wait for its
// operations in any order. Members whose calls differ get HEDDLE_MISMATCH. Ranks that share several
// groups create them in the same order.
//
// Results are bitwise equal on every member, in every run and with every engine: an element is
// combined in the order of the members, ((x0 + x1) + x2) + ..., whatever the size of the message.
// Sums and products of floats narrower than f32 are computed in f32 and rounded once; those of
// integers wrap (of i1: modulo 2). Max and min propagate NaN, and treat -0 as less than +0.
//
// After a failure other than HEDDLE_INVALID, the context is unusable on all of its ranks:
// operations that wait or are started fail, with a message that says what failed on which rank. The
// process survives; a new context needs a new key.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COLLECTIVES_COLLECTIVES_H
#define HEDDLE_COLLECTIVES_COLLECTIVES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_COLLECTIVES_VERSION = 1 };

typedef struct HeddleContext HeddleContext; ///< this rank's connections
typedef struct HeddleGroup HeddleGroup;     ///< a list of ranks; a member is a position in it
typedef struct HeddlePending HeddlePending; ///< an operation that was started

/// Statuses that functions return.
enum {
  HEDDLE_OK = 0,
  HEDDLE_INVALID = 1,  ///< a wrong argument of this rank; nothing was done
  HEDDLE_MISMATCH = 2, ///< members called different operations, counts, types, ...
  HEDDLE_TIMEOUT = 3,  ///< a member did not arrive, or stopped in the middle
  HEDDLE_DEAD = 4,     ///< the process of a rank ended, or its context was destroyed
  HEDDLE_ABORTED = 5,  ///< a rank called `abort`
  HEDDLE_FAILED = 6    ///< the system or the library below refused something
};

/// Operations. `counts` and `outputCounts` are numbers of elements. If there is one per member, the
/// parts are contiguous in memory, in the order of members, and may be empty.
enum {
  /// Waits until all members have started it.
  HEDDLE_BARRIER,
  /// counts[0] elements of `output` are those of all members' `input`, combined.
  HEDDLE_ALL_REDUCE,
  /// `input` has a part of counts[i] elements for each member i; `output` is this member's part,
  /// combined from all members.
  HEDDLE_REDUCE_SCATTER,
  /// `output` has a part of counts[i] elements from each member i, its `input`.
  HEDDLE_ALL_GATHER,
  /// `input` has a part of counts[i] elements for each member i, `output` one of outputCounts[i]
  /// elements from it.
  HEDDLE_ALL_TO_ALL,
  /// counts[0] elements of `input` go to the member `target`, outputCounts[0] elements of `output`
  /// come from `source`; -1: to none, from none (the output stays as it is).
  HEDDLE_PERMUTE,
  /// counts[0] elements of `output` are those of `input` of the member `source`. Only the `input`
  /// of `source` is read.
  HEDDLE_BROADCAST,
  /// counts[0] elements of `input` go to the member `target`, which receives them. Other members do
  /// not call it. Between two members, messages arrive in the order in which they were sent.
  HEDDLE_SEND,
  /// counts[0] elements of `output` come from the member `source`.
  HEDDLE_RECEIVE
};

enum { HEDDLE_SUM, HEDDLE_PRODUCT, HEDDLE_MAX, HEDDLE_MIN };

/// An operation. `input` and `output` must not overlap, except: in an all-reduce and a broadcast
/// they may be equal; in a reduce-scatter `output` may be this member's part of `input`; in an
/// all-gather `input` may be this member's part of `output`. The engine owns these buffers until
/// `wait` returns, and the counts until `start` returns. The engine mpi can't cancel messages in
/// flight: after a failure (other than HEDDLE_INVALID) it may read and write the buffers of started
/// operations until the process ends. Do not free or reuse them.
typedef struct HeddleOperation {
  int32_t kind;           ///< HEDDLE_ALL_REDUCE, ...
  int32_t combiner;       ///< HEDDLE_SUM, ...: of reductions
  int32_t element;        ///< a heddle::ElementType
  int32_t source, target; ///< members: of permute, broadcast, send, receive
  const void *input;
  void *output;
  const int64_t *counts, *outputCounts;
  const char *space; ///< memory space of input and output; null: "host"
  void *stream;      ///< device stream to synchronise with; null: host
  /// Not 0: the caller computes between `start` and `wait`, so a thread of the engine moves the
  /// data. 0: data may be moved only within `start` and `wait`.
  int32_t overlapped;
} HeddleOperation;

/// A rank, and how it finds the others: by `exchange`, or (if that is null) by files with the name
/// `key` in `directory`, which are removed when all ranks have joined.
typedef struct HeddleWorld {
  int32_t rank, size; ///< size 0: the launcher's (mpi)
  const char *key;    ///< unique to this context, on all its ranks
  const char *directory;
  /// An all-gather of `bytes` bytes of every rank into `all`, in the order of ranks. Returns 0 on
  /// success. Every rank calls it the same number of times.
  int32_t (*exchange)(void *user, const void *mine, int64_t bytes, void *all);
  void *user;
  /// "name=value,...", or null. `timeout`: how many seconds (default 300) `wait` waits for another
  /// rank that makes no progress. README.md lists the others.
  const char *options;
} HeddleWorld;

/// An engine. Any thread may call each function; int32_t results are the statuses above. Several
/// ranks may be threads of one process, except with the engine mpi.
typedef struct HeddleCollectives {
  int32_t version; ///< HEDDLE_COLLECTIVES_VERSION
  const char *name;

  /// Joins the other ranks of `world`; returns when all have joined.
  int32_t (*create)(const HeddleWorld *world, HeddleContext **context);
  /// Leaves the other ranks. The context, its operations and groups become invalid. Ranks that
  /// still wait for data from this one get HEDDLE_DEAD.
  void (*destroy)(HeddleContext *context);
  int32_t (*rank)(const HeddleContext *context);
  int32_t (*size)(const HeddleContext *context);

  /// Creates a group of `ranks`, which include this one; null: of all ranks. Exactly these ranks
  /// call it, with the same name; it returns when all have. The context owns the group.
  int32_t (*group)(HeddleContext *context, const char *name, const int32_t *ranks, int32_t count,
                   HeddleGroup **group);

  /// Starts an operation. On success the caller has to call `wait` once for `pending`.
  int32_t (*start)(HeddleGroup *group, const HeddleOperation *operation, HeddlePending **pending);
  /// Waits until the output is complete and the input may be overwritten. Frees `pending`, whatever
  /// the status. Fails if another rank makes no progress for `seconds` (negative: the option
  /// `timeout`).
  int32_t (*wait)(HeddlePending *pending, double seconds);
  /// Fails all operations of all ranks, running and later ones, with `reason`. Any thread may call
  /// it.
  void (*abort)(HeddleContext *context, const char *reason);

  /// Describes this thread's last failure: the operation, its group, the rank at fault. Valid until
  /// the thread's next failure.
  const char *(*message)(void);
} HeddleCollectives;

/// The function that each engine's library exports.
const HeddleCollectives *heddle_collectives(void);

#ifdef __cplusplus
}
#endif

#endif // HEDDLE_COLLECTIVES_COLLECTIVES_H
