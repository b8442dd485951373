# Types a line into an interactive zsh on a terminal of its own.
#   zsh -f complete-in-zsh.zsh FOLDER-WITH-SCRIPT CAPTURE-FILE TYPED
# A TAB completes, a newline at the end enters the line.
# The capture gets, each ended by a NUL: `offered`, a word and how it is shown, for each word that is offered; then `line`
# and the words that the program would have been called with.
zmodload zsh/zpty || exit 1
export CAPTURE=$2 SCRIPTS=$1

cat > $CAPTURE.init <<'INIT'
PS1='READY> ' RPS1= LISTMAX=10000
unset zle_bracketed_paste
fpath=($SCRIPTS $fpath)
autoload -Uz compinit
compinit -u -D

# What only asks which words fit is let through; what offers them is written down first.
compadd() {
  if (( ${@[(I)-[OAD]]} )); then
    builtin compadd "$@"
    return
  fi
  # Named like nothing of the script's, whose arrays are read by name.
  local -a capture_words
  local -i capture_at
  local -i capture_display=${@[(i)-(l|)d]}+1
  builtin compadd -O capture_words "$@"
  for (( capture_at = 1; capture_at <= $#capture_words; capture_at++ )); do
    if (( capture_display <= $# )); then
      print -rN -- offered "$capture_words[capture_at]" "${${(@P)@[capture_display]}[capture_at]}" >> $CAPTURE
    else
      print -rN -- offered "$capture_words[capture_at]" "$capture_words[capture_at]" >> $CAPTURE
    fi
  done
  builtin compadd "$@"
}

zero-sessions() { print -rN -- line "$@" >> $CAPTURE }
INIT

zpty shell 'zsh -f -i'
zpty -w shell 'source $CAPTURE.init'
zpty -r -m shell seen '*READY> *' || exit 2
zpty -w -n shell "zero-sessions $3"
# Of a line that is not entered nothing is left (Ctrl-U).
[[ $3 == *$'\n' ]] || zpty -w -n shell $'\C-u'
zpty -w shell 'print DO""NE'
zpty -r -m shell seen '*DONE*' || exit 3
zpty -d shell
