import type { EventRef } from '../../model/event.js';
import type { RewindPlan, UncoveredWork } from '../../plan/rewind/rewind.js';
import type { RewindReport } from '../../store/rewind/apply-rewind.js';
import type { Redaction } from '../redaction.js';
import type { JsonMembers } from './json.js';
import { sequenceJson } from './numbers.js';
import { isName } from './session-json.js';

/** Gives the plan of a rewind as CLI.md has it: what is done to each file and why, without how that was found out. */
export function planJson(plan: RewindPlan, redaction: Redaction): JsonMembers {
  const { sessionId, head, target, targetEventId, keepTarget, complete } = plan;
  return {
    sessionId,
    head,
    target,
    targetEventId: nameJson(targetEventId, redaction),
    keepTarget,
    workspace: plan.workspace === undefined ? null : redaction.text(plan.workspace),
    dropped: plan.dropped.map((ref) => refJson(ref, redaction)),
    files: plan.files.map(({ path, action, reason }) => ({
      path: redaction.text(path),
      action,
      reason: redaction.text(reason),
    })),
    uncovered: plan.uncovered.map((work) => uncoveredJson(work, redaction)),
    openCalls: plan.openCalls.map(({ sequence, id, name }) => ({
      sequence,
      id: redaction.text(id),
      name: redaction.text(name),
    })),
    complete,
  };
}

function uncoveredJson({ kind, sequence, path, sessionId }: UncoveredWork, redaction: Redaction): JsonMembers {
  return {
    kind,
    sequence,
    ...(path === undefined ? {} : { path: redaction.text(path) }),
    ...(sessionId === undefined ? {} : { sessionId: nameJson(sessionId, redaction) }),
  };
}

/** Gives what a rewind did as JSON. */
export function reportJson(report: RewindReport, redaction: Redaction): JsonMembers {
  const { rewindId, targetSequence, filesRestored, filesDeleted, skipped } = report;
  return {
    rewindId,
    targetSequence,
    filesRestored,
    filesDeleted,
    skipped: skipped.map(({ path, reason }) => ({ path: redaction.text(path), reason: redaction.text(reason) })),
  };
}

/** Gives a reference to an event as JSON. */
export function refJson(ref: EventRef, redaction: Redaction): JsonMembers {
  const { id, type, createdAt } = ref;
  return {
    id: nameJson(id, redaction),
    sequence: sequenceJson(ref),
    type: redaction.text(type),
    ...(createdAt === undefined || createdAt === '' ? {} : { createdAt: redaction.text(createdAt) }),
  };
}

/** Tells whether what an error carries is the plan of a rewind. */
export function isRewindPlan(value: unknown): value is RewindPlan {
  return typeof value === 'object' && value !== null && 'files' in value && 'dropped' in value && 'keepTarget' in value;
}

function nameJson(name: string, redaction: Redaction): string {
  return isName(name) ? name : redaction.text(name);
}
