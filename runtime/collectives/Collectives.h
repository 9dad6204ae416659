//===- Collectives.h - the interface of engines that move data ------*- C -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program on many devices is run by ranks: threads or processes, numbered from 0. An engine moves
// data between them: shared memory, MPI, an emulated network. It is a shared library with one
// function, which returns one table of functions:
//
//     const HeddleCollectives *heddle_collectives(void);
//
// A rank opens a context, makes groups, starts operations on them and waits for their results:
//
//     HeddleWorld world = {.rank = 0, .size = 2, .key = "job-17", .directory = "/tmp/job-17"};
//     HeddleContext *context;
//     HeddleGroup *data;
//     HeddlePending *sum;
//     if (table->create(&world, &context) || table->group(context, "data", NULL, 0, &data))
//       puts(table->message());
//     HeddleOperation operation = {.kind = HEDDLE_ALL_REDUCE, .combiner = HEDDLE_SUM, .element = 11,
//                                  .input = gradient, .output = gradient, .counts = &count};
//     if (table->start(data, &operation, &sum) || table->wait(sum, -1))
//       puts(table->message());    // all-reduce #12 of group data: rank 1 did not arrive within 5 s
//
// The members of a group call the same operations in the same order; each waits for its operations
// in any order. Members that disagree get HEDDLE_MISMATCH. Ranks with several groups in common make
// them in the same order.
//
// Results are the same bits on every member, in every run and with every engine: an element is
// combined in the order of the members, ((x0 + x1) + x2) + ..., whatever the size of the message.
// Sums and products of floats narrower than f32 are computed in f32 and rounded once; those of
// integers wrap (of i1: modulo 2). Of floats, max and min of a NaN are NaN, and -0 is less than +0.
//
// After a failure other than HEDDLE_INVALID a context is unusable on all of its ranks: every
// operation that waits or is started fails, with a message that says what failed on which rank.
// The process goes on; a new context needs a new key.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COLLECTIVES_COLLECTIVES_H
#define HEDDLE_COLLECTIVES_COLLECTIVES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_COLLECTIVES_VERSION = 1 };

typedef struct HeddleContext HeddleContext; ///< this rank's end of all its connections
typedef struct HeddleGroup HeddleGroup;     ///< some ranks: a list, whose positions are members
typedef struct HeddlePending HeddlePending; ///< an operation that was started

/// The statuses that functions return.
enum {
  HEDDLE_OK = 0,
  HEDDLE_INVALID = 1,  ///< a wrong argument of this rank; nothing was done
  HEDDLE_MISMATCH = 2, ///< members called different operations, counts, types, ...
  HEDDLE_TIMEOUT = 3,  ///< a member did not arrive, or stopped in the middle
  HEDDLE_DEAD = 4,     ///< the process of a rank ended, or its context was destroyed
  HEDDLE_ABORTED = 5,  ///< a rank called `abort`
  HEDDLE_FAILED = 6    ///< the system or the library below refused something
};

/// Operations. `counts` and `outputCounts` are numbers of elements; with one for each member,
/// the parts follow each other in memory and may be empty.
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
  /// counts[0] elements of `output` are those of `input` of the member `source`. Other members'
  /// `input` is not read.
  HEDDLE_BROADCAST,
  /// counts[0] elements of `input` go to the member `target`, which receives them. Others take no
  /// part. Between two members, messages arrive in the order in which they were sent.
  HEDDLE_SEND,
  /// counts[0] elements of `output` come from the member `source`.
  HEDDLE_RECEIVE
};

enum { HEDDLE_SUM, HEDDLE_PRODUCT, HEDDLE_MAX, HEDDLE_MIN };

/// An operation. `input` and `output` do not overlap, with these exceptions: in an all-reduce and a
/// broadcast they may be equal, in a reduce-scatter `output` may be this member's part of `input`,
/// in an all-gather `input` that of `output`. They belong to the engine until `wait` returns; the
/// counts only until `start` returns. The engine mpi can't take back a message that is under way:
/// after a failure (other than HEDDLE_INVALID) it may still read the input of the operations that
/// had begun, and write their output, until the process ends. Free neither, or expect that what
/// gets this memory next is written to.
typedef struct HeddleOperation {
  int32_t kind;           ///< HEDDLE_ALL_REDUCE, ...
  int32_t combiner;       ///< HEDDLE_SUM, ...: of reductions
  int32_t element;        ///< a heddle::ElementType
  int32_t source, target; ///< members: of permute, broadcast, send, receive
  const void *input;
  void *output;
  const int64_t *counts, *outputCounts;
  const char *space; ///< memory space of input and output; null: "host"
  void *stream;      ///< of the device, after whose work the operation begins; null: host
  /// Not 0: the caller does other work before it waits, so a thread of the engine moves the data
  /// meanwhile. 0: the data may move only within `start` and `wait`.
  int32_t overlapped;
} HeddleOperation;

/// A rank and how it finds the others: by `exchange`, or (if that is null) by files of the name
/// `key` in `directory`, which exist only while the ranks find each other.
typedef struct HeddleWorld {
  int32_t rank, size; ///< size 0: as the engine's launcher says (mpi)
  const char *key;    ///< unique to this context: ranks with other keys are never mixed up
  const char *directory;
  /// Puts `bytes` bytes of every rank into `all`, in the order of ranks; not 0: it failed. Every
  /// rank calls it the same number of times.
  int32_t (*exchange)(void *user, const void *mine, int64_t bytes, void *all);
  void *user;
  /// "name=value,...", null for none. `timeout`: seconds (default 300) that `wait` waits for another
  /// rank without any progress. Others are in the README.md.
  const char *options;
} HeddleWorld;

/// An engine. Each function may be called by any thread; those with a status return one of the
/// above. Several ranks may be threads of one process, if the engine is not mpi.
typedef struct HeddleCollectives {
  int32_t version; ///< HEDDLE_COLLECTIVES_VERSION
  const char *name;

  /// Joins the other ranks of `world`; returns when all have joined.
  int32_t (*create)(const HeddleWorld *world, HeddleContext **context);
  /// Leaves them. Operations and groups of the context may not be used any more. Ranks that still
  /// wait for data of this one get HEDDLE_DEAD.
  void (*destroy)(HeddleContext *context);
  int32_t (*rank)(const HeddleContext *context);
  int32_t (*size)(const HeddleContext *context);

  /// Makes a group of these ranks, of which this one is one; null: of all. It is called by exactly
  /// these ranks, with the same name, and returns when all have. The context keeps the group.
  int32_t (*group)(HeddleContext *context, const char *name, const int32_t *ranks, int32_t count,
                   HeddleGroup **group);

  /// Starts an operation. If it succeeds, `wait` has to be called once for `pending`.
  int32_t (*start)(HeddleGroup *group, const HeddleOperation *operation, HeddlePending **pending);
  /// Waits until the operation's output is complete and its input may be changed; `pending` is gone
  /// whatever the status. Fails if another rank makes no progress for `seconds` (less than 0: the
  /// option `timeout`).
  int32_t (*wait)(HeddlePending *pending, double seconds);
  /// Ends all operations of all ranks, now and later, with `reason`. Any thread may call it.
  void (*abort)(HeddleContext *context, const char *reason);

  /// Of the last call of this thread that failed: the operation, its group, the rank at fault.
  /// Valid until the thread's next failure.
  const char *(*message)(void);
} HeddleCollectives;

/// The function that each engine's library has.
const HeddleCollectives *heddle_collectives(void);

#ifdef __cplusplus
}
#endif

#endif // HEDDLE_COLLECTIVES_COLLECTIVES_H
