import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOutput, type OutputTarget } from '../../src/cli/output.js';
import { SystemError } from '../../src/errors.js';

const SIZE = 3_000_000;
const run = promisify(execFile);
let dir = '';

// Only real processes have pipes that fill, close and block: the module is compiled for them.
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'output-'));
  const compile = ['--ignoreConfig', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  const tsc = 'node_modules/typescript/bin/tsc';
  execFileSync(process.execPath, [tsc, ...compile, '--rootDir', 'src', '--outDir', dir, 'src/cli/output.ts']);
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  writeFileSync(join(dir, 'program.js'), PROGRAM);
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

// program.js <command> [exit code]
const PROGRAM = `
import { createOutput } from './cli/output.js';
const out = createOutput({ fd: 1, stream: () => process.stdout, name: 'standard output', failures: 'throw' });
const err = createOutput({ fd: 2, stream: () => process.stderr, name: 'standard error', failures: 'ignore' });
const [, , command, code] = process.argv;
const line = 'x'.repeat(99) + '\\n';
process.on('SIGINT', () => process.exit(130));
try {
  if (command === 'whole') await out.write(line.repeat(${SIZE} / 100));
  if (command === 'lines') for (let at = 0; at < ${SIZE} / 100; at += 1) await out.write(line);
  if (command === 'forgotten') for (let at = 0; at < ${SIZE} / 100; at += 1) void out.write(line);
  if (command === 'endless') while (!out.closed) await out.write(line);
  if (command === 'notes') for (let at = 0; at < 5_000; at += 1) await err.write(line);
  if (command === 'notes') await out.write('done\\n');
  process.exitCode = Number(code);
} catch (error) {
  await err.write(error.code + ' ' + error.message + '\\n');
  process.exitCode = 1;
}
`;

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a line of bash in which `program` stands for the program, and `told` for it with its exit code on stderr. */
function bash(line: string): Promise<Ran> {
  const program = `program() { "${process.execPath}" "${join(dir, 'program.js')}" "$@"; }`;
  const told = 'told() { program "$@"; echo "exit $?" >&2; }';
  return run('bash', ['-c', `${program}; ${told}; ${line}`], { timeout: 20_000 });
}

describe('a reader that is slow', () => {
  test.each(['whole', 'lines', 'forgotten'])(
    'given 3,000,000 bytes (%s), then all arrive and the exit code stands',
    async (command) => {
      const { stdout, stderr } = await bash(`told ${command} 7 | (sleep 1; wc -c)`);

      expect(stdout.trim()).toBe(String(SIZE));
      expect(stderr).toBe('exit 7\n');
    },
  );

  test('given Ctrl-C while the pipe is full, then the program can act on it at once', async () => {
    const child = spawn(process.execPath, [join(dir, 'program.js'), 'whole', '0'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'readable'); // a first part has come, and nobody takes more

    child.kill('SIGINT');

    expect(await once(child, 'exit')).toEqual([130, null]);
  });
});

describe('a reader that goes away', () => {
  test('given head -1, then the program learns of it, says nothing and ends well', async () => {
    const { stdout, stderr } = await bash('told endless 0 | head -1');

    expect(stdout).toBe(`${'x'.repeat(99)}\n`);
    expect(stderr).toBe('exit 0\n');
  });

  test('given a program that never looks, then it writes into nothing and ends well', async () => {
    const { stderr } = await bash('told lines 0 | head -1');

    expect(stderr).toBe('exit 0\n');
  });

  test('given notes that nobody reads, then the data still arrives', async () => {
    const { stdout } = await bash('program notes 0 2> >(true)');

    expect(stdout).toBe('done\n');
  });

  test('given a stdout that was closed before the start, then the program ends', async () => {
    const { stderr } = await bash('told whole 0 >&-');

    expect(stderr).toBe('exit 0\n');
  });
});

describe('a target that takes nothing', () => {
  test.runIf(process.platform === 'linux')('given a full disk, then it is an error that names the stream', async () => {
    const { stderr } = await bash('told whole 0 >/dev/full');

    expect(stderr).toBe('SYSTEM Cannot write to standard output: ENOSPC\nexit 1\n');
  });

  test.runIf(process.platform === 'linux')('given notes on a full disk, then they are dropped', async () => {
    const { stdout } = await bash('program notes 0 2>/dev/full');

    expect(stdout).toBe('done\n');
  });
});

describe('a file', () => {
  test('given 3,000,000 bytes, then it holds all of them', async () => {
    const { stderr } = await bash(`told whole 3 >"${dir}/file"`);

    expect(readFileSync(join(dir, 'file')).length).toBe(SIZE);
    expect(stderr).toBe('exit 3\n');
  });

  test('given text and bytes, then they stand in the order of the calls, awaited or not', async () => {
    const path = join(dir, 'order');
    const fd = openSync(path, 'w');
    const output = createOutput(target({ fd }));

    const first = output.write('é1\n');
    const second = output.write(Buffer.from([0xff, 0x0a]));
    await Promise.all([second, first]);
    closeSync(fd);

    expect([...readFileSync(path)]).toEqual([0xc3, 0xa9, 0x31, 0x0a, 0xff, 0x0a]);
  });
});

describe('a pipe that somebody made non-blocking', () => {
  test.skipIf(process.platform === 'win32')('given no room left, then the rest waits for the reader', async () => {
    const { reader, writer } = openFifo();
    writeSync(writer, Buffer.alloc(60_000, 'a'));
    const output = createOutput(
      target({ fd: writer, stream: () => new Socket({ fd: writer, readable: false, writable: true }) }),
    );

    const writing = output.write(Buffer.alloc(200_000, 'b'));
    const read = await readUntil(reader, 260_000);
    await writing;

    expect(read).toBe(`${'a'.repeat(60_000)}${'b'.repeat(200_000)}`);
  });
});

describe.skipIf(process.platform === 'win32')('the signal of an output', () => {
  test('given a reader that goes while data waits, then the write resolves and the signal aborts', async () => {
    const output = createOutput(target({ fd: openFifo().writer, stream: brokenPipe }));
    const { signal } = output;

    await output.write(Buffer.alloc(200_000));

    expect(signal.aborted).toBe(true);
    expect(output.closed).toBe(true);
    await output.write('more');
  });

  test('given a signal that is asked for afterwards, then it is aborted already', async () => {
    const output = createOutput(target({ fd: openFifo().writer, stream: brokenPipe }));

    await output.write(Buffer.alloc(200_000));

    expect(output.signal.aborted).toBe(true);
  });
});

describe('a failure', () => {
  test('given one that is no reader gone, then every later write rejects too', async () => {
    const output = createOutput(target({ fd: 1_000_000 }));

    await expect(output.write('a')).rejects.toBeInstanceOf(SystemError);
    await expect(output.write('b')).rejects.toMatchObject({ code: 'SYSTEM', errno: 'EBADF' });
    expect(output.closed).toBe(false);
  });

  test('given a stream that fails while data waits, then that write rejects', async () => {
    const output = createOutput(target({ fd: openFifo().writer, stream: () => brokenStream('EIO') }));

    await expect(output.write(Buffer.alloc(200_000))).rejects.toMatchObject({ errno: 'EIO' });
  });
});

function target(parts: Partial<OutputTarget> & { readonly fd: number }): OutputTarget {
  return { stream: () => new PassThrough(), name: 'standard output', failures: 'throw', ...parts };
}

let fifos = 0;

/** A pipe within this process, so that neither end may block. */
function openFifo(): { readonly reader: number; readonly writer: number } {
  fifos += 1;
  const path = join(dir, `fifo${fifos}`);
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

function brokenPipe(): Writable {
  return brokenStream('EPIPE');
}

function brokenStream(code: string): Writable {
  return new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${code}`), { code })),
  });
}

async function readUntil(fd: number, bytes: number): Promise<string> {
  const into = Buffer.alloc(bytes);
  for (let read = 0; read < bytes; ) {
    try {
      const count = readSync(fd, into, read, bytes - read, null);
      if (count === 0) break;
      read += count;
    } catch {
      await setTimeout(5); // EAGAIN: empty for now
    }
  }
  return into.toString();
}
