import { completionScript, SHELLS, type Shell } from '../completion/completions.js';
import { defineCommand } from '../define-command.js';

export const completion = defineCommand<Shell>({
  description:
    'The script that completes commands, flags, sessions and positions in this shell. It asks the program each time, and ' +
    'what comes back is never evaluated.',
  examples: [
    'source <(zero-sessions completion bash)',
    'zero-sessions completion fish > ~/.config/fish/completions/zero-sessions.fish',
  ],
  arguments: [{ name: '<shell>', description: 'the shell', choices: SHELLS, value: 'shell' }],
  options: [],
  schemas: [],
  output: { text: completionScript, json: 'own' },
  run: async (_, args) => args.operand('shell') as Shell,
});
