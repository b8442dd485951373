import { ZeroSessionsError } from '../errors.js';

/** The command line cannot be understood. Code `USAGE`. */
export class UsageError extends ZeroSessionsError {
  override readonly name = 'UsageError';
  readonly code = 'USAGE';
  readonly hint: string;
  constructor(message: string, hint = 'See: zero-sessions --help') {
    super(message);
    this.hint = hint;
  }
}

/** Something that is promised and not built yet. Code `NOT_YET`. */
export class NotYetError extends ZeroSessionsError {
  override readonly name = 'NotYetError';
  readonly code = 'NOT_YET';
  readonly hint: string;
  constructor(what: string, hint = 'It comes with a later version.') {
    super(`${what} is not available yet`);
    this.hint = hint;
  }
}

/** The command that was to write a summary failed, so nothing was recorded. Code `SYSTEM`, as for any command that fails. */
export class SummarizerFailedError extends ZeroSessionsError {
  override readonly name = 'SummarizerFailedError';
  readonly code = 'SYSTEM';
  readonly hint = 'Mend the command and try again, or write the summary by hand: compact --part prints the prompts.';
  readonly command: string;
  readonly round: number;
  readonly rounds: number;
  /** What was written in the rounds before; empty in the first. */
  readonly summary: string;
  /** The last sequence that this tells of; 0 when it tells of none. */
  readonly through: number;
  constructor(
    failure: string,
    facts: { command: string; round: number; rounds: number; summary: string; through: number },
  ) {
    super(
      `The summarizer ${failure} in round ${facts.round} of ${facts.rounds}, nothing was recorded: ${facts.command}`,
    );
    this.command = facts.command;
    this.round = facts.round;
    this.rounds = facts.rounds;
    this.summary = facts.summary;
    this.through = facts.through;
  }
}

/** It was done, and the answer could not be written. Code `ANSWER_LOST`. */
export class AnswerLostError extends ZeroSessionsError {
  override readonly name = 'AnswerLostError';
  readonly code = 'ANSWER_LOST';
  readonly hint = 'Do not run it again: look at the session first.';
  /** What a script would have been told: ids, sequences. */
  readonly written: readonly string[];
  constructor(written: readonly string[], cause: Error) {
    const what = written.length > 0 ? ` (${written.join(', ')})` : '';
    super(`It was written${what}, but the answer was not: ${cause.message}`, { cause });
    this.written = written;
  }
}

/** A signal came before anything was done. Code `INTERRUPTED`. */
export class InterruptedError extends ZeroSessionsError {
  override readonly name = 'InterruptedError';
  readonly code = 'INTERRUPTED';
  readonly hint = 'Nothing was done.';
  readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP';
  constructor(signal: InterruptedError['signal'] = 'SIGINT') {
    super('Interrupted');
    this.signal = signal;
  }
}
