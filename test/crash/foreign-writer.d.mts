/** An event of a foreign program, as its actor tells of it. */
export interface ForeignEvent {
  readonly session: string;
  readonly id: string;
  readonly content: string;
}

/** An event as a foreign program wrote it. */
export interface ForeignLine {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
}

export interface ForeignReport {
  readonly targetSequence: number;
  readonly filesRestored: number;
  readonly filesDeleted: number;
  readonly skipped?: readonly string[];
}

/** How a foreign program goes about it. */
export interface ForeignWays {
  readonly onLocked?: () => void;
  readonly onWriting?: () => void;
  /** Takes no lock: nobody else can be writing. */
  readonly isAlone?: boolean;
  readonly now?: () => Date;
}

export function appendEventsAsForeigner(
  root: string,
  session: string,
  inputs: readonly { readonly type: string; readonly payload?: unknown }[],
  tell?: ForeignWays,
): readonly ForeignLine[];

export function appendAsForeigner(root: string, session: string, content: string, tell?: ForeignWays): ForeignEvent;

export function rewindAsForeigner(
  root: string,
  session: string,
  workspace: string,
  target: number,
  tell?: ForeignWays,
): { readonly dropped: readonly string[]; readonly report: ForeignReport };

export function snapshotAsForeigner(
  root: string,
  session: string,
  workspace: string,
  tool: string,
  paths: readonly string[],
): { readonly tool: string; readonly files: readonly { readonly path: string; readonly blob?: string }[] };

export function forkAsForeigner(root: string, parent: string, session: string, tell?: ForeignWays): void;

export function createAsForeigner(root: string, session: string, title: string): void;
