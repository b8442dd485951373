#!/usr/bin/env bash
# The life of a session, from a script: no terminal, no agent. Every line must succeed.
set -euo pipefail
zero-sessions() { "$NODE" "$BIN" "$@"; }
say() { printf '{"type":"message","payload":{"role":"%s","content":"%s"}}\n' "$1" "$2"; }
# `!` is no check: set -e overlooks it.
fails() { if "$@"; then printf 'expected to fail: %s\n' "$*" >&2; exit 1; fi; }
is() { [ "$1" = "$2" ] || { printf 'expected %q, got %q\n' "$2" "$1" >&2; exit 1; }; }

mkdir workspace && cd workspace
git init -q .
printf 'one\n' > a.txt
printf '#!/bin/sh\n' > run.sh && chmod 755 run.sh
git add . && git -c user.name=t -c user.email=t@example.org commit -qm start

# create, append from stdin, checkpoint capture
id=$(zero-sessions create --title 'A life' --cwd "$PWD" -q)
is "$(zero-sessions list -q)" "$id"
{ say user 'please change it' && say assistant 'I will'; } | zero-sessions append "$id" -q > /dev/null
is "$(zero-sessions checkpoint capture "$id" a.txt run.sh new/b.txt --tool edit -q)" 3

# change files, see what changed, go back
printf 'two\n' > a.txt && chmod 644 run.sh && mkdir new && printf 'new\n' > new/b.txt
say assistant done | zero-sessions append "$id" -q > /dev/null
fails git diff --quiet
is "$(zero-sessions checkpoint diff "$id" -q | tr '\n' ' ')" 'a.txt run.sh new/b.txt '
is "$(zero-sessions rewind "$id" --to 2 --dry-run -q | tr '\n' ' ')" 'a.txt run.sh new/b.txt '
rewind=$(zero-sessions rewind "$id" --to 2 -q)
git diff --quiet
is "$(git status --porcelain)" ''
is "$(zero-sessions show "$id" -q | tr '\n' ' ')" '1 2 6 '

# undo, and undo the undo
zero-sessions rewind "$id" --undo "$rewind" -q > /dev/null
is "$(cat a.txt new/b.txt)" $'two\nnew'
zero-sessions rewind "$id" --undo -q > /dev/null
git diff --quiet

# fork
new=$(zero-sessions fork latest -q)
is "$(zero-sessions lineage "$new" -q | tr '\n' ' ')" "$id $new "
is "$(zero-sessions fork "$id" --at 1 -q | xargs "$NODE" "$BIN" show -q | tr '\n' ' ')" '1 2 '

# compact, with any command that reads a prompt and prints a summary
for word in a b c d e f; do say user "$word"; done | zero-sessions append "$new" -q > /dev/null
zero-sessions compact "$new" -q | grep -q 'please change it'
zero-sessions compact "$new" --summarizer cat -q > /dev/null
zero-sessions show "$new" --replay --json | grep -q '"type": "session_compaction"'
fails zero-sessions compact "$new" --summarizer false -q 2> /dev/null

# resume
zero-sessions resume "$new" --prompt 'go on' -q | tail -1 | grep -qx 'go on'
printf 'go on' | zero-sessions resume "$new" --prompt - -q | head -1 | grep -q "$new"
is "$(zero-sessions resume "$new" --exec "sh -c 'pwd; exit 0' {}" -q)" "$PWD"
code=0 && zero-sessions resume "$new" --exec "sh -c 'exit 3'" -q || code=$?
is "$code" 3

# spec
zero-sessions spec record "$id" --spec-id login --spec-status approved -q > /dev/null
impl=$(zero-sessions spec implement "$id" --prompt 'Do it' -q)
is "$(zero-sessions spec implement "$id" --prompt 'Do it' -q)" "$impl"
is "$(zero-sessions show "$impl" -q)" 1

# of 20 that append at once unless it is there, one does
for _ in $(seq 20); do
  say system once | zero-sessions append "$id" --unless-exists message:/role=system -q --lock-timeout 60000 &
done > ../appended
wait
is "$(wc -l < ../appended | tr -d ' ')" 1
is "$(zero-sessions show "$id" --type message --jsonl | grep -c '"role":"system"')" 1

# a child, a title, the folder
child=$(zero-sessions create --parent "$id" --agent scout -q)
is "$(zero-sessions children "$id" -q)" "$child"
zero-sessions rename "$child" 'Looked around' -q > /dev/null
is "$(zero-sessions path 'title:Looked around')" "$ZERO_SESSIONS_ROOT/$child"
zero-sessions info --json | grep -q '"rootExists": true'
