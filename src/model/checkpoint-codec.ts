import { PayloadDamagedError } from '../errors.js';
import type { CheckpointEntry, CheckpointFile, CheckpointPayload, FileState } from './event.js';
import { decodePayload, isNull } from './event-codec.js';
import { parseBlobHash } from './ids.js';
import { isRecord, type RawJson } from './json.js';

const TYPE = 'session_checkpoint';

/**
 * Gives the files of a checkpoint event. `null` counts as an empty value, wherever it stands.
 * @throws {@link PayloadDamagedError} (`PAYLOAD_DAMAGED`) when the payload cannot be decoded: there is none, or it or a
 * known member is of the wrong type. A mode that is none counts as unknown.
 */
export function decodeCheckpoint(event: { id: string; payload: RawJson | undefined }): {
  readonly tool: string;
  readonly files: readonly CheckpointFile[];
} {
  if (event.payload !== undefined && isNull(event.payload)) return { tool: '', files: [] };
  const payload = decodePayload(event, TYPE);
  const files = payload.files ?? [];
  if (!Array.isArray(files)) throw damaged(event, 'files is no list');
  return {
    tool: optionalText(event, payload, 'tool'),
    files: files.map((item: unknown) => {
      const file = item ?? {};
      if (!isRecord(file)) throw damaged(event, 'a file is no object');
      const folderModes = folderModesOf(file.dirModes);
      const modes = folderModes === undefined ? {} : { folderModes };
      return { path: optionalText(event, file, 'path'), state: fileStateOf(event, file), ...modes };
    }),
  };
}

// A log from elsewhere must not make folders with special bits.
function folderModesOf(modes: unknown): readonly number[] | undefined {
  const isMode = (mode: unknown): mode is number => typeof mode === 'number' && Number.isInteger(mode) && mode > 0;
  if (!Array.isArray(modes) || modes.length === 0 || !modes.every(isMode)) return undefined;
  const plain = modes.map((mode: number) => mode & 0o777);
  return plain.includes(0) ? undefined : plain;
}

/** Gives a file as a checkpoint holds it on disk. */
export function encodeCheckpointFile({ path, state, folderModes = [] }: CheckpointFile): CheckpointEntry {
  const modes = folderModes.length > 0 ? { dirModes: folderModes } : {};
  switch (state.kind) {
    case 'stored':
      return {
        path,
        blob: state.blob,
        ...(state.bytes > 0 ? { bytes: state.bytes } : {}),
        ...(state.mode > 0 ? { mode: state.mode } : {}),
        ...modes,
      };
    case 'absent':
      return { path, absent: true, ...(state.newDirs > 0 ? { newDirs: state.newDirs } : {}) };
    case 'link':
      return { path, skipped: true, link: state.target, ...modes };
    case 'skipped':
      return { path, skipped: true, ...(state.bytes > 0 ? { bytes: state.bytes } : {}) };
    default:
      return state satisfies never;
  }
}

/** Gives the payload of a checkpoint event on disk. */
export function encodeCheckpoint(tool: string, files: readonly CheckpointFile[]): CheckpointPayload {
  return { tool, files: files.map(encodeCheckpointFile) };
}

// One form on disk for three states: the flags are read in the order in which Zero's restore looks at them.
function fileStateOf(event: { id: string }, file: Readonly<Record<string, unknown>>): FileState {
  const blob = optionalText(event, file, 'blob');
  const bytes = optionalInteger(event, file, 'bytes');
  const isAbsent = optionalFlag(event, file, 'absent');
  const link = file.link;
  if (optionalFlag(event, file, 'skipped')) {
    return typeof link === 'string' ? { kind: 'link', target: link } : { kind: 'skipped', bytes };
  }
  if (isAbsent) return { kind: 'absent', newDirs: countOf(file.newDirs) };
  if (blob === '') return { kind: 'skipped', bytes };
  return { kind: 'stored', blob, hash: parseBlobHash(blob), mode: modeOf(file.mode), bytes };
}

// Permission bits only: a log from elsewhere must not set set-uid, and an absurd mode counts as unknown.
function modeOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 0xffff_ffff ? value & 0o777 : 0;
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;
}

function optionalText(event: { id: string }, record: Readonly<Record<string, unknown>>, name: string): string {
  const value = record[name] ?? '';
  if (typeof value !== 'string') throw damaged(event, `${name} is no text`);
  return value;
}

function optionalFlag(event: { id: string }, record: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = record[name] ?? false;
  if (typeof value !== 'boolean') throw damaged(event, `${name} is neither true nor false`);
  return value;
}

function optionalInteger(event: { id: string }, record: Readonly<Record<string, unknown>>, name: string): number {
  const value = record[name] ?? 0;
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw damaged(event, `${name} is no whole number`);
}

function damaged(event: { id: string }, reason: string): PayloadDamagedError {
  return new PayloadDamagedError(event.id, TYPE, reason);
}
