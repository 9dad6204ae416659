// RUN: heddle-opt %s --nest-fuse | FileCheck %s

// The backward pass of a residual network, made small. Nests read results of nests that are fused
// meanwhile, and later nests come to lie in memory where erased ones lay.

!n005 = !nd.tensor<f32, n005: 64>
!n000_n001_n003_n005 = !nd.tensor<f32, n000: 24, n001: 4, n003: 24, n005: 64>
!n000_n001_n003_n007 = !nd.tensor<f32, n000: 12, n001: 4, n003: 12, n007: 128>
!Image12 = !nd.tensor<f32, n000: 12, n001: 4, n003: 12, n005: 128>
!Channels = !nd.tensor<f32, n005: 128>
!Image48 = !nd.tensor<f32, n000: 48, n001: 4, n003: 48, n005: 64>

// CHECK-LABEL: func.func @resnet
// CHECK: nest.compute
module {
  func.func @resnet(%arg0: !n005 {nd.name = "stem.s"}, %arg1: !nd.tensor<f32, n002: 3, n005: 64, n006: 3, n007: 128> {nd.name = "blocks.2.a.w"}, %arg2: !Channels {nd.name = "blocks.2.a.s"}, %arg3: !nd.tensor<f32, n002: 3, n005: 128, n006: 3, n007: 128> {nd.name = "blocks.2.b.w"}, %arg4: !Channels {nd.name = "blocks.2.b.s"}, %arg5: !nd.tensor<f32, n002: 1, n005: 64, n006: 1, n007: 128> {nd.name = "blocks.2.d.w"}, %arg6: !Channels {nd.name = "blocks.2.d.s"}, %arg7: !nd.tensor<f32, n002: 3, n005: 128, n006: 3, n007: 128> {nd.name = "blocks.3.a.w"}, %arg8: !n000_n001_n003_n005 {nd.name = "s5"}, %arg9: !n000_n001_n003_n005 {nd.name = "s41"}, %arg10: !Image48 {nd.name = "s79"}, %arg11: !Image48 {nd.name = "s81"}, %arg12: !n005 {nd.name = "s83"}, %arg13: !Image48 {nd.name = "s87"}, %arg14: !nd.tensor<f32, n000: 48, n001: 4, n002: 7, n003: 48, n005: 3, n006: 7> {nd.name = "s93"}, %arg15: !Image12 {nd.name = "s21"}, %arg16: !Image12 {nd.name = "s25"}, %arg17: !Image12 {nd.name = "s44"}, %arg18: !Image12 {nd.name = "s48"}, %arg19: !Channels {nd.name = "s3"}, %arg20: !Image12 {nd.name = "s9"}, %arg21: !Image12 {nd.name = "s16"}, %arg22: !Channels {nd.name = "s19"}, %arg23: !Channels {nd.name = "s17"}, %arg24: !Channels {nd.name = "s18"}, %arg25: !Image12 {nd.name = "s8"}, %arg26: !Channels {nd.name = "s7"}, %arg27: !Channels {nd.name = "s10"}, %arg28: !n005 {nd.name = "s12"}, %arg29: !nd.tensor<i32, n000: 24, n001: 4, n003: 24, n005: 64> {nd.name = "s13"}, %arg30: !nd.tensor<i32, n002: 3, n006: 3> {nd.name = "s14"}, %arg31: !n000_n001_n003_n005 {nd.name = "s15"}, %arg32: !Image12 {nd.name = "s23"}, %arg33: !Channels {nd.name = "s6"}, %arg34: !Image12 {nd.name = "s11"}, %arg35: !Image48 {nd.name = "s2"}, %arg36: !n000_n001_n003_n005 {nd.name = "s24"}, %arg37: !Channels {nd.name = "s0"}, %arg38: !Image12 {nd.name = "s1"}, %arg39: !nd.tensor<f32, n000: 12, n001: 4, n003: 12, n005: 128, n006: 3> {nd.name = "s22"}, %arg40: !Image12 {nd.name = "s20"}) -> (!nd.tensor<f32, n002: 7, n005: 3, n006: 7, n007: 64> {nd.name = "y0"}, !n005 {nd.name = "y1"}, !n005 {nd.name = "y2"}, !Channels {nd.name = "y3"}, !Channels {nd.name = "y4"}, !Channels {nd.name = "y5"}, !Channels {nd.name = "y6"}) attributes {heddle.names = {n000 = "row", n001 = "batch", n002 = "kx", n003 = "column", n004 = "vocab", n005 = "channel", n006 = "ky", n007 = "out"}} {
    %0 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg20[], %arg19[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.subf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Channels) -> !Image12
    %1 = nest.compute (n005: 128) reads %arg33[] {
    ^bb0(%arg41: f32):
      %cst = arith.constant 0.00173611112 : f32
      %90 = arith.mulf %arg41, %cst : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Channels) -> !Channels
    %2 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg34[], %1[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.subf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Channels) -> !Image12
    %3 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg15[], %arg32[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %90 = arith.cmpf ogt, %arg41, %cst : f32
      %91 = arith.select %90, %arg42, %cst : f32
      nest.yield %91 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %4 = nest.compute (n005: 128) reduce (n000: 12, n001: 4, n003: 12) reads %3[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image12) -> !Channels
    %5 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg16[], %3[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %6 = nest.compute (n005: 128) reduce (n000: 12, n001: 4, n003: 12) reads %5[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image12) -> !Channels
    %7 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reduce (n006: 3) reads %arg39[n000 = n000 - n006 + 1] if [n000 - n006 + 1 >= 0, -n000 + n006 + 10 >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 12, n001: 4, n003: 12, n005: 128, n006: 3>) -> !Image12
    %8 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg17[], %7[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %90 = arith.cmpf ogt, %arg41, %cst : f32
      nest.yield %arg42 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %9 = nest.compute (n005: 128) reduce (n000: 12, n001: 4, n003: 12) reads %8[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image12) -> !Channels
    %10 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg18[], %8[] {
    ^bb0(%arg41: f32, %arg42: f32):
      nest.yield %arg42 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %11 = nest.compute (n005: 128) reduce (n000: 12, n001: 4, n003: 12) reads %10[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image12) -> !Channels
    %12 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg40[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "pointwise"} : (!Image12) -> !Image12
    %13 = nest.compute (n005: 128) reduce (n000: 12, n001: 4, n003: 12) reads %12[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image12) -> !Channels
    %14 = nest.compute (n005: 128) reads %13[] {
    ^bb0(%arg41: f32):
      %cst = arith.constant 0.00173611112 : f32
      nest.yield %cst : f32
    } {heddle.name = "pointwise"} : (!Channels) -> !Channels
    %15 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg40[], %14[] {
    ^bb0(%arg41: f32, %arg42: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Channels) -> !Image12
    %16 = nest.compute (n000: 12, n001: 4, n003: 12, n007: 128) reads %15[n005 = n007] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "rename"} : (!Image12) -> !n000_n001_n003_n007
    %17 = nest.compute (n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3, n007: 128) reads %arg7[], %16[] {
    ^bb0(%arg41: f32, %arg42: f32):
      nest.yield %arg42 : f32
    } {heddle.name = "pointwise"} : (!nd.tensor<f32, n002: 3, n005: 128, n006: 3, n007: 128>, !n000_n001_n003_n007) -> !nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3, n007: 128>
    %18 = nest.compute (n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3) reduce (n007: 128) reads %17[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3, n007: 128>) -> !nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3>
    %19 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128, n006: 3) reduce (n002: 3) reads %18[n003 = -n002 + n003 + 1] if [-n002 + n003 + 1 >= 0, n002 - n003 + 10 >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3>) -> !nd.tensor<f32, n000: 12, n001: 4, n003: 12, n005: 128, n006: 3>
    %20 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reduce (n006: 3) reads %19[n000 = n000 - n006 + 1] if [n000 - n006 + 1 >= 0, -n000 + n006 + 10 >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 12, n001: 4, n003: 12, n005: 128, n006: 3>) -> !Image12
    %21 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %3[], %20[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %22 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg25[], %21[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %90 = arith.cmpf ogt, %arg41, %cst : f32
      nest.yield %arg42 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %23 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg6[], %22[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Channels, !Image12) -> !Image12
    %24 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg26[], %23[] {
    ^bb0(%arg41: f32, %arg42: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "pointwise"} : (!Channels, !Image12) -> !Image12
    %25 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %2[], %23[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %26 = nest.compute (n005: 128) reduce (n000: 12, n001: 4, n003: 12) reads %25[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image12) -> !Channels
    %27 = nest.compute (n005: 128) reads %arg27[], %26[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant -5.000000e-01 : f32
      nest.yield %arg41 : f32
    } {heddle.name = "pointwise"} : (!Channels, !Channels) -> !Channels
    %28 = nest.compute (n005: 128) reads %27[] {
    ^bb0(%arg41: f32):
      %cst = arith.constant 0.00173611112 : f32
      nest.yield %arg41 : f32
    } {heddle.name = "pointwise"} : (!Channels) -> !Channels
    %29 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %2[], %28[] {
    ^bb0(%arg41: f32, %arg42: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Channels) -> !Image12
    %30 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %24[], %29[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %31 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %30[] {
    ^bb0(%arg41: f32):
      %90 = arith.negf %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12) -> !Image12
    %32 = nest.compute (n005: 128) reduce (n000: 12, n001: 4, n003: 12) reads %31[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image12) -> !Channels
    %33 = nest.compute (n005: 128) reads %32[] {
    ^bb0(%arg41: f32):
      %cst = arith.constant 0.00173611112 : f32
      nest.yield %arg41 : f32
    } {heddle.name = "pointwise"} : (!Channels) -> !Channels
    %34 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %30[], %33[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Channels) -> !Image12
    %35 = nest.compute (n000: 12, n001: 4, n003: 12, n007: 128) reads %34[n005 = n007] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "rename"} : (!Image12) -> !n000_n001_n003_n007
    %36 = nest.compute (n000: 12, n001: 4, n002: 1, n003: 12, n005: 64, n006: 1, n007: 128) reads %arg5[], %35[] {
    ^bb0(%arg41: f32, %arg42: f32):
      nest.yield %arg42 : f32
    } {heddle.name = "pointwise"} : (!nd.tensor<f32, n002: 1, n005: 64, n006: 1, n007: 128>, !n000_n001_n003_n007) -> !nd.tensor<f32, n000: 12, n001: 4, n002: 1, n003: 12, n005: 64, n006: 1, n007: 128>
    %37 = nest.compute (n000: 12, n001: 4, n002: 1, n003: 12, n005: 64, n006: 1) reduce (n007: 128) reads %36[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!nd.tensor<f32, n000: 12, n001: 4, n002: 1, n003: 12, n005: 64, n006: 1, n007: 128>) -> !nd.tensor<f32, n000: 12, n001: 4, n002: 1, n003: 12, n005: 64, n006: 1>
    %38 = nest.compute (n000: 12, n001: 4, n003: 24, n005: 64, n006: 1) reads %37[n002 = n003 mod 2, n003 = n003 floordiv 2, n006 = 0] if [-(n003 mod 2) >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 12, n001: 4, n002: 1, n003: 12, n005: 64, n006: 1>) -> !nd.tensor<f32, n000: 12, n001: 4, n003: 24, n005: 64, n006: 1>
    %39 = nest.compute (n000: 24, n001: 4, n003: 24, n005: 64) reads %38[n000 = n000 floordiv 2, n006 = n000 mod 2] if [-(n000 mod 2) >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 12, n001: 4, n003: 24, n005: 64, n006: 1>) -> !n000_n001_n003_n005
    %40 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg4[], %22[] {
    ^bb0(%arg41: f32, %arg42: f32):
      nest.yield %arg42 : f32
    } {heddle.name = "pointwise"} : (!Channels, !Image12) -> !Image12
    %41 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg23[], %40[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Channels, !Image12) -> !Image12
    %42 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %0[], %40[] {
    ^bb0(%arg41: f32, %arg42: f32):
      nest.yield %arg42 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %43 = nest.compute (n005: 128) reduce (n000: 12, n001: 4, n003: 12) reads %42[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image12) -> !Channels
    %44 = nest.compute (n005: 128) reads %arg24[], %43[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant -5.000000e-01 : f32
      %90 = arith.mulf %arg41, %cst : f32
      %91 = arith.mulf %arg42, %90 : f32
      nest.yield %91 : f32
    } {heddle.name = "pointwise"} : (!Channels, !Channels) -> !Channels
    %45 = nest.compute (n005: 128) reads %44[] {
    ^bb0(%arg41: f32):
      %cst = arith.constant 0.00173611112 : f32
      nest.yield %cst : f32
    } {heddle.name = "pointwise"} : (!Channels) -> !Channels
    %46 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %0[], %45[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Channels) -> !Image12
    %47 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %41[], %46[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %48 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %47[] {
    ^bb0(%arg41: f32):
      %90 = arith.negf %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12) -> !Image12
    %49 = nest.compute (n005: 128) reduce (n000: 12, n001: 4, n003: 12) reads %48[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image12) -> !Channels
    %50 = nest.compute (n005: 128) reads %49[] {
    ^bb0(%arg41: f32):
      %cst = arith.constant 0.00173611112 : f32
      %90 = arith.mulf %arg41, %cst : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Channels) -> !Channels
    %51 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %47[], %50[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Channels) -> !Image12
    %52 = nest.compute (n000: 12, n001: 4, n003: 12, n007: 128) reads %51[n005 = n007] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "rename"} : (!Image12) -> !n000_n001_n003_n007
    %53 = nest.compute (n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3, n007: 128) reads %arg3[], %52[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!nd.tensor<f32, n002: 3, n005: 128, n006: 3, n007: 128>, !n000_n001_n003_n007) -> !nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3, n007: 128>
    %54 = nest.compute (n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3) reduce (n007: 128) reads %53[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3, n007: 128>) -> !nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3>
    %55 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128, n006: 3) reduce (n002: 3) reads %54[n003 = -n002 + n003 + 1] if [-n002 + n003 + 1 >= 0, n002 - n003 + 10 >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 128, n006: 3>) -> !nd.tensor<f32, n000: 12, n001: 4, n003: 12, n005: 128, n006: 3>
    %56 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reduce (n006: 3) reads %55[n000 = n000 - n006 + 1] if [n000 - n006 + 1 >= 0, -n000 + n006 + 10 >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 12, n001: 4, n003: 12, n005: 128, n006: 3>) -> !Image12
    %57 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg21[], %56[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %90 = arith.cmpf ogt, %arg41, %cst : f32
      %91 = arith.select %90, %arg42, %cst : f32
      nest.yield %91 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %58 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg2[], %57[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Channels, !Image12) -> !Image12
    %59 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %arg22[], %58[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Channels, !Image12) -> !Image12
    %60 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %59[], %arg38[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Image12) -> !Image12
    %61 = nest.compute (n000: 12, n001: 4, n003: 12, n005: 128) reads %60[], %arg37[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image12, !Channels) -> !Image12
    %62 = nest.compute (n000: 12, n001: 4, n003: 12, n007: 128) reads %61[n005 = n007] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "rename"} : (!Image12) -> !n000_n001_n003_n007
    %63 = nest.compute (n000: 12, n001: 4, n002: 3, n003: 12, n005: 64, n006: 3, n007: 128) reads %arg1[], %62[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!nd.tensor<f32, n002: 3, n005: 64, n006: 3, n007: 128>, !n000_n001_n003_n007) -> !nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 64, n006: 3, n007: 128>
    %64 = nest.compute (n000: 12, n001: 4, n002: 3, n003: 12, n005: 64, n006: 3) reduce (n007: 128) reads %63[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 64, n006: 3, n007: 128>) -> !nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 64, n006: 3>
    %65 = nest.compute (n000: 12, n001: 4, n003: 24, n005: 64, n006: 3) reduce (n002: 2) reads %64[n002 = 2 * n002 + (n003 + 1) mod 2, n003 = -n002 + (n003 + 1) floordiv 2] if [-2 * n002 - (n003 + 1) mod 2 + 2 >= 0, -n002 + (n003 + 1) floordiv 2 >= 0, n002 - (n003 + 1) floordiv 2 + 11 >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 12, n001: 4, n002: 3, n003: 12, n005: 64, n006: 3>) -> !nd.tensor<f32, n000: 12, n001: 4, n003: 24, n005: 64, n006: 3>
    %66 = nest.compute (n000: 24, n001: 4, n003: 24, n005: 64) reduce (n006: 2) reads %65[n000 = -n006 + (n000 + 1) floordiv 2, n006 = 2 * n006 + (n000 + 1) mod 2] if [-2 * n006 - (n000 + 1) mod 2 + 2 >= 0, -n006 + (n000 + 1) floordiv 2 >= 0, n006 - (n000 + 1) floordiv 2 + 11 >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 12, n001: 4, n003: 24, n005: 64, n006: 3>) -> !n000_n001_n003_n005
    %67 = nest.compute (n000: 24, n001: 4, n003: 24, n005: 64) reads %39[], %66[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!n000_n001_n003_n005, !n000_n001_n003_n005) -> !n000_n001_n003_n005
    %68 = nest.compute (n000: 24, n001: 4, n003: 24, n005: 64) reads %arg8[], %67[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %90 = arith.cmpf ogt, %arg41, %cst : f32
      %91 = arith.select %90, %arg42, %cst : f32
      nest.yield %91 : f32
    } {heddle.name = "pointwise"} : (!n000_n001_n003_n005, !n000_n001_n003_n005) -> !n000_n001_n003_n005
    %69 = nest.compute (n000: 24, n001: 4, n003: 24, n005: 64) reads %68[], %arg36[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!n000_n001_n003_n005, !n000_n001_n003_n005) -> !n000_n001_n003_n005
    %70 = nest.compute (n000: 24, n001: 4, n003: 24, n005: 64) reads %arg9[], %69[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %90 = arith.cmpf ogt, %arg41, %cst : f32
      %91 = arith.select %90, %arg42, %cst : f32
      nest.yield %91 : f32
    } {heddle.name = "pointwise"} : (!n000_n001_n003_n005, !n000_n001_n003_n005) -> !n000_n001_n003_n005
    %71 = nest.compute (n000: 24, n001: 4, n003: 24, n005: 64) reads %70[], %arg31[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!n000_n001_n003_n005, !n000_n001_n003_n005) -> !n000_n001_n003_n005
    %72 = nest.compute (n000: 24, n001: 4, n002: 3, n003: 24, n005: 64, n006: 3) reads %71[], %arg30[], %arg29[] {
    ^bb0(%arg41: f32, %arg42: i32, %arg43: i32):
      %cst = arith.constant 0.000000e+00 : f32
      %90 = arith.cmpi eq, %arg42, %arg43 : i32
      %91 = arith.select %90, %arg41, %cst : f32
      nest.yield %91 : f32
    } {heddle.name = "pointwise"} : (!n000_n001_n003_n005, !nd.tensor<i32, n002: 3, n006: 3>, !nd.tensor<i32, n000: 24, n001: 4, n003: 24, n005: 64>) -> !nd.tensor<f32, n000: 24, n001: 4, n002: 3, n003: 24, n005: 64, n006: 3>
    %73 = nest.compute (n000: 24, n001: 4, n003: 48, n005: 64, n006: 3) reduce (n002: 2) reads %72[n002 = 2 * n002 + (n003 + 1) mod 2, n003 = -n002 + (n003 + 1) floordiv 2] if [-2 * n002 - (n003 + 1) mod 2 + 2 >= 0, -n002 + (n003 + 1) floordiv 2 >= 0, n002 - (n003 + 1) floordiv 2 + 23 >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 24, n001: 4, n002: 3, n003: 24, n005: 64, n006: 3>) -> !nd.tensor<f32, n000: 24, n001: 4, n003: 48, n005: 64, n006: 3>
    %74 = nest.compute (n000: 48, n001: 4, n003: 48, n005: 64) reduce (n006: 2) reads %73[n000 = -n006 + (n000 + 1) floordiv 2, n006 = 2 * n006 + (n000 + 1) mod 2] if [-2 * n006 - (n000 + 1) mod 2 + 2 >= 0, -n006 + (n000 + 1) floordiv 2 >= 0, n006 - (n000 + 1) floordiv 2 + 23 >= 0] else 0.000000e+00 : f32 {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "unwindow"} : (!nd.tensor<f32, n000: 24, n001: 4, n003: 48, n005: 64, n006: 3>) -> !Image48
    %75 = nest.compute (n000: 48, n001: 4, n003: 48, n005: 64) reads %arg10[], %74[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant 0.000000e+00 : f32
      %90 = arith.cmpf ogt, %arg41, %cst : f32
      %91 = arith.select %90, %arg42, %cst : f32
      nest.yield %91 : f32
    } {heddle.name = "pointwise"} : (!Image48, !Image48) -> !Image48
    %76 = nest.compute (n005: 64) reduce (n000: 48, n001: 4, n003: 48) reads %75[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image48) -> !n005
    %77 = nest.compute (n000: 48, n001: 4, n003: 48, n005: 64) reads %arg0[], %75[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!n005, !Image48) -> !Image48
    %78 = nest.compute (n000: 48, n001: 4, n003: 48, n005: 64) reads %arg11[], %75[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image48, !Image48) -> !Image48
    %79 = nest.compute (n005: 64) reduce (n000: 48, n001: 4, n003: 48) reads %78[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image48) -> !n005
    %80 = nest.compute (n000: 48, n001: 4, n003: 48, n005: 64) reads %arg13[], %77[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image48, !Image48) -> !Image48
    %81 = nest.compute (n005: 64) reduce (n000: 48, n001: 4, n003: 48) reads %80[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!Image48) -> !n005
    %82 = nest.compute (n005: 64) reads %arg12[], %81[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %cst = arith.constant -5.000000e-01 : f32
      %90 = math.rsqrt %arg41 : f32
      %91 = arith.mulf %90, %90 : f32
      %92 = arith.mulf %91, %90 : f32
      %93 = arith.mulf %92, %cst : f32
      %94 = arith.mulf %arg42, %93 : f32
      nest.yield %94 : f32
    } {heddle.name = "pointwise"} : (!n005, !n005) -> !n005
    %83 = nest.compute (n005: 64) reads %82[] {
    ^bb0(%arg41: f32):
      %cst = arith.constant 1.08506945E-4 : f32
      %90 = arith.mulf %arg41, %cst : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!n005) -> !n005
    %84 = nest.compute (n000: 48, n001: 4, n003: 48, n005: 64) reads %arg13[], %83[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      %91 = arith.addf %90, %90 : f32
      nest.yield %91 : f32
    } {heddle.name = "pointwise"} : (!Image48, !n005) -> !Image48
    %85 = nest.compute (n000: 48, n001: 4, n003: 48, n005: 64) reads %arg35[], %84[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.addf %arg41, %arg42 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!Image48, !Image48) -> !Image48
    %86 = nest.compute (n000: 48, n001: 4, n003: 48, n005: 64) reads %85[], %arg28[] {
    ^bb0(%arg41: f32, %arg42: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "pointwise"} : (!Image48, !n005) -> !Image48
    %87 = nest.compute (n000: 48, n001: 4, n003: 48, n007: 64) reads %86[n005 = n007] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } {heddle.name = "rename"} : (!Image48) -> !nd.tensor<f32, n000: 48, n001: 4, n003: 48, n007: 64>
    %88 = nest.compute (n000: 48, n001: 4, n002: 7, n003: 48, n005: 3, n006: 7, n007: 64) reads %arg14[], %87[] {
    ^bb0(%arg41: f32, %arg42: f32):
      %90 = arith.mulf %arg42, %arg41 : f32
      nest.yield %90 : f32
    } {heddle.name = "pointwise"} : (!nd.tensor<f32, n000: 48, n001: 4, n002: 7, n003: 48, n005: 3, n006: 7>, !nd.tensor<f32, n000: 48, n001: 4, n003: 48, n007: 64>) -> !nd.tensor<f32, n000: 48, n001: 4, n002: 7, n003: 48, n005: 3, n006: 7, n007: 64>
    %89 = nest.compute (n002: 7, n005: 3, n006: 7, n007: 64) reduce (n000: 48, n001: 4, n003: 48) reads %88[] {
    ^bb0(%arg41: f32):
      nest.yield %arg41 : f32
    } combine add [0.000000e+00 : f32] {heddle.name = "reduce"} : (!nd.tensor<f32, n000: 48, n001: 4, n002: 7, n003: 48, n005: 3, n006: 7, n007: 64>) -> !nd.tensor<f32, n002: 7, n005: 3, n006: 7, n007: 64>
    return %89, %79, %76, %11, %9, %6, %4 : !nd.tensor<f32, n002: 7, n005: 3, n006: 7, n007: 64>, !n005, !n005, !Channels, !Channels, !Channels, !Channels
  }
}
