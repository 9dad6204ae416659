# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_explanation.py record.json page.html remarks program: compares what --explain-json, --explain-html and --explain
say, and the text of the program."""
import html.parser
import json
import re
import sys

record = json.load(open(sys.argv[1]))
page, remarks, program = (open(path).read() for path in sys.argv[2:])
CLOCK = 2.6e9  # cycles a second, the default


class Page(html.parser.HTMLParser):
    """Tags that are closed in order, and the record in the page."""

    def __init__(self):
        super().__init__()
        self.open, self.record, self.links = [], "", []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.links += [attributes[key] for key in ("src", "href") if key in attributes]
        if tag not in ("meta", "input"):
            self.open.append((tag, attributes.get("id")))

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag, (self.open, tag)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == ("script", "record"):
            self.record += data


parsed = Page()
parsed.feed(page)
assert not parsed.open and not parsed.links, (parsed.open, parsed.links)
assert json.loads(parsed.record) == record, "the page and the JSON differ"

# Each remark of a value is a decision, with the same alternatives.
remarked = []
for line in remarks.splitlines():
    if found := re.search(r"remark: '(.*)' has the layout (.*?)(, which is given)?$", line):
        remarked.append((found[1], found[2], found[3] is not None, []))
    elif found := re.search(r"note: (.*) would cost ([0-9.-]+)k cycles more", line):
        remarked[-1][3].append((found[1], float(found[2])))
decisions = [each for function in record["functions"] for each in function["decisions"] if "value" in each]
assert len(decisions) == len(remarked), (len(decisions), len(remarked))
for (name, layout, given, others), each in zip(remarked, decisions):
    assert (each["value"], each["layout"], each["given"]) == (name, layout, given), (name, each)
    assert [other["what"] for other in each["others"]] == [what for what, _ in others], (others, each)
    for (_, cycles), other in zip(others, each["others"]):
        assert abs(other["more"] * CLOCK / 1000 - cycles) <= 0.01 * abs(cycles) + 0.06, (cycles, other)

# Values and steps are those of the program.
for function in record["functions"]:
    for value in function["values"]:
        assert f"{value['name']}: {value['type']}  {value['layout']}, {value['bytes']} bytes" in program, value
        assert value["kind"] != "argument" or value["given"] in (True, False), value
    for step in function["steps"]:
        assert f"  {step['name']}: " in program, step
        assert 0 < step["bound"] <= step["seconds"], step
        assert all(0 <= v < len(function["values"]) for v in step["reads"] + step["writes"]), step
        assert "#nest.schedule" in step["schedule"], step
    assert any("lanes" in step for step in function["steps"])
# Other choices of schedules, of fusion and of groups: each has a cost, and a remark with the same one.
others, fusion = 0, 0
for function in record["functions"]:
    assert function["layouts"]["bound"] <= function["layouts"]["seconds"], function["layouts"]
    for step in function["steps"]:
        assert f"' has the schedule {step['schedule']}\n" in remarks, step
        for other in step.get("other_schedules", []):
            assert other["more"] >= 0 and f"note: {other['what']} would take " in remarks, other
            others += other["more"] > 0
    for each in function["fusion"]:
        assert each["chosen"] != each["other"] and f"remark: '{each['nest']}' {each['chosen']}\n" in remarks, each
        verb, cost = "save only" if each["more"] < 0 else "take", abs(each["more"]) * 1e6
        told = re.findall(re.escape(f"note: {each['other']} would {verb} ") + r"([0-9.]+) us", remarks)
        assert any(abs(float(text) - cost) <= 0.01 * cost + 0.006 for text in told), (each, told)
        fusion += 1
print(others, "other schedules,", fusion, "decisions of fusion")
print(len(record["functions"]), "functions,", len(decisions), "remarks of values")
