import { MetadataDamagedError, MetadataMissingError, SessionNotFoundError } from '../../errors.js';
import { readWholeFile, replaceFile } from '../../fs/durable-file.js';
import type { SessionId } from '../../model/ids.js';
import {
  changeMetadata,
  encodeMetadata,
  MalformedMetadataError,
  type MetadataDocument,
  parseMetadata,
} from '../../model/metadata.js';
import type { StoreDeps } from '../base/deps.js';
import { FILE_MODE, newTempPath, type SessionPaths, sessionPaths } from '../base/layout.js';

/** Reads metadata.json, if there is one. The folder's name is the session's identity (FORMAT.md, 5; FAULTS.md, 4). */
export function readMetadata(deps: StoreDeps, id: SessionId, paths: SessionPaths): MetadataDocument | undefined {
  const bytes = readWholeFile(deps.fs, paths.metadata);
  if (bytes === undefined) return undefined;
  const document = parse(bytes, id, paths);
  const inside = document.metadata.sessionId;
  if (inside === '') return changeMetadata(document, { sessionId: id });
  if (inside !== id) {
    const message = `names session ${JSON.stringify(inside)}, but the folder is ${id}`;
    throw new MetadataDamagedError(id, paths.metadata, message, { names: inside });
  }
  return document;
}

/** Reads the metadata of a session that has to be there. */
export function requireMetadata(deps: StoreDeps, id: SessionId): MetadataDocument {
  const document = metadataOfSession(deps, id);
  if (document === undefined) throw new SessionNotFoundError(id);
  return document;
}

/** Reads the metadata of a session; undefined where there is no log either. */
export function metadataOfSession(deps: StoreDeps, id: SessionId): MetadataDocument | undefined {
  const paths = pathsOf(deps, id);
  const document = readMetadata(deps, id, paths);
  if (document !== undefined || deps.fs.lstat(paths.events) === undefined) return document;
  // A session appears whole, with one rename: that may have been between the two looks.
  const appeared = readMetadata(deps, id, paths);
  if (appeared === undefined) throw new MetadataMissingError(id, paths.metadata);
  return appeared;
}

/** Replaces metadata.json whole; the members that we do not know are in the document and stay. */
export function writeMetadata(deps: StoreDeps, paths: SessionPaths, document: MetadataDocument): void {
  replaceFile(deps.fs, paths.metadata, newTempPath(deps, paths), encodeMetadata(document), FILE_MODE);
}

export function pathsOf(deps: StoreDeps, id: SessionId): SessionPaths {
  return sessionPaths(`${deps.root}/${id}`);
}

function parse(bytes: Uint8Array, id: SessionId, paths: SessionPaths): MetadataDocument {
  try {
    return parseMetadata(bytes);
  } catch (error) {
    if (!(error instanceof MalformedMetadataError)) throw error;
    throw new MetadataDamagedError(id, paths.metadata, error.message, { cause: error });
  }
}
