import type { StoreDeps } from './deps.js';

/** Every folder and file name in a store (FORMAT.md, 1 and 6). */
export const METADATA_FILE = 'metadata.json';
export const EVENTS_FILE = 'events.jsonl';
/** What a kept log is, beside it. */
export const RECORD_FILE = 'record.json';
export const CHECKPOINTS_DIR = 'checkpoints';
export const BLOBS_DIR = 'blobs';
export const LOCK_FILE = 'session.lock';
/** Zero's cache for searching. */
export const SEARCH_INDEX_FILE = 'search-index.json';
/** Our keep area in a session's folder; Zero never looks there. */
export const KEEP_DIR = '.zs';
const KEPT_DIR = 'kept';
const TORN_DIR = 'torn';
/** Our second-layer locks, in the root. */
export const LOCKS_DIR = '.zs-locks';
/** A session that is being built, in the root. */
export const NEW_PREFIX = '.zs-new-';
/** A file that is being written. */
export const TEMP_PREFIX = '.zs-tmp-';

export const FILE_MODE = 0o600;
export const FOLDER_MODE = 0o700;

/** The paths of one session, from its folder. */
export interface SessionPaths {
  readonly folder: string;
  readonly metadata: string;
  readonly events: string;
  readonly checkpoints: string;
  readonly blobs: string;
  readonly lock: string;
  readonly keep: string;
  readonly kept: string;
  /** The blobs that kept logs name. */
  readonly keptBlobs: string;
  readonly torn: string;
}

export function sessionPaths(folder: string): SessionPaths {
  return {
    folder,
    metadata: `${folder}/${METADATA_FILE}`,
    events: `${folder}/${EVENTS_FILE}`,
    checkpoints: `${folder}/${CHECKPOINTS_DIR}`,
    blobs: `${folder}/${CHECKPOINTS_DIR}/${BLOBS_DIR}`,
    lock: `${folder}/${LOCK_FILE}`,
    keep: `${folder}/${KEEP_DIR}`,
    kept: `${folder}/${KEEP_DIR}/${KEPT_DIR}`,
    keptBlobs: `${folder}/${KEEP_DIR}/${BLOBS_DIR}`,
    torn: `${folder}/${KEEP_DIR}/${TORN_DIR}`,
  };
}

/** A path for a file that is being written: beside the log, where a sweep finds it without reading thousands of blobs. */
export function newTempPath({ newId }: Pick<StoreDeps, 'newId'>, { folder }: SessionPaths): string {
  return `${folder}/${TEMP_PREFIX}${newId()}`;
}

/** The longest path that may ever be made in a session: a blob. */
export function longestPathIn({ blobs }: SessionPaths): string {
  return `${blobs}/${'0'.repeat(64)}`;
}

/** The mode of folders that are made again, where none was recorded. */
export const DEFAULT_FOLDER_MODE = 0o755;
