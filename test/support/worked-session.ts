import { aMessage } from './event-builder.js';
import { type TempWorkspace, tempWorkspace } from './temp-workspace.js';

/**
 * Makes a store in which `s`, titled "The work", has eight events and a workspace:
 * 1 message, 2 tool_call, 3 session_checkpoint, 4 tool_result (a.txt from "one" to "two", new.txt made), 5 to 8 messages.
 * `child` is a child of it.
 */
export async function workedSession(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  await temp.store.updateTitle('s', 'The work');
  temp.put({ 'a.txt': 'one\n' });
  await temp.say('please');
  await temp.tool({ 'a.txt': 'two\n', 'new.txt': 'new\n' });
  await temp.store.appendEvents(
    's',
    [5, 6, 7].map((number) => aMessage(`event ${number}`)),
  );
  await temp.store.createChild('s', { sessionId: 'child', agentName: 'scout' });
  temp.clock.pass(60_000);
  return temp;
}
