#!/usr/bin/env bash
# Validates each table in TABLES, one a line, and writes a report for each into nbcc-reports. Exits with the code of the
# gravest outcome: 0 nothing is broken, 1 broken or late, 2 not a table, 3 undetermined, 4 the store did not answer.
set -u
mkdir -p nbcc-reports
options=()
for limit in ${AT_MOST:-}; do options+=(--at-most "$limit"); done
number=0 broken=0 gravest=0
while IFS= read -r table; do
  [ -n "$table" ] || continue
  number=$((number + 1))
  report="nbcc-reports/$number.${FORMAT:-sarif}"
  nbcc validate "$table" --format "${FORMAT:-sarif}" "${options[@]}" > "$report"
  code=$?
  echo "$table: exit code $code, report $report"
  [ "$code" -eq 0 ] || broken=$((broken + 1))
  case "$gravest:$code" in
    4:*|*:0|2:1|2:3|1:3) ;;
    *) gravest=$code ;;
  esac
done <<< "$TABLES"
[ -z "${GITHUB_OUTPUT:-}" ] || echo "broken=$broken" >> "$GITHUB_OUTPUT"
exit "$gravest"
