import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { documentOf } from '../../support/json-document.js';
import { type CliSurroundings, runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

function run(temp: TempStore, argv: readonly string[], surroundings: CliSurroundings = {}) {
  return runCommandLine(['resume', ...argv], { root: temp.root, ...surroundings });
}

describe('resume', () => {
  test('finding 22: given a session, then the line to go on with comes first and alone, then what is resumed', async () => {
    const temp = tempStore(aSession('s').withMessages(3).withMetadata({ title: "It's work", cwd: "/it's here" }));

    expect(await run(temp, ['s'])).toMatchObject({
      code: 0,
      out: [
        `cd '/it'\\''s here' && zero exec --resume s --prompt "<your request>"`,
        'session  s',
        "title    It's work",
        "folder   /it's here",
        'context  3 events',
        '',
      ].join('\n'),
    });
  });

  test('finding 22: given what will keep it from going on, then that is said, and nothing under -q', async () => {
    const temp = tempStore(aSession('s').withMetadata({ cwd: '/no/such/folder' }));

    const { code, err } = await run(temp, ['s']);

    expect(code).toBe(0);
    expect(err).toContain(`warning: Zero cannot reach this store: ${temp.root} is no folder zero/sessions`);
    expect(err).toContain('warning: The folder of session s is gone: /no/such/folder');
    expect((await run(temp, ['s', '-q'])).err).toBe('');
  });

  test('finding 22: given a Zero that has the session open, then that is said', async () => {
    const temp = tempStore(aSession('s'));
    const runtime = mkdtempSync(join(tmpdir(), 'zs-runtime-'));
    onTestFinished(() => rmSync(runtime, { recursive: true, force: true }));
    const registry = join(runtime, 'zero/peers/registry');
    mkdirSync(registry, { recursive: true });
    writeFileSync(join(registry, 'a.json'), JSON.stringify({ sessionId: 's', pid: process.pid, cwd: '/' }));

    const { err } = await run(temp, ['s'], { env: { XDG_RUNTIME_DIR: runtime } });

    expect(err).toContain(`warning: Zero has session s open (process ${process.pid})`);
  });

  test.each([
    ['the one that Zero looks in by itself', '.local/share/zero/sessions', {}, ''],
    ['that of XDG_DATA_HOME', 'data/zero/sessions', { XDG_DATA_HOME: 'data' }, ''],
    ['another zero/sessions', "it's/zero/sessions", {}, "XDG_DATA_HOME='HOME/it'\\''s' "],
    ['a link that is called so', 'link/zero/sessions', {}, 'XDG_DATA_HOME=HOME/link '],
  ])('finding 22: given a store that is %s, then the line sets what Zero needs', async (_, place, data, sets) => {
    const temp = tempStore(aSession('s'));
    const home = realpathSync(dirname(temp.root));
    const root = join(home, place);
    mkdirSync(dirname(root), { recursive: true });
    if (place.startsWith('link')) symlinkSync(temp.root, root);
    else renameSync(temp.root, root);
    const env = Object.fromEntries(Object.entries(data).map(([name, value]) => [name, join(home, value)]));

    const { out, err } = await runCommandLine(['--root', root, 'resume', 's'], { env: { HOME: home, ...env } });

    const line = `${sets.replace('HOME/', `${home}/`)}zero exec --resume s --prompt "<your request>"`;
    expect([out.split('\n')[0], err]).toEqual([line, '']);
  });

  test('given no session and no terminal, then it is the latest that can be resumed', async () => {
    const temp = tempStore([
      aSession('old').withMetadata({ updatedAt: '2026-07-09T08:00:00Z' }),
      aSession('new').withMetadata({ updatedAt: '2026-07-09T09:00:00Z' }),
      aSession('side').withMetadata({ sessionKind: 'side', updatedAt: '2026-07-09T10:00:00Z' }),
    ]);

    expect((await run(temp, ['-q'])).out).toBe('new\n');
  });

  test('given --here, then it is the latest of the present folder and what is below, and no name goes with it', async () => {
    const temp = tempStore([
      aSession('below').withMetadata({ cwd: '/work/app/src', updatedAt: '2026-07-09T09:00:00Z' }),
      aSession('beside').withMetadata({ cwd: '/work/other', updatedAt: '2026-07-09T10:00:00Z' }),
    ]);

    expect((await run(temp, ['--here', '-q'], { cwd: '/work/app' })).out).toBe('below\n');
    expect((await run(temp, ['--here', 'beside', '-q'], { cwd: '/work/app' })).code).toBe(2);
  });

  test('given a compacted session, then the context is what a model sees', async () => {
    const temp = tempStore(aSession('s').withMessages(9));
    await runCommandLine(['compact', 's', '--summary', 'all of it'], { root: temp.root });

    const { contextEvents } = await documentOf('resume', (await run(temp, ['s', '--json'])).out);

    expect(contextEvents).toBe(7);
  });

  test('given a title and messages that would command the terminal, then they are shown, not obeyed', async () => {
    const payload = '{"role":"user","content":"\\u001b[2J\\u202e x"}';
    const temp = tempStore(aSession('s').withEvent({ payload }).withMetadata({ title: '\u001b[2J\n' }));

    const { out } = await run(temp, ['s']);
    const prompt = await run(temp, ['s', '--prompt', 'go']);

    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(out + prompt.out + prompt.err).not.toMatch(/[\x00-\x09\x0b-\x1f\u202e]/);
  });
});

describe('resume --prompt', () => {
  test('given a request, then it comes last and as it was typed, after what a model should know', async () => {
    const temp = tempStore(aSession('s').withMessages(2));

    const { out, err } = await run(temp, ['s', '--prompt', 'first\n\tsecond']);

    expect(out).toMatch(/^Continuing session s\..*\n- \[1\] message user: event 1\n- \[2\] message user: event 2\n/);
    expect(out).toMatch(/\n\nRequest:\nfirst\n\tsecond\n$/);
    expect(err).toBe('Going on with s: 2 events of context.\n');
  });

  test('given -, then the request is read from stdin', async () => {
    const temp = tempStore(aSession('s').withMessages(1));

    const { out } = await run(temp, ['s', '--prompt', '-', '--json'], { stdin: 'from\nstdin\n' });

    expect((await documentOf('resume', out)).prompt).toMatch(/Request:\nfrom\nstdin$/);
  });

  test('given secrets in the session and in the request, then neither is printed', async () => {
    const payload = '{"role":"user","content":"password=hunter2hunter2"}';
    const temp = tempStore(aSession('s').withEvent({ payload }));

    const { out } = await run(temp, ['s', '--prompt', 'use password=hunter3hunter3']);

    expect(out).not.toContain('hunter');
  });
});

describe('resume --fork', () => {
  test('given a session of any kind, then a copy is made and resumed, with the context of the original', async () => {
    const temp = tempStore(aSession('s').withMessages(3).withMetadata({ sessionKind: 'side' }));

    const { out } = await run(temp, ['s', '--fork', '--json']);

    const { session, contextEvents, command } = await documentOf('resume', out);
    expect(session).toMatchObject({ sessionKind: 'fork', parentSessionId: 's' });
    expect([contextEvents, command]).toEqual([3, ['zero', 'exec', '--resume', session.sessionId]]);
  });

  test('given a log that cannot be read, then no fork is left behind', async () => {
    const temp = tempStore(aSession('s').withLine('not json').withMessages(1));

    expect((await run(temp, ['s', '--fork'])).code).toBe(5);
    expect(await temp.store.list()).toHaveLength(1);
  });

  test('given a program that is not there, then no fork is left behind either', async () => {
    const temp = tempStore(aSession('s').withMessages(1));

    expect((await run(temp, ['s', '--fork', '--exec', 'no-such-program'], { env: { PATH: '/bin' } })).code).toBe(3);
    expect(await temp.store.list()).toHaveLength(1);
  });
});

/** Goes into a folder for as long as the test runs: what PATH has that is relative is looked for from there. */
function goInto(folder: string): void {
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
}

/** A program called `zero` on PATH that notes what it was started with, and others of that name that must not run. */
function programs() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'zs-resume-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [good, workspace, here, noted] = ['good', "work $(touch pwned); it's", 'up/here', 'noted'].map((name) =>
    join(top, name),
  ) as [string, string, string, string];
  for (const folder of [good, workspace, here, join(workspace, 'node_modules', '.bin')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(good, 'zero'), `#!/bin/sh\n{ pwd; printf '%s\\n' "$@"; } > '${noted}'\n`, { mode: 0o755 });
  for (const folder of [workspace, here, dirname(here), join(workspace, 'node_modules', '.bin')]) {
    writeFileSync(join(folder, 'zero'), `#!/bin/sh\n: > '${top}/pwned'\n`, { mode: 0o755 });
  }
  return {
    top,
    good,
    workspace,
    here,
    /** The folder and the arguments that it was started with. */
    started: () => (existsSync(noted) ? readFileSync(noted, 'utf8').split('\n').slice(0, -1) : undefined),
    /** Everything that ran and should not have leaves a file of this name. */
    pwned: () => readdirSync(top, { recursive: true, encoding: 'utf8' }).filter((name) => /(?:^|\/)pwned$/.test(name)),
  };
}

describe('resume --exec', () => {
  test.each([
    [
      'the workspace and the present folder come first',
      (at: ReturnType<typeof programs>) => [at.workspace, at.here, at.good],
    ],
    [
      'they are meant by relative and empty entries',
      (at: ReturnType<typeof programs>) => ['.', '', './', '..', at.good],
    ],
    [
      'a folder in the workspace comes first',
      (at: ReturnType<typeof programs>) => [join(at.workspace, 'node_modules/.bin'), at.good],
    ],
    [
      'a link leads to the planted one',
      (at: ReturnType<typeof programs>) => {
        mkdirSync(join(at.top, 'links'));
        symlinkSync(join(at.workspace, 'zero'), join(at.top, 'links', 'zero'));
        symlinkSync(at.workspace, join(at.top, 'link'));
        return [join(at.top, 'links'), join(at.top, 'link'), at.good];
      },
    ],
  ])(
    '53. given a planted zero, and a PATH in which %s, then the other one is run, without a shell',
    async (_, pathOf) => {
      const at = programs();
      const temp = tempStore(
        aSession('s-1').withMessages(1).withMetadata({ cwd: at.workspace, title: '$(touch pwned)' }),
      );
      const env = { PATH: `${pathOf(at).join(':')}:/usr/bin:/bin` };
      goInto(at.here);

      const { code } = await run(temp, ['s-1', '--exec', '--prompt', 'go on'], { env, cwd: at.here });

      expect([code, at.started()]).toEqual([0, [at.workspace, 'exec', '--resume', 's-1', '--prompt', 'go on']]);
      expect(at.pwned()).toEqual([]);
    },
  );

  test('53. given no other zero than planted ones, then none is run', async () => {
    const at = programs();
    const temp = tempStore(aSession('s').withMessages(1).withMetadata({ cwd: at.workspace }));

    for (const cwd of [at.here, at.workspace]) {
      const env = { PATH: ['.', at.workspace, cwd, '', join(at.workspace, 'node_modules/.bin')].join(':') };
      goInto(cwd);
      expect((await run(temp, ['s', '--exec'], { env, cwd })).code).toBe(3);
      expect((await run(temp, ['s', '--exec', './zero'], { env, cwd })).code).toBe(2);
    }

    expect([at.started(), at.pwned()]).toEqual([undefined, []]);
  });

  test.each([
    '$(touch pwned)',
    '`touch pwned`',
    'x; touch pwned',
    '| touch pwned',
    '../s',
    '--exec=touch pwned',
    '-x',
    's\n',
    's\0',
  ])(
    '53. given %j for a session, then nothing but a session is ever started, and never through a shell',
    async (name) => {
      const at = programs();
      const temp = tempStore(aSession('s').withMessages(1).withMetadata({ cwd: at.workspace }));
      const env = { PATH: `${at.good}:/usr/bin:/bin` };

      const { code } = await run(temp, ['--exec', 'zero {}', '--', name], { env, cwd: at.here });

      // Space around an id is no error (FORMAT.md, 1).
      expect([code, at.started()]).toEqual(name === 's\n' ? [0, [at.workspace, 's']] : [3, undefined]);
      expect(at.pwned()).toEqual([]);
    },
  );

  test('53. given a command of one’s own with the syntax of a shell, then each word is an argument', async () => {
    const at = programs();
    const temp = tempStore(aSession('s').withMessages(1).withMetadata({ cwd: at.workspace }));
    const env = { PATH: `${at.good}:/usr/bin:/bin` };

    const words = ['$(touch', 'pwned)', ';', 'touch', 'pwned', '{}', '>', 'pwned'];
    const { code } = await run(temp, ['s', '--exec', `zero ${words.join(' ')}`], { env, cwd: at.here });

    expect([code, at.started()]).toEqual([0, [at.workspace, ...words.map((word) => (word === '{}' ? 's' : word))]]);
    expect(at.pwned()).toEqual([]);
  });

  test('53. given the command that is printed, then a shell that it is pasted into runs that and nothing else', async () => {
    const at = programs();
    const temp = tempStore(aSession('s').withMessages(1).withMetadata({ cwd: at.workspace, title: '$(touch pwned)' }));

    const { out } = await run(temp, ['s']);
    const [printed = ''] = out.split('\n');
    execFileSync('sh', ['-c', printed], { cwd: at.here, env: { PATH: `${at.good}:/usr/bin:/bin` } });

    expect([at.started(), at.pwned()]).toEqual([[at.workspace, ...GOING_ON, '<your request>'], []]);
  });

  test('given --json, then they do not go together', async () => {
    const temp = tempStore(aSession('s'));

    expect((await run(temp, ['s', '--json', '--exec'])).code).toBe(2);
  });

  test('given a folder that is gone, then nothing is started', async () => {
    const temp = tempStore(aSession('s').withMetadata({ cwd: '/no/such/folder' }));

    const { code, err } = await run(temp, ['s', '--exec', 'true'], { env: { PATH: '/bin:/usr/bin' } });

    expect([code, err]).toEqual([3, expect.stringContaining('/no/such/folder')]);
  });
});

/** What Zero is given to go on with `s`; the request comes behind it. */
const GOING_ON = ['exec', '--resume', 's', '--prompt'];

// As strict as `zero exec`: without a request, or with anything that it does not know, it goes on with nothing.
const STRICT_ZERO = `#!/bin/sh
noted=$1; shift
refuse() { echo "zero: $1" >&2; exit 2; }
[ "$1" = exec ] || refuse 'no command'
shift
id= request=
while [ $# -gt 0 ]; do
  case $1 in
    --resume) [ $# -gt 1 ] || refuse 'no id'; id=$2; shift 2 ;;
    --prompt) [ $# -gt 1 ] || refuse 'no request'; request=$2; shift 2 ;;
    -f) request=$(cat "$2") || refuse 'no file'; shift 2 ;;
    -*) refuse "unknown flag $1" ;;
    *) [ -z "$request" ] || refuse 'two requests'; request=$1; shift ;;
  esac
done
[ -n "$id" ] && [ -n "$request" ] || refuse 'nothing to do'
{ printf '%s\\n' "$id" "$XDG_DATA_HOME"; printf '%s' "$request"; } > "$noted/said"
pwd -P > "$noted/folder"
`;

/** A strict zero on PATH, and a session of the usual store in a folder of any name. */
function strictZero(folderName: string) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'zs-strict-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [bin, noted, folder] = [join(top, 'bin'), join(top, 'noted'), join(top, folderName)];
  for (const each of [bin, noted, folder]) mkdirSync(each, { recursive: true });
  writeFileSync(join(bin, 'strict'), STRICT_ZERO, { mode: 0o755 });
  writeFileSync(join(bin, 'zero'), `#!/bin/sh\nexec '${bin}/strict' '${noted}' "$@"\n`, { mode: 0o755 });
  const temp = tempStore(aSession('s').withMessages(1).withMetadata({ cwd: folder }));
  const root = join(top, 'data/zero/sessions');
  mkdirSync(dirname(root), { recursive: true });
  cpSync(temp.root, root, { recursive: true });
  return {
    root,
    folder,
    top,
    env: { PATH: `${bin}:/usr/bin:/bin`, HOME: top },
    /** What it went on with, and where. */
    said: () => {
      const [id, dataHome, ...request] = readFileSync(join(noted, 'said'), 'utf8').split('\n');
      return {
        id,
        dataHome,
        request: request.join('\n'),
        folder: readFileSync(join(noted, 'folder'), 'utf8').slice(0, -1),
      };
    },
    pwned: () => readdirSync(top, { recursive: true, encoding: 'utf8' }).filter((name) => /(?:^|\/)pwned$/.test(name)),
  };
}

const FOLDERS = [
  'plain',
  'two  words ',
  "it's",
  '"quoted"',
  '$HOME `touch pwned` $(touch pwned) ;#&|<>*?!~',
  '-lead',
  '--',
  'back\\slash \\n \\0101 %s %b',
  'new\nline',
  'digits behind\n12\u00013',
  'ends in newlines\n\n',
  "all\n'of\t\\it\u001b[31m\r",
  'Unicode ünï 日本 🚀 👩‍🚀',
  'bidi \u202e and \u200b unseen',
];

describe('finding 22: going on with a session, as Zero takes it', () => {
  test.each(FOLDERS)('given the folder %j, then the line that is printed goes on there, in any shell', async (name) => {
    const at = strictZero(name);

    const { out } = await runCommandLine(['--root', at.root, 'resume', 's'], {
      env: { ...at.env, NO_COLOR: '1' },
      columns: 80,
    });
    const [line = ''] = out.split('\n');

    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(line).not.toMatch(/[\x00-\x1f\u202e\u200b]/);
    for (const shell of ['sh', 'bash', 'dash'].filter((each) => spawnSync(each, ['-c', 'exit 0']).status === 0)) {
      execFileSync(shell, ['-c', line.replace('<your request>', 'go on, please')], { cwd: at.top, env: at.env });
      expect(at.said()).toMatchObject({ id: 's', request: 'go on, please', folder: at.folder });
      expect(realpathSync(at.said().dataHome ?? '')).toBe(join(at.top, 'data'));
    }
    expect(at.pwned()).toEqual([]);
  });

  test.each(FOLDERS)('given the folder %j, then --exec --prompt goes on there', async (name) => {
    const at = strictZero(name);

    const { code } = await runCommandLine(
      ['--root', at.root, 'resume', 's', '--exec', '--prompt', '--not $(a) `flag`\n"of" it\'s'],
      { env: at.env, cwd: at.top },
    );

    expect([code, at.said()]).toEqual([
      0,
      { id: 's', dataHome: join(at.top, 'data'), request: '--not $(a) `flag`\n"of" it\'s', folder: at.folder },
    ]);
  });

  test('given no request and no terminal, then it is wrong usage; at a terminal it is asked for', async () => {
    const at = strictZero('work');
    const line = ['--root', at.root, 'resume', 's', '--exec'];

    const without = await runCommandLine(line, { env: at.env });
    const asked = await runCommandLine(line, { env: at.env, columns: 80, answer: 'typed' });
    const blank = await runCommandLine(line, { env: at.env, columns: 80, answer: ' ' });

    expect([without.code, without.err]).toEqual([2, expect.stringContaining('--prompt')]);
    expect([asked.code, asked.err, at.said().request]).toEqual([0, expect.stringContaining('Your request: '), 'typed']);
    expect(blank.code).toBe(2);
  });

  test('given - for the request, then it is read from stdin', async () => {
    const at = strictZero('work');

    await runCommandLine(['--root', at.root, 'resume', 's', '--exec', '--prompt', '-'], {
      env: at.env,
      stdin: 'piped\n',
    });

    expect(at.said().request).toBe('piped');
  });

  test('given a command of one’s own, then {} is the id and {prompt} the request, which it must have a place for', async () => {
    const at = strictZero('work');
    const resume = (...words: string[]) =>
      runCommandLine(['--root', at.root, 'resume', 's', ...words], { env: at.env });

    const named = await resume('--exec', 'zero exec {prompt} --resume {}', '--prompt', 'use $& and {}');
    expect([named.code, at.said()]).toMatchObject([0, { id: 's', request: 'use $& and {}' }]);

    expect((await resume('--exec', 'zero exec {prompt} --resume {}')).code).toBe(2);
    expect((await resume('--exec', 'true {}', '--prompt', 'lost')).code).toBe(2);
    expect((await resume('--exec', 'true {}')).code).toBe(0);
  });

  test('given --fork and no request, then no fork is left behind', async () => {
    const at = strictZero('work');

    expect((await runCommandLine(['--root', at.root, 'resume', 's', '--fork', '--exec'], { env: at.env })).code).toBe(
      2,
    );
    expect(readdirSync(at.root).filter((name) => !name.startsWith('.'))).toEqual(['s']);
  });

  test('given --json and a request, then the command has it', async () => {
    const at = strictZero('work');

    const { out } = await runCommandLine(['--root', at.root, 'resume', 's', '--prompt', 'go', '--json'], {
      env: at.env,
    });

    const { command, prompt } = await documentOf('resume', out);
    expect([command, prompt]).toEqual([['zero', ...GOING_ON, 'go'], expect.stringMatching(/Request:\ngo$/)]);
  });
});
