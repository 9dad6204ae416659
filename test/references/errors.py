#!/usr/bin/env python3
# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the errors of the models relative to PyTorch, as a table in Markdown:

    build/bin/HeddleZooTests --gtest_filter='*ZooReference*' --gtest_output=json:errors.json
    test/references/errors.py errors.json

An error is the largest difference of a tensor in units of its largest magnitude; the table has the largest of each kind.
"""
import json
import sys

COLUMNS = {"layers": ("OnePass", "layers"), "loss": ("OnePass", "loss and measures"), "gradients": ("OnePass", "gradients"),
           "running moments": ("OnePass", "running moments"), "ten steps of SGD": ("TenStepsOfSgd", "parameters"),
           "of Adam": ("TenStepsOfAdam", "parameters")}

errors = {}
with open(sys.argv[1]) as file:
    for suite in json.load(file)["testsuites"]:
        for test in suite["testsuite"]:
            name, _, model = test["name"].partition("/")
            for key, value in test.items():
                errors.setdefault(model, {})[name, key] = value

print("| model | " + " | ".join(COLUMNS) + " |")
print("|---" * (len(COLUMNS) + 1) + "|")
for model, found in errors.items():
    print(f"| {model} | " + " | ".join(found.get(key, "") for key in COLUMNS.values()) + " |")
