import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { CliContext, Input } from './context.js';
import { askAtTerminal } from './input/ask.js';
import { createOutput } from './output.js';
import { exitOfInterrupted } from './report/interruption.js';
import { runCli } from './run-cli.js';
import { listenForSignals } from './signals.js';

// The process comes in here and nowhere else.
const signals = listenForSignals();
// No await at the top: the program is shipped as CommonJS, which starts faster and knows none.
void run();

async function run(): Promise<void> {
  const exitCode = await runCli(process.argv.slice(2), processContext());
  process.exitCode = exitCode;
  // What is still on its way to a reader who does not read must not hold back Ctrl-C. Everybody else waits for it.
  // biome-ignore lint/nursery/noProcessExit: see above
  if (signals.aborted && exitCode === exitOfInterrupted(signals.reason)) process.exit();
}

function processContext(): CliContext {
  const outIsTerminal = isTerminal(1);
  return {
    out: createOutput({ fd: 1, stream: () => process.stdout, name: 'standard output', failures: 'throw' }),
    err: createOutput({ fd: 2, stream: () => process.stderr, name: 'standard error', failures: 'ignore' }),
    in: processInput(),
    outIsTerminal,
    errIsTerminal: isTerminal(2),
    columns: outIsTerminal ? columnsOfTerminal() : 80,
    env: process.env,
    cwd: workingDirectory(),
    uid: process.getuid?.(),
    now: () => new Date(),
    signal: signals,
  };
}

function processInput(): Input {
  return {
    isTerminal: isTerminal(0),
    bytes: () => process.stdin as AsyncIterable<Uint8Array>,
    ask: askAtTerminal,
  };
}

// Asked of terminals only: to look at a stream of node's costs 5 ms.
function columnsOfTerminal(): number {
  return process.stdout.columns || Number(process.env.COLUMNS) || 80;
}

function isTerminal(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && isatty(fd);
  } catch {
    return false; // closed
  }
}

// The folder may have been removed under a running shell.
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}
