import { LogDamagedError, openStore } from 'zero-sessions';

const store = openStore({ root: process.argv[2] ?? 'store' });
for (const { sessionId } of await store.list()) {
  const events = await store.readEvents(sessionId).catch((error: unknown) => {
    if (error instanceof LogDamagedError) return undefined;
    throw error;
  });
  console.log(`${sessionId}: ${events === undefined ? 'damaged' : `${events.length} events`}`);
}
