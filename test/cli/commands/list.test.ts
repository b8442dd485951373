import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { documentOf } from '../../support/json-document.js';
import { PeerRegistry } from '../../support/peer-registry.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

/** Five sessions of four kinds; the clock of the tests shows 2026-07-09T12:00:00Z. */
function aStore() {
  return tempStore([
    aSession('talk').withMessages(3).withMetadata({
      title: 'Fix the login',
      cwd: '/work/app',
      modelId: 'demo-model',
      provider: 'demo',
      tag: 'web',
      createdAt: '2026-07-01T10:00:00Z',
      updatedAt: '2026-07-09T11:30:00Z',
    }),
    aSession('loud').withMessages(12).withMetadata({
      sessionKind: 'fork',
      title: 'another way',
      cwd: '/work/app',
      parentSessionId: 'talk',
      updatedAt: '2026-07-08T12:00:00Z',
    }),
    aSession('scout').withMessages(1).withMetadata({ sessionKind: 'child', title: 'Scout', parentSessionId: 'talk' }),
    aSession('aside').withMetadata({ sessionKind: 'side', updatedAt: '2026-07-07T12:00:00Z' }),
    aSession('new').withMetadata({ sessionKind: 'from-the-future', updatedAt: '2026-07-06T12:00:00Z' }),
  ]);
}

describe('list, as a table', () => {
  test('given sessions of several kinds, then conversations and forks are rows and the others are counted', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['list'], { root });

    expect(run).toMatchObject({
      code: 0,
      out: [
        'ID    TITLE          KIND     UPDATED               EVENTS  MODEL       FOLDER',
        'talk  Fix the login  regular  2026-07-09T11:30:00Z       3  demo-model  /work/app',
        'loud  another way    fork     2026-07-08T12:00:00Z      12              /work/app',
        '',
      ].join('\n'),
      err: '3 sessions hidden (1 child, 1 side, 1 from-the-future); --all shows them.\n',
    });
  });

  test('given a terminal, then times are relative, home is ~, and rows fit', async () => {
    const { root } = aStore();

    const wide = await runCommandLine(['list'], { root, columns: 100, env: { HOME: '/work', NO_COLOR: '1' } });
    const narrow = await runCommandLine(['list'], { root, columns: 40, env: { NO_COLOR: '1' } });

    expect(wide.out).toBe(
      [
        'ID    TITLE          KIND     UPDATED     EVENTS  MODEL       FOLDER',
        'talk  Fix the login  regular  30 min ago       3  demo-model  ~/app',
        'loud  another way    fork     1 d ago         12              ~/app',
        '',
      ].join('\n'),
    );
    expect(narrow.out).toBe(
      [
        'ID    TITLE          KIND     UPDATED',
        'talk  Fix the login  regular  30 min ago',
        'loud  another way    fork     1 d ago',
        '',
      ].join('\n'),
    );
  });

  test('given a session that cannot be read, then it is a row with its fault, whatever the filters', async () => {
    const { root } = tempStore([aSession('good'), aSession('bad').withMetadataText('{')]);

    const run = await runCommandLine(['list', '--tag', 'none', '--limit', '0'], { root });

    expect(run.code).toBe(0);
    expect(run.out.split('\n')[1]).toMatch(/^bad {2}.*metadata\.json: is not JSON {2}damaged$/);
    expect(run.err).toBe('No session fits.\n');
  });

  test('given a title that would move the cursor, then it is shown, not obeyed', async () => {
    const { root } = tempStore(aSession('a').withMetadata({ title: 'x\u001b[2J\u202ey' }));

    const run = await runCommandLine(['list'], { root });

    expect(run.out).toContain('x\\u{1b}[2J\\u{202e}y');
  });

  test('given a long title and a pipe, then nothing is cut', async () => {
    const title = 'very long '.repeat(40).trim();
    const { root } = tempStore(aSession('a').withMetadata({ title }));

    const run = await runCommandLine(['list'], { root });

    expect(run.out).toContain(title);
  });

  test('given no store, then it is empty and says where it looked', async () => {
    const run = await runCommandLine(['list'], { root: '/nowhere/at/all' });

    expect(run).toMatchObject({ code: 0, out: '', err: 'No sessions in /nowhere/at/all.\n' });
  });

  test.skipIf(!existsSync('/proc/locks'))(
    'given a session that a process has locked, then it is marked live',
    async () => {
      const { root, path } = tempStore([aSession('held'), aSession('free')]);
      writeFileSync(path('session.lock'), '');
      const holder = spawn('flock', [path('session.lock'), 'sh', '-c', 'echo held; read line'], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onTestFinished(() => void holder.kill());
      await once(holder.stdout, 'data');

      const table = await runCommandLine(['list'], { root });
      const json = await runCommandLine(['list', '--json'], { root });

      expect(table.out).toMatch(/^held .* regular, live /m);
      expect(table.out).toMatch(/^free .* regular {2,}2026/m);
      const { sessions } = await documentOf('list', json.out);
      expect(sessions.map(({ live }: { live: boolean }) => live)).toEqual([true, false]);
      holder.stdin.end('go\n');
    },
  );

  test.each(['list --json', 'tree --json', 'show open --json', 'lineage open --json'])(
    'finding 41: given a session that a running Zero has open, then %s says that it is live',
    async (line) => {
      const { root } = tempStore([aSession('open'), aSession('closed')]);
      const registry = new PeerRegistry();
      registry.add({ sessionId: 'open', pid: process.pid, cwd: '/work' });

      const { out } = await runCommandLine(line.split(' '), { root, env: registry.env });

      expect(out).toMatch(/"sessionId": "open"[^}]*"live": true/);
      expect(out).not.toMatch(/"sessionId": "closed"[^}]*"live": true/);
    },
  );

  test('given --size, then the bytes of log and blobs are columns', async () => {
    const { root, path, text } = tempStore(aSession('a').withMessages(1));
    mkdirSync(path('checkpoints', 'blobs'), { recursive: true });
    writeFileSync(path('checkpoints', 'blobs', 'f'.repeat(64)), 'x'.repeat(2048));

    const table = await runCommandLine(['list', '--size'], { root });
    const json = await runCommandLine(['list', '--size', '--json'], { root });

    expect(table.out.split('\n')[0]).toContain('LOG  ');
    expect(table.out).toContain('2.0 KiB');
    const { sessions } = await documentOf('list', json.out);
    expect(sessions[0]).toMatchObject({ logBytes: text('events.jsonl').length, blobBytes: 2048 });
  });
});

describe('list, for scripts', () => {
  test('given --json, then every key is there and sessions have the names of metadata.json', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['list', '--json'], { root });

    const document = await documentOf('list', run.out);
    expect(Object.keys(document)).toEqual(['schemaVersion', 'sessions', 'hidden', 'unreadable']);
    expect(document.hidden).toEqual({ child: 1, side: 1, 'from-the-future': 1 });
    expect(document.sessions[1]).toEqual({
      sessionId: 'loud',
      sessionKind: 'fork',
      title: 'another way',
      cwd: '/work/app',
      parentSessionId: 'talk',
      createdAt: '2026-07-09T10:00:00Z',
      updatedAt: '2026-07-08T12:00:00Z',
      eventCount: 12,
      lastEventType: 'message',
      live: expect.toSatisfy((live) => live === false || live === null),
    });
  });

  test('given no store, then --json is an empty view', async () => {
    const run = await runCommandLine(['list', '--json'], { root: '/nowhere/at/all' });

    expect(JSON.parse(run.out)).toEqual({ schemaVersion: 1, sessions: [], hidden: {}, unreadable: [] });
  });

  test('given a damaged session, then --json has it with code and message, and the exit code is 0', async () => {
    const { root } = tempStore([aSession('good'), aSession('bad').withMetadataText('{')]);

    const run = await runCommandLine(['list', '--json'], { root });

    const { sessions, unreadable } = await documentOf('list', run.out);
    expect(run.code).toBe(0);
    expect(sessions).toHaveLength(1);
    expect(unreadable).toEqual([
      { sessionId: 'bad', code: 'METADATA_DAMAGED', message: expect.stringContaining('is not JSON') },
    ]);
  });

  test('given --jsonl, then each session is one line', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['list', '--jsonl'], { root });

    const ids = run.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).sessionId);
    expect(ids).toEqual(['talk', 'loud']);
  });

  test('given -q, then only ids go out and no notes, but damage is said', async () => {
    const { root } = tempStore([
      aSession('a'),
      aSession('b').withMetadata({ sessionKind: 'child' }),
      aSession('bad').withMetadataText('{'),
    ]);

    const run = await runCommandLine(['list', '-q'], { root });

    expect(run.out).toBe('a\n');
    expect(run.err).toMatch(/^warning: Session bad: .*is not JSON\n$/);
  });

  test('given secrets in what is listed, then --json hides them but for ids', async () => {
    const id = 'sk-ant-api03-abcdefghijklmnopqrstuvwx';
    const { root } = tempStore(aSession(id).withMetadata({ title: 'token=abcdef1234567890abcd', cwd: '/a' }));

    const run = await runCommandLine(['list', '--json'], { root });

    const { sessions } = await documentOf('list', run.out);
    expect(sessions[0]).toMatchObject({ sessionId: id, title: 'token=[REDACTED]' });
  });
});

describe('the flags of list', () => {
  test.each([
    [['--all'], ['talk', 'scout', 'loud', 'aside', 'new']],
    [['--kind', 'child'], ['scout']],
    [
      ['--kind', 'child', '--kind', 'regular'],
      ['talk', 'scout'],
    ],
    [['--kind', 'from-the-future'], ['new']],
    [
      ['--cwd', '/work/app'],
      ['talk', 'loud'],
    ],
    [
      ['--cwd', '/work/app/../app/'],
      ['talk', 'loud'],
    ],
    [
      ['--cwd', '/work'],
      ['talk', 'loud'],
    ],
    [['--cwd', '/work', '--exact'], []],
    [['--tag', 'web'], ['talk']],
    [['--tag', 'we'], []],
    [['--model', 'demo-model'], ['talk']],
    [['--provider', 'demo'], ['talk']],
    [['--title', 'LOGIN'], ['talk']],
    [['--title', 'nothing'], []],
    [['--since', '2026-07-09T11:30:00Z'], ['talk']],
    [['--since', '2026-07-09T11:30:01Z'], []],
    [['--until', '2026-07-09T11:30:00Z'], ['loud']],
    [['--since', '30m'], ['talk']],
    [['--since', '29m'], []],
    [
      ['--since', '1d', '--all'],
      ['talk', 'scout', 'loud'],
    ],
    [
      ['--until', '24h', '--all'],
      ['aside', 'new'],
    ],
    [
      ['--since', '2026-07-08T14:00:00+02:00'],
      ['talk', 'loud'],
    ],
    [
      ['--sort', 'title'],
      ['loud', 'talk'],
    ],
    [
      ['--sort', 'created'],
      ['loud', 'talk'],
    ],
    [
      ['--sort', 'events', '--all'],
      ['loud', 'talk', 'scout', 'aside', 'new'],
    ],
    [['--reverse'], ['loud', 'talk']],
    [
      ['--all', '--limit', '2'],
      ['talk', 'scout'],
    ],
    [
      ['--all', '--limit', '2', '--reverse'],
      ['new', 'aside'],
    ],
    [['--limit', '0'], []],
  ])('given %j, then it lists %j', async (flags, ids) => {
    const { root } = aStore();

    const run = await runCommandLine(['list', '-q', ...flags], { root });

    expect(run.code).toBe(0);
    expect(run.out).toBe(ids.map((id) => `${id}\n`).join(''));
  });

  test('given a date, then it is local midnight', async () => {
    const midnight = new Date(2026, 6, 9).toISOString().replace('.000', '');
    const { root } = tempStore(aSession('a').withMetadata({ updatedAt: midnight }));

    const since = await runCommandLine(['list', '-q', '--since', '2026-07-09'], { root });
    const until = await runCommandLine(['list', '-q', '--until', '2026-07-09'], { root });

    expect([since.out, until.out]).toEqual(['a\n', '']);
  });

  test('given --here, then sessions of the present folder are listed, by whatever name it has', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'zs-here-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'link'));
    const { root } = tempStore([aSession('a').withMetadata({ cwd: join(folder, 'real') }), aSession('b')]);

    const real = await runCommandLine(['list', '-q', '--here'], { root, cwd: join(folder, 'real') });
    const link = await runCommandLine(['list', '-q', '--here'], { root, cwd: join(folder, 'link') });

    expect([real.out, link.out]).toEqual(['a\n', 'a\n']);
  });

  test('given --on, then only sessions of that day are listed, and no other span goes with it', async () => {
    const at = (day: number, hour: number) => new Date(2026, 6, day, hour).toISOString().replace('.000Z', 'Z');
    const { root } = tempStore([
      aSession('before').withMetadata({ updatedAt: at(7, 23) }),
      aSession('first').withMetadata({ updatedAt: at(8, 0) }),
      aSession('last').withMetadata({ updatedAt: at(8, 23) }),
      aSession('after').withMetadata({ updatedAt: at(9, 0) }),
    ]);
    const now = () => new Date(2026, 6, 9, 12);

    expect((await runCommandLine(['list', '-q', '--on', 'yesterday'], { root, now })).out).toBe('last\nfirst\n');
    expect((await runCommandLine(['list', '--on', 'today', '--since', '1d'], { root, now })).code).toBe(2);
    expect((await runCommandLine(['list', '--exact'], { root, now })).code).toBe(2);
  });

  test('given --here in a work tree, then all of it is listed, and only the folder with --exact', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'zs-tree-')));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'repo/.git'), { recursive: true });
    mkdirSync(join(folder, 'repo/src/deep'), { recursive: true });
    writeFileSync(join(folder, 'repo/.git/HEAD'), 'ref: refs/heads/main\n');
    const { root } = tempStore([
      aSession('top').withMetadata({ cwd: join(folder, 'repo'), updatedAt: '2026-07-09T10:00:00Z' }),
      aSession('deep').withMetadata({ cwd: join(folder, 'repo/src/deep'), updatedAt: '2026-07-09T09:00:00Z' }),
      aSession('beside').withMetadata({ cwd: join(folder, 'repository') }),
    ]);
    const cwd = join(folder, 'repo/src');

    expect((await runCommandLine(['list', '-q', '--here'], { root, cwd })).out).toBe('top\ndeep\n');
    expect((await runCommandLine(['list', '-q', '--here', '--exact'], { root, cwd })).out).toBe('');
    expect((await runCommandLine(['path', 'here'], { root, cwd })).out).toBe(`${root}/top\n`);
    expect((await runCommandLine(['path', 'here'], { root, cwd: folder })).out).toBe(`${root}/beside\n`);
  });

  test('given --title in another normal form, then it is found', async () => {
    const { root } = tempStore(aSession('a').withMetadata({ title: 'Cafe\u0301 menu' }));

    expect((await runCommandLine(['list', '-q', '--title', 'CAF\u00c9'], { root })).out).toBe('a\n');
  });

  test('given --limit, then the rest is counted on stderr', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['list', '--all', '--limit', '3'], { root });

    expect(run.err).toBe('2 more sessions beyond --limit.\n');
  });

  test('given filters, then only sessions that fit them count as hidden', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['list', '--json', '--title', 'scout'], { root });

    expect((await documentOf('list', run.out)).hidden).toEqual({ child: 1 });
  });

  test.each([
    ['--limit', '-1'],
    ['--limit', '1.5'],
    ['--since', 'tomorrow'],
    ['--on', '2h'],
    ['--since', '2026-02-30'],
    ['--until', '3y'],
    ['--sort', 'size'],
    ['--kind', ' '],
    ['--cwd', ''],
  ])('given %s %j, then it is refused', async (flag, value) => {
    const run = await runCommandLine(['list', `${flag}=${value}`], { root: '/nowhere' });

    expect(run.code).toBe(2);
  });

  test('given --here and --cwd, then they contradict each other', async () => {
    const run = await runCommandLine(['list', '--here', '--cwd', '/'], { root: '/nowhere' });

    expect(run.code).toBe(2);
  });
});
