import { aMessage } from '../support/event-builder.js';
import { MemoryFileSystem, MUTATING_CALLS, type Tree } from '../support/memory-file-system.js';
import { type Recorded, settle } from './recorded.js';
import type { Scenario } from './scenarios.js';
import type { StrictSession } from './strict-reader.js';
import { type View, viewOf } from './view.js';
import { ROOT, type World, worldOfTree, worldOn } from './world.js';

/** A promise of RELIABILITY.md, 1 that a disk breaks. */
export class InvariantError extends Error {
  readonly invariant: string;
  constructor(invariant: string, message: string) {
    super(message);
    this.invariant = invariant;
  }
}

/** What may be found where a crash came before the operation promised anything about files that nobody had synced. */
export interface Expectation {
  readonly acknowledged: boolean;
  readonly workspaceAsFound: string | undefined;
  /** Whether folders that nothing is in may be there or not: they are removed where that is possible. */
  readonly looseFolders?: boolean;
}

/** What a disk may say before and after recovery, when the operation was cut short or acknowledged. */
export class Invariants {
  readonly #scenario: Scenario;
  readonly #recorded: Recorded;

  constructor(scenario: Scenario, recorded: Recorded) {
    this.#scenario = scenario;
    this.#recorded = recorded;
  }

  /** Before recovery: the reference program lists and reads every session that somebody was told of. */
  checkReadable(tree: Tree, { acknowledged }: Expectation): void {
    const view = reading('readable before recovery', () => viewOf(tree));
    const { before, after } = this.#recorded;
    const promised = acknowledged ? after : before;
    for (const [id, session] of promised.sessions) {
      const found = view.sessions.get(id);
      if (found === undefined) throw new InvariantError('acknowledged sessions are listed', `${id} is not listed`);
      const holds = linesOf(found).startsWith(linesOf(session));
      if (acknowledged && !holds) throw new InvariantError('acknowledged events are there', diff(session, found));
    }
  }

  /** After recovery: all or nothing, and all where it was acknowledged. */
  checkOutcome(tree: Tree, { acknowledged, workspaceAsFound, looseFolders = false }: Expectation): void {
    const view = reading('readable after recovery', () => viewOf(tree));
    const { before, after } = this.#recorded;
    const isNew = this.#matches(view, after, looseFolders);
    if (acknowledged && isNew !== undefined) throw new InvariantError('acknowledged is durable', isNew);
    if (isNew === undefined) {
      this.#checkKept(view, after);
      return;
    }
    const asFound = workspaceAsFound === undefined ? before : { ...before, workspace: workspaceAsFound };
    const isOld =
      this.#matches(view, before, looseFolders) === undefined ? undefined : this.#matches(view, asFound, looseFolders);
    if (isOld === undefined) {
      this.#checkKept(view, before);
      return;
    }
    if (this.#scenario.judged === 'prefix' && isPrefix(view, before, after)) return;
    if (this.#scenario.judged === 'child' && isUnlinkedChild(view, before, after)) return;
    throw new InvariantError('all or nothing', `neither old (${isOld}) nor new (${isNew})`);
  }

  #matches(view: View, wanted: View, looseFolders: boolean): string | undefined {
    const ids = [...view.sessions.keys()].join();
    const wantedIds = [...wanted.sessions.keys()].join();
    if (ids !== wantedIds) return `sessions ${ids} instead of ${wantedIds}`;
    for (const [id, session] of wanted.sessions) {
      const found = view.sessions.get(id) as StrictSession;
      if (linesOf(found) !== linesOf(session)) return `log of ${diff(session, found)}`;
      const metadata = this.#comparable(found);
      const wantedMetadata = this.#comparable(session);
      if (metadata !== wantedMetadata) return `metadata ${metadata} instead of ${wantedMetadata}`;
    }
    const files = ({ workspace }: View): string => (looseFolders ? withoutFolders(workspace) : workspace);
    if (files(view) !== files(wanted)) return `files\n${view.workspace}\ninstead of\n${wanted.workspace}`;
    return undefined;
  }

  #checkKept(view: View, wanted: View): void {
    const [found, expected] = [view, wanted].map(({ kept }) =>
      this.#scenario.looseRecords ? String(countOf(kept)) : kept,
    );
    if (found !== expected) {
      throw new InvariantError('kept records are those of what happened', `${found}\ninstead of\n${expected}`);
    }
  }

  #comparable({ metadata }: StrictSession): string {
    const loose = this.#scenario.looseMetadata ?? [];
    return JSON.stringify(Object.fromEntries(Object.entries(metadata).filter(([name]) => !loose.includes(name))));
  }

  /** Recovery once more changes nothing. */
  async checkQuiet(tree: Tree): Promise<void> {
    const changing: string[] = [];
    const world = worldOn(
      (now) =>
        new MemoryFileSystem(tree, now, {
          call: (name, path) => {
            if (MUTATING_CALLS.has(name) || name === 'fsync' || (name === 'syncFolder' && path !== ROOT))
              changing.push(`${name} ${path}`);
            return undefined;
          },
        }),
      'second recovery',
    );
    await settle(this.#scenario, world);
    if (changing.length > 0) throw new InvariantError('second recovery changes nothing', changing.join(', '));
  }

  /** What was not made can be made, every session takes an append, and nothing of ours is left over. */
  async checkLifeGoesOn(tree: Tree, { acknowledged }: Expectation): Promise<void> {
    const world = worldOfTree(tree, 'afterwards');
    const start = viewOf(tree);
    const { makes } = this.#scenario;
    if (makes !== undefined && start.sessions.size < this.#recorded.after.sessions.size) {
      if (acknowledged) throw new InvariantError('acknowledged sessions are listed', `${makes} is not there`);
      await this.#scenario.run(world.store);
    } else if (this.#scenario.judged === 'child' && !this.#sameLogs(start)) {
      await this.#scenario.run(world.store);
    }
    const made = reading('retry', () => viewOf(world.fs.snapshot()));
    if (makes !== undefined && made.sessions.size !== this.#recorded.after.sessions.size) {
      throw new InvariantError('a retry makes it', `sessions ${[...made.sessions.keys()].join()}`);
    }
    if (this.#scenario.judged === 'child') checkOneLinkEach(made);
    for (const [id, session] of made.sessions) await this.#checkAppend(world, id, session);
    const end = viewOf(world.fs.snapshot());
    if (end.kept !== made.kept) throw new InvariantError('kept records keep their bytes', end.kept);
    // What only another create sweeps is looked at after one.
    if (makes !== undefined || end.leftovers.length > 0) await world.store.create({ sessionId: 'sweeper' });
    const { leftovers } = viewOf(world.fs.snapshot());
    if (leftovers.length > 0) throw new InvariantError('no temporary file is left', leftovers.join(', '));
    if (world.fs.openCount > 0) throw new InvariantError('every file is closed', `${world.fs.openCount} are open`);
  }

  #sameLogs(view: View): boolean {
    return [...this.#recorded.after.sessions].every(([id, session]) => {
      const found = view.sessions.get(id);
      return found !== undefined && found.events.length === session.events.length;
    });
  }

  async #checkAppend(world: World, id: string, session: StrictSession): Promise<void> {
    const event = await world.store.appendEvent(id, aMessage('afterwards'));
    const found = reading('an append works', () => viewOf(world.fs.snapshot())).sessions.get(id);
    const highest = Math.max(session.metadata.eventCount as number, session.events.at(-1)?.sequence ?? 0);
    if (event.sequence !== highest + 1) {
      throw new InvariantError('the next sequence is the first unused', `${event.sequence} after ${highest}`);
    }
    const wanted = [...session.events.map(({ id }) => id), event.id].join();
    if (found?.events.map(({ id }) => id).join() !== wanted) {
      throw new InvariantError('an append works', `events ${found?.events.map(({ id }) => id).join()}`);
    }
    if (found.torn !== '') throw new InvariantError('an append works', `the log ends in ${JSON.stringify(found.torn)}`);
  }
}

function withoutFolders(workspace: string): string {
  return workspace
    .split('\n')
    .filter((line) => !/^\/.*\/ \d+$/.test(line))
    .join('\n');
}

function countOf(kept: string): number {
  return kept === '' ? 0 : kept.split('\n').length;
}

/** Gives kept records without their names. */
export function withoutNames(kept: string): string {
  return kept.replaceAll(/^(\S+) \S+/gm, '$1');
}

function isPrefix(view: View, before: View, after: View): boolean {
  if (view.workspace !== before.workspace) return false;
  return [...after.sessions].every(([id, session]) => {
    const found = view.sessions.get(id);
    if (found === undefined) return false;
    const lines = linesOf(found);
    const last = found.events.at(-1);
    const isCounted = found.metadata.eventCount === last?.sequence && found.metadata.lastEventType === last?.type;
    return isCounted && linesOf(session).startsWith(lines) && lines.startsWith(linesOf(before.sessions.get(id)));
  });
}

function isUnlinkedChild(view: View, before: View, after: View): boolean {
  const child = after.sessions.get('new');
  return (
    linesOf(view.sessions.get('s')) === linesOf(before.sessions.get('s')) &&
    linesOf(view.sessions.get('new')) === linesOf(child) &&
    JSON.stringify(view.sessions.get('new')?.metadata) === JSON.stringify(child?.metadata)
  );
}

/** The log, line by line. */
export function linesOf(session: StrictSession | undefined): string {
  return session === undefined ? '' : session.events.map(({ line }) => `${line}\n`).join('');
}

function diff(wanted: StrictSession, found: StrictSession): string {
  const ids = ({ events }: StrictSession): string => events.map(({ id, type }) => `${id} ${type}`).join(', ');
  return `${wanted.id}: ${ids(found)} instead of ${ids(wanted)}`;
}

function checkOneLinkEach(view: View): void {
  for (const id of ['s', 'new']) {
    const links = view.sessions.get(id)?.events.filter(({ type }) => type === 'session_child').length;
    if (links !== 1) throw new InvariantError('one link on each side', `${id} has ${links}`);
  }
}

/** Reads a disk; what cannot be read breaks an invariant. */
export function reading(invariant: string, read: () => View): View {
  try {
    return read();
  } catch (error) {
    throw new InvariantError(invariant, (error as Error).message);
  }
}
