/** The shells that there is a script for. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/** The command by which a script asks the program what fits; it is in no help. */
export const COMPLETION_CALLBACK = '__complete';
/** What the callback answers with when the shell should complete a file, or a folder. */
export const FILES_ANSWER = ':files';
export const FOLDERS_ANSWER = ':folders';

const PROGRAM = 'zero-sessions';
const HEADER = `# Made by "${PROGRAM} completion", which can make it anew. The program itself says what fits, one candidate a line;
# its answer is data: nothing of it is expanded or evaluated.`;

/**
 * Gives the script that completes command lines of the program in a shell.
 *
 * It knows the program's name and how to ask it; commands, flags and sessions are the program's to tell, so that a script
 * stays right when the program grows.
 */
export function completionScript(shell: Shell): string {
  switch (shell) {
    case 'bash':
      return BASH;
    case 'zsh':
      return ZSH;
    case 'fish':
      return FISH;
    case 'powershell':
      return POWERSHELL;
    default:
      return shell satisfies never;
  }
}

/** Gives a text as PowerShell's parser takes it literally: in single quotes, those in it doubled. */
export function quoteForPowerShell(text: string): string {
  // The parser takes the typographic ones for single quotes as well.
  return `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
}

// Bash splits words at COMP_WORDBREAKS, and puts in the last part only: the program is given the line as typed, and
// these characters. compopt came with bash 4, nosort with 4.4; in an older one files are not completed, and
// candidates come in the order of the alphabet.
const BASH = `${HEADER}
# shellcheck shell=bash
_zero_sessions() {
  local answer
  COMPREPLY=()
  while IFS= read -r answer; do
    case $answer in
      ${FILES_ANSWER}) compopt -o default 2> /dev/null ;;
      ${FOLDERS_ANSWER}) compopt -o dirnames 2> /dev/null ;;
      *) COMPREPLY+=("$answer") ;;
    esac
  done < <(command ${PROGRAM} ${COMPLETION_CALLBACK} bash "$COMP_WORDBREAKS" \\
    "\${COMP_LINE:0:COMP_POINT}" "\${COMP_LINE:COMP_POINT}" 2> /dev/null < /dev/null)
}
complete -o nosort -F _zero_sessions ${PROGRAM} 2> /dev/null || complete -F _zero_sessions ${PROGRAM}
`;

// "\${(Q)…}" takes quotes off and expands nothing. Not _describe: it puts what has the same description together, and the
// newest would no longer be first.
const ZSH = `#compdef ${PROGRAM}
${HEADER}
_zero_sessions() {
  local answer word tab=$'\\t'
  local -i width=0 described=0
  local -a before after answers words_offered shown
  (( CURRENT > 2 )) && before=("\${(@Q)words[2,CURRENT-1]}")
  (( CURRENT < $#words )) && after=("\${(@Q)words[CURRENT+1,-1]}")
  answers=("\${(@f)$(command ${PROGRAM} ${COMPLETION_CALLBACK} zsh $#before "\${before[@]}" "\${(Q)PREFIX}" \\
    "\${after[@]}" 2> /dev/null < /dev/null)}")
  case $answers[1] in
    '') return 1 ;;
    ${FILES_ANSWER}) compset -P '--[a-z-]##='; _files; return ;;
    ${FOLDERS_ANSWER}) compset -P '--[a-z-]##='; _files -/; return ;;
  esac
  words_offered=("\${(@)answers%%$tab*}")
  for word in "\${words_offered[@]}"; do
    (( $#word > width )) && width=$#word
  done
  for answer in "\${answers[@]}"; do
    word=\${answer%%$tab*}
    if [[ $answer == *$tab* ]]; then
      described=1
      word="\${(r:$width:)word}  -- \${answer#*$tab}"
    fi
    shown+=("\${word[1,COLUMNS-1]}")
  done
  if (( described )); then
    compadd -V ${PROGRAM} -l -d shown -a words_offered
  else
    compadd -V ${PROGRAM} -a words_offered
  fi
}
if [[ $funcstack[1] == _zero-sessions ]]; then
  _zero_sessions "$@"
else
  compdef _zero_sessions ${PROGRAM}
fi
`;

const FISH = `${HEADER}
function __zero_sessions_complete
    set -l before (commandline -opc)
    set -e before[1]
    set -l current (commandline -ct)
    set -l answers (command ${PROGRAM} ${COMPLETION_CALLBACK} fish (count $before) $before "$current" 2>/dev/null </dev/null)
    # Of --cwd=src the file is src.
    set -l file (string replace -r -- '^--[a-z-]+=' '' "$current")
    set -l flag (string match -r -- '^--[a-z-]+=' "$current")
    switch "$answers[1]"
        case ${FILES_ANSWER}
            printf '%s\\n' "$flag"(__fish_complete_path "$file")
        case ${FOLDERS_ANSWER}
            printf '%s\\n' "$flag"(__fish_complete_directories "$file")
        case '*'
            printf '%s\\n' $answers
    end
end
complete -c ${PROGRAM} -f -k -a '(__zero_sessions_complete)'
`;

// Windows PowerShell drops empty arguments: the word under the cursor is one more than the count, or left out.
// Without candidates PowerShell completes files by itself.
const POWERSHELL = `${HEADER}
Register-ArgumentCompleter -Native -CommandName ${quoteForPowerShell(PROGRAM)} -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
            else { $_.Extent.Text }
        })
    $words = @(${quoteForPowerShell(COMPLETION_CALLBACK)}, ${quoteForPowerShell('powershell')}, $before.Count) + $before
    if ($wordToComplete -ne '') { $words += $wordToComplete }
    & ${quoteForPowerShell(PROGRAM)} @words 2>$null |
        Where-Object { -not $_.StartsWith(':') } |
        ForEach-Object {
            $word, $description = $_.Split([char]9, 2)
            if (-not $description) { $description = $word }
            # What is more than a plain word is put in quotes, those in it doubled.
            $text = $word
            if ($word -notmatch '^[A-Za-z0-9-][A-Za-z0-9._:/+=-]*$') {
                $text = ${quoteForPowerShell("'")} + $word.Replace(${quoteForPowerShell("'")}, ${quoteForPowerShell("''")}) + ${quoteForPowerShell("'")}
            }
            [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $description)
        }
}
`;
