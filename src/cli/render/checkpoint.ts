import { decodeCheckpoint } from '../../model/checkpoint-codec.js';
import type { StoredEvent } from '../../model/event.js';
import { sequenceText } from '../../model/ids.js';
import type { CheckpointSummary, FileAt, FileContent } from '../../store/queries/read-checkpoints.js';
import type { Page } from '../page.js';
import { textOf } from './file-text.js';
import { counted } from './numbers.js';
import { safeLines, safeText } from './safe-text.js';
import { type Cell, type Column, renderTable } from './table.js';
import { formatBytes, storedTime } from './time.js';

/** The checkpoints of a session, oldest first, and what could not be read. */
export interface CheckpointListView {
  readonly sessionId: string;
  readonly checkpoints: readonly CheckpointSummary[];
  readonly damage: readonly string[];
}

/** The files at a point, or what one of them held. */
export interface CheckpointShowView {
  readonly sessionId: string;
  readonly position: number;
  /** The checkpoint that the position is, or else the last one before it. */
  readonly checkpoint: CheckpointSummary | undefined;
  readonly files: readonly FileAt[];
  /** Where one path was asked for. */
  readonly content: Exclude<FileContent, { readonly kind: 'absent' | 'unavailable' }> | undefined;
  /** The bytes to print as they are, into a pipe. */
  readonly bytes: Uint8Array | undefined;
}

/** The checkpoint that was made, or null when there was nothing to record. */
export interface CaptureView {
  readonly event: StoredEvent | null;
  readonly notes: readonly string[];
}

const FILE_COLUMNS: readonly Column[] = [
  { header: 'PATH', shrink: 1, minWidth: 20 },
  { header: 'STATE', shrink: 2, minWidth: 12 },
  { header: 'BYTES', align: 'right' },
  { header: 'MODE', align: 'right', hide: 1 },
];

/** Gives the checkpoint that was made, file by file. */
export function renderCapture({ event }: CaptureView, page: Page): string {
  if (event === null) return '';
  const { files } = decodeCheckpoint(event);
  const heading = page.style.heading(`Checkpoint ${sequenceText(event)} of ${event.sessionId}`);
  return `${heading}\n\n${filesTable(files, page)}`;
}

const LIST_COLUMNS: readonly Column[] = [
  { header: 'SEQ', align: 'right' },
  { header: 'WHEN' },
  { header: 'TOOL', shrink: 2, minWidth: 8 },
  { header: 'FILES', shrink: 1, minWidth: 20 },
];
const MAX_NAMED = 4;

/** Gives checkpoints as a table, oldest first. */
export function renderCheckpoints({ checkpoints }: CheckpointListView, page: Page): string {
  if (checkpoints.length === 0) return '';
  const rows = checkpoints.map((checkpoint): Cell[] => {
    const { createdAt, tool, files } = checkpoint;
    // What a link leads to is captured as well, and may have been before.
    const paths = [...new Set(files.map(({ path }) => path))];
    const named = paths.slice(0, MAX_NAMED);
    const rest = paths.length - named.length;
    const names = rest > 0 ? [...named, `and ${counted(rest, 'more file').replace('more files', 'more')}`] : named;
    return [
      { text: sequenceText(checkpoint), paint: page.style.id },
      storedTime(createdAt, page.nowMs),
      { text: page.redaction.text(tool), paint: page.style.tool },
      page.redaction.text(names.join(', ')),
    ];
  });
  return renderTable(LIST_COLUMNS, rows, { width: page.width, style: page.style });
}

/** Gives the files at a point as a table. */
export function renderFilesAt({ position, sessionId, files }: CheckpointShowView, page: Page): string {
  if (files.length === 0) return '';
  const where = position === 0 ? 'before the first event' : `just after event ${position}`;
  return `${page.style.heading(`Files ${where} of ${sessionId}`)}\n\n${filesTable(files, page)}`;
}

/** Gives what a file held, for a terminal; a pipe gets the bytes. */
export function renderContent(content: NonNullable<CheckpointShowView['content']>, page: Page): string {
  if (content.kind === 'link') return `${safeText(page.redaction.text(content.target))}\n`;
  const text = textOf(content.bytes);
  if (text === undefined) return `${page.style.dim(`No text: ${formatBytes(content.bytes.length)}`)}\n`;
  return safeLines(page.redaction.text(text))
    .map((line) => `${line}\n`)
    .join('');
}

function filesTable(files: readonly { readonly path: string; readonly state: FileAt['state'] }[], page: Page): string {
  const rows = files.map(({ path, state }): Cell[] => [
    page.redaction.text(path),
    page.redaction.text(stateText(state)),
    state.kind === 'stored' || (state.kind === 'skipped' && state.bytes > 0) ? formatBytes(state.bytes) : '',
    state.kind === 'stored' && state.mode > 0 ? state.mode.toString(8) : '',
  ]);
  return renderTable(FILE_COLUMNS, rows, { width: page.width, style: page.style });
}

function stateText(state: FileAt['state']): string {
  switch (state.kind) {
    case 'stored':
      return 'kept';
    case 'absent':
      return 'not there';
    case 'link':
      return `link to ${state.target}`;
    case 'skipped':
      return 'not captured';
    case 'current':
      return 'as it is now';
    default:
      return state satisfies never;
  }
}
