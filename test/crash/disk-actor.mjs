// A process with few descriptors: for each number that is left free, one call; a line of JSON for each on stdout.
//   ROOT SESSION WORKSPACE
import { closeSync, openSync } from 'node:fs';
import { openStore } from '../../dist/index.js';

const [root, session, workspace] = process.argv.slice(2);
const store = openStore({ root });
const operations = {
  append: () => store.appendEvent(session, { type: 'message', payload: { content: 'more' } }),
  capture: () => store.captureToolCheckpoint(session, workspace, 'edit', ['one.txt', 'deep/two.txt']),
  rewind: () => store.rewind(session, { target: 1, workspace }),
};

// Whatever is loaded late is loaded now, while there are descriptors.
await store.updateTitle(session, 'Warm');
for (const name of ['append', 'capture', 'rewind']) {
  for (let free = 0; free < 16; free += 1) {
    const held = [];
    try {
      for (;;) held.push(openSync('/dev/null', 'r'));
    } catch {
      for (const fd of held.splice(0, free)) closeSync(fd);
    }
    let result = 'done';
    try {
      await operations[name]();
    } catch (error) {
      result = `${error.code}: ${error.message}`;
    }
    for (const fd of held) closeSync(fd);
    process.stdout.write(`${JSON.stringify({ name, free, result })}\n`);
    if (result === 'done') break;
  }
}
