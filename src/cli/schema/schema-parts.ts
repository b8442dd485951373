import type { JsonView } from '../render/json.js';

/** Pieces of which the schemas of documents are made. */
const TEXT = { type: 'string' } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;

/** A session: the names of metadata.json, and what is computed. A damaged one has no more than `sessionId` and `live`. */
export const SESSION_SCHEMA: JsonView = {
  type: 'object',
  required: ['sessionId', 'live'],
  properties: {
    sessionId: TEXT,
    sessionKind: TEXT,
    title: TEXT,
    cwd: TEXT,
    modelId: TEXT,
    provider: TEXT,
    tag: TEXT,
    depth: { type: 'integer' },
    parentSessionId: TEXT,
    rootSessionId: TEXT,
    agentName: TEXT,
    taskId: TEXT,
    forkedFromEventId: TEXT,
    forkedFromSequence: { type: 'integer' },
    spawnedFromEventId: TEXT,
    spawnedFromSequence: { type: 'integer' },
    specId: TEXT,
    specFilePath: TEXT,
    specStatus: TEXT,
    specDraftModelId: TEXT,
    specDraftReasoning: TEXT,
    specUserComment: TEXT,
    specRejectReason: TEXT,
    specSourceSessionId: TEXT,
    specImplSessionId: TEXT,
    goal: { type: 'object' },
    createdAt: TEXT,
    updatedAt: TEXT,
    eventCount: { type: 'integer' },
    lastEventType: TEXT,
    live: { type: ['boolean', 'null'], description: 'held by some process right now; null where that cannot be told' },
    logBytes: COUNT,
    blobBytes: COUNT,
    keptBytes: COUNT,
  },
};

/** An event: the names of events.jsonl. The payload is what was stored. */
export const EVENT_SCHEMA: JsonView = {
  type: 'object',
  required: ['id', 'sessionId', 'sequence', 'type', 'createdAt'],
  properties: {
    id: TEXT,
    sessionId: TEXT,
    sequence: { type: 'integer', minimum: 1 },
    type: TEXT,
    createdAt: TEXT,
    payload: true,
  },
};

/** A reference to an event, without its payload. */
export const EVENT_REF_SCHEMA: JsonView = {
  type: 'object',
  required: ['id', 'sequence', 'type'],
  properties: { id: TEXT, sequence: { type: 'integer', minimum: 1 }, type: TEXT, createdAt: TEXT },
};

/** How many sessions of each kind are not shown. */
export const HIDDEN_SCHEMA: JsonView = { type: 'object', additionalProperties: { type: 'integer', minimum: 1 } };

export const UNREADABLE_SCHEMA: JsonView = {
  type: 'object',
  required: ['sessionId', 'code', 'message'],
  properties: { sessionId: TEXT, code: TEXT, message: TEXT },
};

export const DAMAGE_SCHEMA: JsonView = {
  type: 'object',
  required: ['line', 'code', 'message'],
  properties: {
    line: { type: ['integer', 'null'], minimum: 1, description: 'null when it is not in a line of the log' },
    code: TEXT,
    message: TEXT,
  },
};
