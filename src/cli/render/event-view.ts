import type { CheckpointFile, EventView, StoredEvent } from '../../model/event.js';
import { viewEvent } from '../../model/event-view.js';
import { trimSpace } from '../../model/ids.js';
import { isRecord, parseRawJson, type RawJson } from '../../model/json.js';
import type { Redaction } from '../redaction.js';
import { counted } from './numbers.js';
import { formatBytes } from './time.js';

/** An event as it is shown: secrets hidden before anything is cut. */
export interface ShownEvent {
  readonly event: StoredEvent;
  readonly view: EventView;
}

/** Gives an event decoded, its secrets hidden. */
export function shownEvent(event: StoredEvent, redaction: Redaction): ShownEvent {
  if (event.payload === undefined) return { event, view: viewEvent(event) };
  const redacted = { ...event, payload: redaction.json(event.payload) as RawJson };
  return { event: redacted, view: viewEvent(redacted) };
}

/** Gives the arguments of a tool call on one line: `path=src/add.ts limit=20`. What is no object stays as it is. */
export function argumentsLine(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? valuesLine(value) : json;
  } catch {
    return json;
  }
}

/** Gives the name of a type for a person; a line may lack one. */
export function typeText(type: string): string {
  return trimSpace(type) === '' ? '(no type)' : type;
}

/** Gives a payload that has no form of its own on one line. */
export function payloadLine({ payload }: StoredEvent): string {
  if (payload === undefined) return '';
  try {
    const value = parseRawJson(payload);
    return isRecord(value) ? valuesLine(value) : JSON.stringify(value);
  } catch {
    return '';
  }
}

function valuesLine(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== '' && value !== null)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(' ');
}

function valueText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"'=]+$/.test(value) ? value : JSON.stringify(value);
}

/** Gives how a file was when a checkpoint kept it. */
export function fileText({ path, state }: CheckpointFile): string {
  switch (state.kind) {
    case 'stored':
      return `${path} (${formatBytes(state.bytes)})`;
    case 'absent':
      return `${path} (not there yet)`;
    case 'link':
      return `${path} (a link to ${state.target})`;
    case 'skipped':
      return `${path} (not kept)`;
    default:
      return state satisfies never;
  }
}

/** Gives a count of characters as a person sees them: a pair of surrogates is one. */
export function characterCount(text: string): string {
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0;
  return counted(text.length - pairs, 'character');
}

/** Gives what an event says on one line, for a table. */
export function eventLine({ event, view }: ShownEvent): string {
  switch (view.type) {
    case 'message':
      return `${view.role}: ${[view.content, ...view.answers].filter((text) => text !== '').join(' · ')}`;
    case 'tool_call':
      return `${view.name} ${argumentsLine(view.arguments)}`.trimEnd();
    case 'tool_result':
      return `${view.name} ${view.status}, ${characterCount(view.output)}`.trimStart();
    case 'permission':
      return [view.action, view.tool].join(' ').trim();
    case 'usage':
      return usageText(view);
    case 'error':
      return view.message;
    case 'checkpoint':
      return `${view.tool}: ${view.files.map(fileText).join(', ')}`;
    case 'rewind':
      return rewindText(view);
    case 'compaction':
      return compactionText(view);
    case 'fork':
      return forkText(view);
    case 'child':
      return childText(view);
    case 'other':
      return payloadLine(event);
    default:
      return view satisfies never;
  }
}

type ViewOf<Type extends EventView['type']> = Extract<EventView, { readonly type: Type }>;

export function usageText({ prompt, completion, total }: ViewOf<'usage'>): string {
  if (prompt === 0 && completion === 0) return counted(total, 'token');
  return `${counted(prompt, 'token')} in, ${counted(completion, 'token')} out`;
}

export function rewindText({ target, restored, deleted, skipped, undoes }: ViewOf<'rewind'>): string {
  const what = undoes === '' ? `rewound to event ${target}` : `undid rewind ${undoes}`;
  const files = [
    restored > 0 ? `${counted(restored, 'file')} restored` : '',
    deleted > 0 ? `${counted(deleted, 'file')} deleted` : '',
    skipped.length > 0 ? `${counted(skipped.length, 'file')} left` : '',
  ];
  return [what, ...files.filter((text) => text !== '')].join(', ');
}

export function compactionText({ compacted, preserved }: ViewOf<'compaction'>): string {
  return `a summary stands for ${counted(compacted, 'event')}; ${counted(preserved, 'event')} kept`;
}

export function forkText({ parent, sequence, copied }: ViewOf<'fork'>): string {
  const from = sequence > 0 ? `${parent} at event ${sequence}` : parent;
  return `forked from ${from}, ${counted(copied, 'event')} copied`;
}

export function childText({ child, agent, prompt }: ViewOf<'child'>): string {
  const who = agent === '' ? '' : ` (${agent})`;
  return `child session ${child}${who}${prompt === '' ? '' : `: ${prompt}`}`;
}
