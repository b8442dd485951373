# Made by "zero-sessions completion", which can make it anew. The program itself says what fits, one candidate a line;
# its answer is data: nothing of it is expanded or evaluated.
function __zero_sessions_complete
    set -l before (commandline -opc)
    set -e before[1]
    set -l current (commandline -ct)
    set -l answers (command zero-sessions __complete fish (count $before) $before "$current" 2>/dev/null </dev/null)
    # Of --cwd=src the file is src.
    set -l file (string replace -r -- '^--[a-z-]+=' '' "$current")
    set -l flag (string match -r -- '^--[a-z-]+=' "$current")
    switch "$answers[1]"
        case :files
            printf '%s\n' "$flag"(__fish_complete_path "$file")
        case :folders
            printf '%s\n' "$flag"(__fish_complete_directories "$file")
        case '*'
            printf '%s\n' $answers
    end
end
complete -c zero-sessions -f -k -a '(__zero_sessions_complete)'
