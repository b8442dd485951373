import { mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { type ErrorCode, type LockProvider, openStore, type SessionStore, ZeroSessionsError } from '../../src/index.js';
import { AppliedRewinds } from './applied-rewinds.js';
import { BlobWatch, MAY_KEEP_BLOBS } from './blob-watch.js';
import { resultMismatches } from './compare-results.js';
import { type ExactJson, type ExactObject, mapTexts, toExact } from './exact-json.js';
import {
  type FileTree,
  layTree,
  makeFolders,
  OTHER_MODES,
  readFileTree,
  recordedTree,
  STORE_MODES,
  treeMismatches,
  writeEntry,
} from './file-tree.js';
import {
  type ErrorKind,
  type GoldenCase,
  parseEntry,
  refuseUnknown,
  type Step,
  type Tree,
  textOf,
} from './golden-case.js';
import { operationFor } from './operations.js';
import { storeLeftovers, withoutOurOwn } from './store-tree.js';
import { Tokens } from './tokens.js';

export interface RunOptions {
  /** How sessions are held; the store's own locks when left out. */
  readonly locks?: LockProvider;
}

const HOUR_MS = 3_600_000;

/** What each of our codes is called in a recorded case; any other code is no recorded answer. */
const KINDS: Readonly<Partial<Record<ErrorCode, ErrorKind>>> = {
  INVALID_ID: 'invalid_session_id',
  SESSION_NOT_FOUND: 'not_found',
  EVENT_NOT_FOUND: 'not_found',
  NOTHING_TO_RESUME: 'not_found',
  GOAL_NOT_FOUND: 'not_found',
  METADATA_MISSING: 'not_found',
  SESSION_EXISTS: 'already_exists',
  GOAL_EXISTS: 'already_exists',
  INVALID_ARGUMENT: 'invalid_argument',
  NOT_RESUMABLE: 'invalid_argument',
  WORKSPACE_REFUSED: 'invalid_argument',
  SELECTOR_MISMATCH: 'conflict',
  PLAN_MISMATCH: 'conflict',
  LOG_DAMAGED: 'corrupt_log',
  LOG_MISSING: 'corrupt_log',
  METADATA_DAMAGED: 'corrupt_metadata',
  PAYLOAD_DAMAGED: 'corrupt_payload',
  CYCLE: 'cycle',
  SYSTEM: 'io',
  PATH_REFUSED: 'io',
};

/**
 * Runs a case through the public interface in a fresh folder, and tells every way in which we do not answer as recorded.
 * @returns One text for each mismatch; none when results, bytes, modes and files are all as recorded.
 */
export async function runCase(golden: GoldenCase, options: RunOptions = {}): Promise<readonly string[]> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'zs-golden-')));
  try {
    return await new CaseRun(golden, top, options).run();
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

/** One case at work. */
class CaseRun {
  readonly #golden: GoldenCase;
  readonly #root: string;
  readonly #workspace: string;
  readonly #outside: string;
  readonly #tokens: Tokens;
  readonly #env: Readonly<Record<string, string>>;
  readonly #store: SessionStore;
  readonly #blobs: BlobWatch;
  readonly #rewinds = new AppliedRewinds();
  readonly #mismatches: string[] = [];
  #now: Date;

  constructor(golden: GoldenCase, top: string, options: RunOptions) {
    this.#golden = golden;
    this.#root = join(top, 'store');
    this.#workspace = join(top, 'workspace');
    this.#outside = join(top, 'outside');
    this.#tokens = new Tokens(
      { $ROOT: this.#root, $WORKSPACE: this.#workspace, $OUTSIDE: this.#outside },
      golden.tokens,
    );
    this.#env = { HOME: '/home/user', ...golden.env };
    refuseHome(top, this.#env.HOME);
    this.#now = golden.steps[0]?.at ?? new Date(0);
    this.#store = openStore({
      root: this.#root,
      env: this.#env,
      now: () => this.#now,
      ...(options.locks === undefined ? {} : { locks: options.locks }),
    });
    this.#blobs = new BlobWatch(this.#root, this.#workspace);
  }

  async run(): Promise<readonly string[]> {
    this.#lay();
    const before = { workspace: readFileTree(this.#workspace), outside: readFileTree(this.#outside) };
    for (const [at, step] of this.#golden.steps.entries()) await this.#step(step, `step ${at} (${step.op})`);
    for (const token of this.#tokens.unbound()) this.#mismatches.push(`no result had an id for ${token}`);
    this.#compareStore();
    this.#compareOther('workspace', this.#workspace, this.#golden.workspaceAfter, before.workspace);
    this.#compareOther('outside', this.#outside, this.#golden.outsideAfter, before.outside);
    return this.#mismatches;
  }

  #lay(): void {
    const time = new Date(this.#now.getTime() - HOUR_MS);
    layTree(this.#workspace, this.#withPaths(this.#golden.workspace), OTHER_MODES, time);
    layTree(this.#outside, this.#withPaths(this.#golden.outside), OTHER_MODES, time);
    if (this.#golden.store !== undefined) {
      layTree(this.#root, this.#withPaths(this.#golden.store), STORE_MODES, time);
    }
  }

  async #step(step: Step, name: string): Promise<void> {
    this.#now = step.at;
    const args = mapTexts(step.args, (text) => this.#tokens.resolve(text)) as ExactObject;
    if (step.op.startsWith('fs.')) {
      this.#changeFiles(step.op, args, step.at);
      if (step.result !== null || step.error !== undefined) this.#mismatches.push(`${name} is recorded with a result`);
      return;
    }
    const call = operationFor(step.op, args);
    this.#blobs.before();
    const outcome = await outcomeOf(() => call({ store: this.#store, env: this.#env }));
    this.#mismatches.push(...this.#blobs.after(step.op).map((problem) => `${name}: ${problem}`));
    if ('error' in outcome) this.#compareError(outcome.error, step, name);
    else this.#compareResult(outcome.value, step, args, name);
  }

  #compareError(error: unknown, step: Step, name: string): void {
    const kind = error instanceof ZeroSessionsError ? KINDS[error.code] : undefined;
    if (kind !== undefined && kind === step.error) return;
    const found = error instanceof ZeroSessionsError ? `${error.code}: ${error.message}` : describeBug(error);
    this.#mismatches.push(`${name}\n  recorded: ${step.error ?? 'a result'}\n  ours:     ${found}`);
  }

  #compareResult(value: unknown, step: Step, args: ExactObject, name: string): void {
    if (step.error !== undefined) {
      this.#mismatches.push(`${name}\n  recorded: ${step.error}\n  ours:     a result`);
      return;
    }
    let ours: ExactJson;
    try {
      if (step.op === 'applyRewind') this.#rewinds.note(this.#root, textOf(args.get('sessionId'), 'sessionId'));
      ours = this.#rewinds.withoutIds(toExact(value ?? null));
    } catch (error) {
      this.#mismatches.push(`${name}: ${String(error)}`);
      return;
    }
    this.#mismatches.push(...resultMismatches(step.result, ours, this.#tokens).map((found) => `${name}${found}`));
  }

  #changeFiles(op: string, args: ExactObject, time: Date): void {
    const path = (name: string): string => this.#placed(textOf(args.get(name), name));
    switch (op) {
      case 'fs.write': {
        const entry = parseEntry(args, op, ['path']);
        const modes = path('path').startsWith(this.#root) ? STORE_MODES : OTHER_MODES;
        makeFolders(dirname(path('path')), modes);
        if (entry.kind === 'link') rmSync(path('path'), { force: true });
        writeEntry(path('path'), entry, modes, time);
        return;
      }
      case 'fs.remove':
        refuseUnknown(args, ['path'], op);
        rmSync(path('path'), { recursive: true });
        return;
      case 'fs.rename':
        refuseUnknown(args, ['from', 'to'], op);
        renameSync(path('from'), path('to'));
        return;
      default:
        throw new Error(`unknown operation: ${op}`);
    }
  }

  // Paths of file operations begin with a token, so after its place has been put in they are below one of the three.
  #placed(path: string): string {
    const tops = [this.#root, this.#workspace, this.#outside];
    if (!tops.some((top) => path === top || path.startsWith(top + sep)))
      throw new Error(`${path} is in none of the trees`);
    return path;
  }

  #compareStore(): void {
    const actual = readFileTree(this.#root);
    this.#mismatches.push(...storeLeftovers(actual));
    const recorded = recordedTree(this.#withTokens(this.#golden.storeAfter));
    const ours = this.#rewinds.withoutIdsIn(withoutOurOwn(actual));
    const mayKeep = this.#golden.steps.some(({ op }) => MAY_KEEP_BLOBS.includes(op));
    const compared = mayKeep ? this.#blobs.withoutKept(ours, recorded) : ours;
    this.#mismatches.push(...treeMismatches('store', recorded, compared));
  }

  // Where a case records nothing of a tree, nothing in it may have changed.
  #compareOther(name: string, top: string, after: Tree | undefined, before: FileTree): void {
    const recorded = after === undefined ? new Map(before) : recordedTree(this.#withTokens(after));
    const actual = new Map(readFileTree(top));
    recorded.delete('.');
    actual.delete('.');
    this.#mismatches.push(...treeMismatches(name, recorded, actual));
  }

  #withPaths(tree: Tree): Tree {
    return mapTree(tree, (text) => this.#tokens.resolve(text));
  }

  #withTokens(tree: Tree): Tree {
    return mapTree(tree, (text) => this.#tokens.resolveKnown(text));
  }
}

async function outcomeOf(work: () => unknown): Promise<{ readonly value: unknown } | { readonly error: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

function mapTree({ files, dirs }: Tree, replace: (text: string) => string): Tree {
  return {
    dirs: Object.fromEntries(Object.entries(dirs).map(([path, mode]) => [replace(path), mode])),
    files: Object.fromEntries(
      Object.entries(files).map(([path, entry]) => {
        if (entry.kind === 'text') return [replace(path), { ...entry, text: replace(entry.text) }];
        if (entry.kind === 'link') return [replace(path), { ...entry, target: replace(entry.target) }];
        return [replace(path), entry];
      }),
    ),
  };
}

function describeBug(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ''}` : String(error);
}

// A workspace in a home folder or above one is refused, which would hide what a case is about.
function refuseHome(top: string, ...homes: readonly (string | undefined)[]): void {
  for (const home of [...homes, process.env.HOME]) {
    if (home === undefined || home === '') continue;
    if (top === home || top.startsWith(home + sep)) throw new Error(`${top} is in the home folder ${home}`);
  }
}
