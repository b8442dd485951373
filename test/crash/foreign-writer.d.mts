/** An event of a foreign program, as its actor tells of it. */
export interface ForeignEvent {
  readonly session: string;
  readonly id: string;
  readonly content: string;
}

export function appendAsForeigner(
  root: string,
  session: string,
  content: string,
  tell?: { readonly onLocked?: () => void; readonly onWriting?: () => void },
): ForeignEvent;

export function createAsForeigner(root: string, session: string, title: string): void;
