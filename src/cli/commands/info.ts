import { arch, platform, release } from 'node:os';
import { version as nodeVersion } from 'node:process';
import { lockMode } from '../../store/holding/lock-mode.js';
import { defineCommand } from '../define-command.js';
import { isFolder } from '../input/folder.js';
import { type InfoView, renderInfo } from '../render/info.js';
import { kindName } from '../render/listed-session.js';
import { NOTABLE_KEPT_BYTES } from '../report/kept-size.js';
import { packageVersion } from '../version.js';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;

export const info = defineCommand<InfoView>({
  description:
    'Versions, the platform, the store and how it is locked, and how many sessions there are; what lies in ' +
    'the store and is no session, such as copies and what was left over. Nothing of what the sessions say.',
  examples: ['zero-sessions info', 'zero-sessions info --json'],
  arguments: [],
  options: [],
  schemas: [
    {
      version: TEXT,
      node: TEXT,
      platform: TEXT,
      arch: TEXT,
      release: TEXT,
      root: TEXT,
      rootExists: FLAG,
      lock: { enum: ['flock-command', 'perl', 'o_exlock', 'none', 'off'] },
      checkpoints: FLAG,
      sessions: { type: 'object', additionalProperties: COUNT },
      unreadable: COUNT,
      keptBytes: COUNT,
      notablyKept: {
        type: 'array',
        description: 'sessions that keep 100 MB or more for undo, most first',
        items: {
          type: 'object',
          required: ['sessionId', 'bytes'],
          properties: { sessionId: { type: 'string' }, bytes: COUNT },
        },
      },
      leftOvers: {
        type: 'array',
        items: {
          type: 'object',
          required: ['path', 'kind'],
          properties: { path: TEXT, kind: { enum: ['file', 'directory', 'link', 'other'] } },
        },
      },
    },
  ],
  output: {
    text: renderInfo,
    json: (view, { redaction }) => ({
      members: {
        ...view,
        notablyKept: view.notablyKept.map((each) => ({ ...each })),
        root: redaction.text(view.root),
        leftOvers: view.leftOvers.map(({ path, kind }) => ({ path: redaction.text(path), kind })),
      },
    }),
  },
  run: async ({ store, globals }) => {
    const { sessions, unreadable } = await store.listWithFaults();
    const counts = new Map<string, number>();
    for (const session of sessions) counts.set(kindName(session), (counts.get(kindName(session)) ?? 0) + 1);
    const kept = await Promise.all(
      sessions.map(async ({ sessionId }) => ({ sessionId, bytes: (await store.measure(sessionId)).keptBytes })),
    );
    return {
      version: packageVersion(),
      node: nodeVersion.replace(/^v/, ''),
      platform: platform(),
      arch: arch(),
      release: release(),
      root: store.root,
      rootExists: isFolder(store.root),
      lock: await lockMode(globals.flock ? 'auto' : 'off'),
      checkpoints: store.checkpointsEnabled(),
      sessions: Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
      unreadable: unreadable.length,
      keptBytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
      notablyKept: kept.filter(({ bytes }) => bytes >= NOTABLE_KEPT_BYTES).sort((a, b) => b.bytes - a.bytes),
      leftOvers: await store.allLeftOvers(),
    };
  },
});
