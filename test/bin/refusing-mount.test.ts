import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { leftovers, type SignalPlace, signalPlace, WRITING_COMMANDS } from '../support/signalled-run.js';

// The built program: `npm test` builds it first.
const BIN = fileURLToPath(new URL('../../bin/zero-sessions.js', import.meta.url));
const MOUNT = new URL('../support/refusing-mount.mjs', import.meta.url).href;

function aPlace(): SignalPlace {
  const place = signalPlace();
  onTestFinished(() => rmSync(place.folder, { recursive: true, force: true }));
  return place;
}

function run({ root, folder }: SignalPlace, argv: readonly string[], input = '', code = 'EPERM') {
  return spawnSync(process.execPath, ['--import', MOUNT, BIN, '--root', root, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: join(folder, 'home'), REFUSED_WITH: code },
    input,
    encoding: 'utf8',
  });
}

describe.runIf(platform() === 'linux')(
  'finding 20: a mount that refuses modes, times, links and the fsync of folders',
  () => {
    test.each(Object.keys(WRITING_COMMANDS))('given %s, then it is done, with one warning', (name) => {
      const place = aPlace();
      const { argv, stdin, written } = WRITING_COMMANDS[name] as (typeof WRITING_COMMANDS)[string];

      for (const code of ['EPERM', 'ENOTSUP', 'ENOSYS']) {
        const { status, stdout, stderr } = run(
          place,
          name === 'fork' ? [...argv.slice(0, 2), '--json'] : argv,
          stdin,
          code,
        );

        expect([status, stderr.match(/^warning: .*/gm)], stderr).toEqual([0, [expect.stringContaining(`(${code})`)]]);
        expect(written(JSON.parse(stdout), place.root)).toBe(true);
        expect(leftovers(place.root)).toEqual([]);
        if (name === 'rewind') break; // there is nothing left to go back from
      }
    });

    test('given a rewind, then undo brings all of it back', () => {
      const place = aPlace();
      const before = readFileSync(join(place.root, 's', 'events.jsonl'), 'utf8');

      expect(run(place, ['rewind', 's', '--to', '2', '--force', '-q']).status).toBe(0);
      expect(readdirSync(join(place.folder, 'work'))).toEqual(['kept.txt']);
      expect(run(place, ['rewind', 's', '--undo', '-q']).status).toBe(0);

      expect(readdirSync(join(place.folder, 'work')).sort()).toEqual(['kept.txt', 'made.txt']);
      expect(readFileSync(join(place.root, 's', 'events.jsonl'), 'utf8')).toContain(before);
    });

    test.each(['EIO', 'ENOSPC', 'EROFS', 'EDQUOT'])('given %s, then that is a failure', (code) => {
      const place = aPlace();

      const { status, stderr } = run(place, ['fork', 's', '--id', 'f'], '', code);

      expect(status, stderr).toBe(1);
      expect(stderr).toContain(code);
      expect(readdirSync(place.root)).not.toContain('f');
    });

    test('given no flock, then a lock folder that cannot be touched is refused', () => {
      const place = aPlace();
      const path = join(place.root, 's', 'events.jsonl');
      const before = readFileSync(path);

      const { status, stderr } = run(place, ['append', 's', '--no-flock'], WRITING_COMMANDS.append?.stdin);

      expect([status, readFileSync(path)], stderr).toEqual([1, before]);
      expect(stderr).toMatch(/cannot be given a time \(EPERM\)\n {2}Put the store/);
      expect(leftovers(place.root)).toEqual([]);
    });
  },
);
