/** A word that fits where the cursor is, and what it stands for. */
export interface Candidate {
  readonly word: string;
  /** One line for people; empty when the word says it. */
  readonly description: string;
}

/** What a shell is to complete at the cursor: one of our words, or a name of the file system, which it knows best. */
export type Completion =
  | { readonly kind: 'words'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' };

// No character that any of the shells would take for syntax, wherever the word stands.
const PLAIN_WORD = /^[A-Za-z0-9-][A-Za-z0-9._:/@+=-]{0,255}$/;

/** Tells whether every shell takes a word as it stands. No other is ever offered. */
export function isPlainWord(word: string): boolean {
  return PLAIN_WORD.test(word);
}

/** Gives words without a description as candidates. */
export function bareCandidates(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => ({ word, description: '' }));
}
