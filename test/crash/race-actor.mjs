// A process that makes sessions when told to, at a given moment, so that several of them meet.
//   ours|foreign NAME
// It reads lines of ROOT, ID and the moment (milliseconds since 1970, with fraction), parted by tabs; each answer is a line
// of JSON: `won`, or the `code` of the error with `late`, whether the id was lost only after the session had been built.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../dist/index.js';
import { createAsForeigner } from './foreign-writer.mjs';

const [kind, name] = process.argv.slice(2);
const now = () => performance.timeOrigin + performance.now();

const makers = {
  ours: (root, sessionId) => openStore({ root }).create({ sessionId, title: name }),
  foreign: (root, sessionId) => createAsForeigner(root, sessionId, name),
};

/** Waits for a moment: asleep at first, then awake, since nobody is woken to the tenth of a millisecond. */
async function until(moment) {
  const left = moment - now();
  if (left > 3) await sleep(left - 3);
  while (now() < moment) {}
}

async function answerTo(root, id, moment) {
  await until(moment);
  const started = now();
  try {
    await makers[kind](root, id);
    return { won: true, tookMs: now() - started };
  } catch (error) {
    return { won: false, code: error.code ?? error.message, late: error.cause !== undefined, tookMs: now() - started };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [root, id, moment] = line.split('\t');
  process.stdout.write(`${JSON.stringify(await answerTo(root, id, Number(moment)))}\n`);
}
