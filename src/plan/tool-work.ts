/** What matters of an event when it is asked when a tool was done with a file. Oldest first, as in the log. */
export type WorkEvent = { readonly sequence: number; readonly createdAt: string } & (
  | { readonly kind: 'call'; readonly callId: string; readonly name: string; readonly mentions: readonly string[] }
  | { readonly kind: 'checkpoint'; readonly tool: string; readonly paths: readonly string[] }
  | { readonly kind: 'result'; readonly callId: string; readonly name: string }
  | { readonly kind: 'other' }
);

interface OpenCall {
  readonly callId: string;
  readonly name: string;
  readonly mentions: readonly string[];
  /** Whether a checkpoint was found to be its own. */
  claimed: boolean;
}

interface Awaited {
  readonly sequence: number;
  readonly tool: string;
  readonly call: OpenCall | undefined;
  successor: string | undefined;
  result: string | undefined;
}

/**
 * Gives for each checkpoint when the work that it announced was done: the time of the `tool_result` that belongs to it,
 * else that of its successor in the log; a checkpoint without either is left out, since its tool may be at work.
 *
 * Zero writes call, checkpoint and result in this order, and calls that run side by side in turn. A checkpoint names
 * the tool, not the call: it belongs to the open call of that tool that mentions one of its paths, else to the oldest
 * that has no checkpoint yet.
 * @see FORMAT.md, 6, "Has a file been changed by someone else?"
 */
export function settledTimes(events: Iterable<WorkEvent>): ReadonlyMap<number, string> {
  const open = new Map<string, OpenCall>();
  const calls = new Set<string>();
  const checkpoints: Awaited[] = [];
  for (const event of events) {
    const last = checkpoints.at(-1);
    if (last !== undefined) last.successor ??= event.createdAt;
    switch (event.kind) {
      case 'call':
        calls.add(event.callId);
        open.set(event.callId, { ...event, claimed: false });
        break;
      case 'checkpoint': {
        const call = callOf(event, [...open.values()]);
        if (call !== undefined) call.claimed = true;
        checkpoints.push({
          sequence: event.sequence,
          tool: event.tool,
          call,
          successor: undefined,
          result: undefined,
        });
        break;
      }
      case 'result':
        settle(event, checkpoints, calls.has(event.callId));
        open.delete(event.callId);
        break;
      case 'other':
        break;
      default:
        event satisfies never;
    }
  }
  const times = new Map<number, string>();
  for (const { sequence, result, successor } of checkpoints) {
    const time = result ?? successor;
    if (time !== undefined) times.set(sequence, time);
  }
  return times;
}

function callOf(
  { tool, paths }: { readonly tool: string; readonly paths: readonly string[] },
  open: readonly OpenCall[],
): OpenCall | undefined {
  const ofTool = open.filter(({ name }) => name === tool);
  const mentions = ({ mentions: told }: OpenCall): boolean =>
    told.some((text) => paths.some((path) => text === path || text.endsWith(`/${path}`)));
  return (
    ofTool.find((call) => !call.claimed && mentions(call)) ??
    ofTool.find(mentions) ??
    ofTool.find(({ claimed }) => !claimed) ??
    open.find((call) => !call.claimed && mentions(call))
  );
}

// A result without a call in the log (a fork may begin in the middle) goes by its tool's name, the oldest first.
function settle(
  { callId, name, createdAt }: { readonly callId: string; readonly name: string; readonly createdAt: string },
  checkpoints: readonly Awaited[],
  hasCall: boolean,
): void {
  for (const checkpoint of checkpoints) {
    if (checkpoint.result !== undefined) continue;
    if (hasCall ? checkpoint.call?.callId === callId : mayBeOf(checkpoint, name)) {
      checkpoint.result = createdAt;
      if (!hasCall) return;
    }
  }
}

function mayBeOf({ call, tool }: Awaited, name: string): boolean {
  return call === undefined && (name === '' || tool === '' || name === tool);
}
