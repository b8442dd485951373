import { openStore } from 'zero-sessions';

const root = process.argv[2];
if (root === undefined) throw new Error('usage: program <store>');
const store = openStore({ root });
for (const session of await store.list()) {
  let messages = 0;
  for (const event of await store.readEvents(session.sessionId)) if (event.type === 'message') messages += 1;
  console.log(`${session.sessionId}: ${messages} messages`);
}
