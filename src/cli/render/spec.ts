import type { SessionMetadata } from '../../model/metadata.js';
import type { SpecView } from '../commands/spec-view.js';
import type { Page } from '../page.js';
import { safeText } from './safe-text.js';
import { shownFolder } from './session-text.js';
import { storedTime } from './time.js';

const LINES = [
  ['spec', 'specId'],
  ['status', 'specStatus'],
  ['file', 'specFilePath'],
  ['drafted by', 'specDraftModelId'],
  ['reasoning', 'specDraftReasoning'],
  ['comment', 'specUserComment'],
  ['rejected', 'specRejectReason'],
  ['source', 'specSourceSessionId'],
  ['done in', 'specImplSessionId'],
] as const satisfies readonly (readonly [string, keyof SessionMetadata])[];

/** Gives what the metadata say of a spec as lines of a name and a value. */
export function renderSpec({ listed, event }: SpecView, page: Page): string {
  const { session } = listed;
  const rows: [string, string][] = [['session', session.sessionId]];
  for (const [name, member] of LINES) {
    const value = session[member] ?? '';
    if (value !== '')
      rows.push([name, member === 'specFilePath' ? shownFolder(value, page) : page.redaction.text(value)]);
  }
  if (event !== null)
    rows.push(['event', `${event.sequence} ${event.type}, ${storedTime(event.createdAt, page.nowMs)}`]);
  return rows.map(([name, value]) => `${page.style.heading(name.padEnd(12))}${safeText(value)}\n`).join('');
}
