import type { CheckpointEntry, CheckpointFile, CheckpointPayload, FileState } from './event.js';
import { parseBlobHash } from './ids.js';
import { isNull, parseRawJson, type RawJson } from './json.js';
import { type PayloadReader, readPayload } from './payload-reader.js';

const TYPE = 'session_checkpoint';
const HIGHEST_MODE = 0xffff_ffff;

/**
 * Reads the files of a checkpoint event. `null` counts as an empty value, wherever it stands; a bad mode as unknown.
 * @throws {@link PayloadDamagedError} (`PAYLOAD_DAMAGED`) without a payload, or when it or a member has the wrong type.
 */
export function decodeCheckpoint(event: { id: string; payload: RawJson | undefined }): {
  readonly tool: string;
  readonly files: readonly CheckpointFile[];
} {
  if (event.payload !== undefined && isNull(event.payload)) return { tool: '', files: [] };
  const payload = readPayload(event, TYPE);
  return {
    tool: payload.text('tool'),
    files: payload.records('files').map((file) => {
      const folderModes = folderModesOf(looseValue(file, 'dirModes'));
      const modes = folderModes === undefined ? {} : { folderModes };
      return { path: file.text('path'), state: fileStateOf(file), ...modes };
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

export function encodeCheckpoint(tool: string, files: readonly CheckpointFile[]): CheckpointPayload {
  return { tool, files: files.map(encodeCheckpointFile) };
}

// One form on disk for three states: the flags are read in the order in which Zero's restore looks at them.
function fileStateOf(file: PayloadReader): FileState {
  const blob = file.text('blob');
  const bytes = file.integer('bytes');
  const isAbsent = file.flag('absent');
  const link = looseValue(file, 'link');
  if (file.flag('skipped')) {
    return typeof link === 'string' ? { kind: 'link', target: link } : { kind: 'skipped', bytes };
  }
  if (isAbsent) return { kind: 'absent', newDirs: countOf(looseValue(file, 'newDirs')) };
  if (blob === '') return { kind: 'skipped', bytes };
  return { kind: 'stored', blob, hash: parseBlobHash(blob), mode: modeOf(looseValue(file, 'mode')), bytes };
}

// Permission bits only: a log from elsewhere must not set set-uid. However the mode is spelled: losing it helps nobody.
function modeOf(value: unknown): number {
  const mode = countOf(value);
  return mode <= HIGHEST_MODE ? mode & 0o777 : 0;
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;
}

// For members that are ours, or that Zero can do without: a wrong type is no damage.
function looseValue(file: PayloadReader, name: string): unknown {
  const raw = file.raw(name);
  return raw === undefined ? undefined : parseRawJson(raw);
}
