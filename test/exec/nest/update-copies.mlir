// Two updates of one value: the first one copies it. Each chunk copies the part that it owns, and the last one owns less,
// here 160 features of 176: what it copied beyond was the start of the next word, after another chunk had updated it.
// RUN: heddle-run %s --compare --threads 2 --size F=203
// RUN: heddle-run %s --entry symbolic --compare --size F=96
// RUN: heddle-run %s --entry symbolic --compare --size F=7
// RUN: heddlec %s --emit=nest --threads 2 --target-cpu haswell | FileCheck %s
// CHECK: nest.update
// CHECK: schedule = #nest.schedule<[thread feature by 176,

!feature_word = !nd.tensor<f32, feature: 512, word: 320>
!i64_batch_time = !nd.tensor<i64, batch: 2, time: 50>
!feature_word_203x37 = !nd.tensor<f32, feature: 203, word: 37>
!feature_word_Fx37 = !nd.tensor<f32, feature: F, word: 37>
!i32_batch_time = !nd.tensor<i32, batch: 2, time: 50>

func.func @constant(%tok: !i32_batch_time {nd.name = "token"}, %g: !nd.tensor<f32, batch: 2, feature: 512, time: 50> {nd.name = "g"}, %h: !nd.tensor<f32, batch: 2, feature: 512, time: 50> {nd.name = "h"}) -> (!feature_word {nd.name = "y"}, !feature_word {nd.name = "z"}) {
  %place = nest.compute (batch: 2, time: 50) reads %tok[] {
  ^bb0(%t: i32):
    %words = arith.constant 320 : i32
    %r = arith.remui %t, %words : i32
    %i = arith.extui %r : i32 to i64
    nest.yield %i : i64
  } : (!i32_batch_time) -> !i64_batch_time
  %zero = nest.compute (feature: 512, word: 320) {
    %c = arith.constant 0.5 : f32
    nest.yield %c : f32
  } : () -> !feature_word
  %y = nest.update (batch: 2, feature: 512, time: 50) %zero[word = read(0)] reads %place[], %g[] {
  ^bb0(%i: i64, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %v: f32):
    %s = arith.addf %old, %v : f32
    nest.yield %s : f32
  } : (!feature_word, !i64_batch_time, !nd.tensor<f32, batch: 2, feature: 512, time: 50>) -> !feature_word
  %z = nest.update (batch: 2, feature: 512, time: 50) %zero[word = read(0)] reads %place[], %h[] {
  ^bb0(%i: i64, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %v: f32):
    %s = arith.addf %old, %v : f32
    nest.yield %s : f32
  } : (!feature_word, !i64_batch_time, !nd.tensor<f32, batch: 2, feature: 512, time: 50>) -> !feature_word
  return %y, %z : !feature_word, !feature_word
}

func.func @odd(%tok: !i32_batch_time {nd.name = "token"}, %g: !nd.tensor<f32, batch: 2, feature: 203, time: 50> {nd.name = "g"}, %h: !nd.tensor<f32, batch: 2, feature: 203, time: 50> {nd.name = "h"}) -> (!feature_word_203x37 {nd.name = "y"}, !feature_word_203x37 {nd.name = "z"}) {
  %place = nest.compute (batch: 2, time: 50) reads %tok[] {
  ^bb0(%t: i32):
    %words = arith.constant 37 : i32
    %r = arith.remui %t, %words : i32
    %i = arith.extui %r : i32 to i64
    nest.yield %i : i64
  } : (!i32_batch_time) -> !i64_batch_time
  %zero = nest.compute (feature: 203, word: 37) {
    %c = arith.constant 0.5 : f32
    nest.yield %c : f32
  } : () -> !feature_word_203x37
  %y = nest.update (batch: 2, feature: 203, time: 50) %zero[word = read(0)] reads %place[], %g[] {
  ^bb0(%i: i64, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %v: f32):
    %s = arith.addf %old, %v : f32
    nest.yield %s : f32
  } {schedule = #nest.schedule<[thread feature by 48, loop time by 1, loop batch by 1, vector feature by 1]>} : (!feature_word_203x37, !i64_batch_time, !nd.tensor<f32, batch: 2, feature: 203, time: 50>) -> !feature_word_203x37
  %z = nest.update (batch: 2, feature: 203, time: 50) %zero[word = read(0)] reads %place[], %h[] {
  ^bb0(%i: i64, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %v: f32):
    %s = arith.addf %old, %v : f32
    nest.yield %s : f32
  } {schedule = #nest.schedule<[thread feature by 48, loop time by 1, loop batch by 1, vector feature by 1]>} : (!feature_word_203x37, !i64_batch_time, !nd.tensor<f32, batch: 2, feature: 203, time: 50>) -> !feature_word_203x37
  return %y, %z : !feature_word_203x37, !feature_word_203x37
}

func.func @symbolic(%tok: !i32_batch_time {nd.name = "token"}, %g: !nd.tensor<f32, batch: 2, feature: F, time: 50> {nd.name = "g"}, %h: !nd.tensor<f32, batch: 2, feature: F, time: 50> {nd.name = "h"}) -> (!feature_word_Fx37 {nd.name = "y"}, !feature_word_Fx37 {nd.name = "z"}) {
  %place = nest.compute (batch: 2, time: 50) reads %tok[] {
  ^bb0(%t: i32):
    %words = arith.constant 37 : i32
    %r = arith.remui %t, %words : i32
    %i = arith.extui %r : i32 to i64
    nest.yield %i : i64
  } : (!i32_batch_time) -> !i64_batch_time
  %zero = nest.compute (feature: F, word: 37) {
    %c = arith.constant 0.5 : f32
    nest.yield %c : f32
  } : () -> !feature_word_Fx37
  %y = nest.update (batch: 2, feature: F, time: 50) %zero[word = read(0)] reads %place[], %g[] {
  ^bb0(%i: i64, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %v: f32):
    %s = arith.addf %old, %v : f32
    nest.yield %s : f32
  } {schedule = #nest.schedule<[thread feature by 48, loop time by 1, loop batch by 1, vector feature by 1]>} : (!feature_word_Fx37, !i64_batch_time, !nd.tensor<f32, batch: 2, feature: F, time: 50>) -> !feature_word_Fx37
  %z = nest.update (batch: 2, feature: F, time: 50) %zero[word = read(0)] reads %place[], %h[] {
  ^bb0(%i: i64, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %v: f32):
    %s = arith.addf %old, %v : f32
    nest.yield %s : f32
  } {schedule = #nest.schedule<[thread feature by 48, loop time by 1, loop batch by 1, vector feature by 1]>} : (!feature_word_Fx37, !i64_batch_time, !nd.tensor<f32, batch: 2, feature: F, time: 50>) -> !feature_word_Fx37
  return %y, %z : !feature_word_Fx37, !feature_word_Fx37
}
