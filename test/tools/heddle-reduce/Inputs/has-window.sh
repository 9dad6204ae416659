# The fault: a window in the file, in a program that heddle-run can read.
grep -q 'nd.window' "$1" && heddle-run "$1" --interpret > /dev/null
