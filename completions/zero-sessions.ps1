# Made by "zero-sessions completion", which can make it anew. The program itself says what fits, one candidate a line;
# its answer is data: nothing of it is expanded or evaluated.
Register-ArgumentCompleter -Native -CommandName 'zero-sessions' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
            else { $_.Extent.Text }
        })
    $words = @('__complete', 'powershell', $before.Count) + $before
    if ($wordToComplete -ne '') { $words += $wordToComplete }
    & 'zero-sessions' @words 2>$null |
        Where-Object { -not $_.StartsWith(':') } |
        ForEach-Object {
            $word, $description = $_.Split([char]9, 2)
            if (-not $description) { $description = $word }
            # What is more than a plain word is put in quotes, those in it doubled.
            $text = $word
            if ($word -notmatch '^[A-Za-z0-9-][A-Za-z0-9._:/+=-]*$') {
                $text = '''' + $word.Replace('''', '''''') + ''''
            }
            [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $description)
        }
}
