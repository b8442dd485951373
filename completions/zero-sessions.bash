# Made by "zero-sessions completion", which can make it anew. The program itself says what fits, one candidate a line;
# its answer is data: nothing of it is expanded or evaluated.
# shellcheck shell=bash
_zero_sessions() {
  local answer
  COMPREPLY=()
  while IFS= read -r answer; do
    case $answer in
      :files) compopt -o default 2> /dev/null ;;
      :folders) compopt -o dirnames 2> /dev/null ;;
      *) COMPREPLY+=("$answer") ;;
    esac
  done < <(command zero-sessions __complete bash "$COMP_WORDBREAKS" \
    "${COMP_LINE:0:COMP_POINT}" "${COMP_LINE:COMP_POINT}" 2> /dev/null < /dev/null)
}
complete -o nosort -F _zero_sessions zero-sessions 2> /dev/null || complete -F _zero_sessions zero-sessions
