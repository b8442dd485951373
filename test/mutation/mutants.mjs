/**
 * Forty conditions, each turned into a wrong one. Somebody could have written any of them by mistake, and a test has to
 * notice. `from` stands once in the file; `tests` are files that run, `cases` selects recorded cases by their names.
 * @type {readonly { file: string, from: string, to: string, tests?: readonly string[], cases?: string }[]}
 */
export const MUTANTS = [
  // What a rewind keeps and drops, and what it does with a file.
  {
    file: 'src/plan/rewind/rewind.ts',
    from: 'const cut = keepTarget ? at + 1 : at;',
    to: 'const cut = keepTarget ? at : at + 1;',
    cases: 'rewind-plan/',
  },
  {
    file: 'src/plan/rewind/rewind.ts',
    from: "(sequence <= 0 && eventId === '')",
    to: "(sequence <= 0 || eventId === '')",
    cases: 'rewind-plan/',
  },
  {
    file: 'src/plan/rewind/rewind.ts',
    from: 'bySequence !== undefined && bySequence !== byId',
    to: 'bySequence !== undefined && bySequence === byId',
    cases: 'rewind-plan/',
  },
  {
    file: 'src/plan/rewind/rewind.ts',
    from: 'if (known === undefined) {',
    to: "if (known === undefined || state.kind === 'stored') {",
    cases: 'rewind/',
  },
  {
    file: 'src/plan/rewind/rewind.ts',
    from: "if (present.kind === 'outside') return",
    to: "if (present.kind !== 'outside') return",
    cases: 'rewind/',
  },
  {
    file: 'src/plan/rewind/file-change.ts',
    from: "present.kind === 'file' && present.hash === wanted.hash && (",
    to: "present.kind === 'file' && present.hash !== wanted.hash && (",
    cases: 'rewind/',
  },
  // What a model sees once a compaction is honoured.
  {
    file: 'src/plan/compaction/replay.ts',
    from: 'replaced.delete(at);',
    to: 'replaced.delete(at + 1);',
    tests: ['test/plan/compaction/replay.test.ts'],
  },
  {
    file: 'src/plan/compaction/replay.ts',
    from: 'event.sequence <= throughSequence',
    to: 'event.sequence < throughSequence',
    tests: ['test/plan/compaction/replay.test.ts'],
  },
  {
    file: 'src/plan/compaction/replay.ts',
    from: 'marker < 0 ? rewound : at < marker',
    to: 'marker < 0 ? rewound : at > marker',
    tests: ['test/plan/compaction/replay.test.ts'],
  },
  {
    file: 'src/model/compaction-payload.ts',
    from: "ref.type !== 'provider_usage'",
    to: "ref.type === 'provider_usage'",
    tests: ['test/plan/compaction/replay.test.ts'],
  },
  {
    file: 'src/plan/compaction/replay.ts',
    from: 'return parentEventCount === copiedEventCount;',
    to: 'return parentEventCount !== copiedEventCount;',
    tests: ['test/plan/compaction/replay.test.ts'],
  },
  // Which events a summary stands for.
  {
    file: 'src/plan/compaction/compaction.ts',
    from: 'if (index < cut) prompt.add(event, index);',
    to: 'if (index <= cut) prompt.add(event, index);',
    tests: ['test/plan/compaction/compaction.test.ts'],
  },
  {
    file: 'src/plan/compaction/compaction.ts',
    from: 'ref.sequence !== event.sequence) continue;',
    to: 'ref.sequence === event.sequence) continue;',
    tests: ['test/plan/compaction/compaction.test.ts'],
  },
  {
    file: 'src/plan/compaction/compaction.ts',
    from: 'if (rewound && other !== undefined) {',
    to: 'if (!rewound && other !== undefined) {',
    tests: ['test/plan/compaction/compaction.test.ts'],
  },
  {
    file: 'src/plan/whole-turn-cut.ts',
    from: 'if (event.sequence > highest) continue;',
    to: 'if (event.sequence >= highest) continue;',
    tests: ['test/plan/compaction/compaction.test.ts'],
  },
  // Goals, and what the metadata say when events go.
  {
    file: 'src/plan/goal.ts',
    from: 'tokenBudget > 0 && tokensUsed >= tokenBudget',
    to: 'tokenBudget > 0 && tokensUsed > tokenBudget',
    tests: ['test/plan/goal.test.ts'],
  },
  {
    file: 'src/plan/goal.ts',
    from: 'if (count >= continuationLimit) {',
    to: 'if (count > continuationLimit) {',
    tests: ['test/plan/goal.test.ts'],
  },
  {
    file: 'src/plan/derive-state.ts',
    from: 'now.spec.by === old.spec.by ? {}',
    to: 'now.spec.by !== old.spec.by ? {}',
    tests: ['test/plan/derive-state.test.ts'],
  },
  // The log: what a line is, where it ends, and what comes next.
  {
    file: 'src/store/parts/event-log.ts',
    from: 'if (error.torn && !line.terminated)',
    to: 'if (error.torn || !line.terminated)',
    tests: ['test/store/parts/event-log.test.ts'],
  },
  {
    file: 'src/store/parts/event-log.ts',
    from: 'if (event.sequence > highest) highest',
    to: 'if (event.sequence < highest) highest',
    tests: ['test/store/parts/event-log.test.ts'],
  },
  {
    file: 'src/store/parts/event-log.ts',
    from: 'return size > 0 && this.#byteAt(size - 1) !== NEWLINE;',
    to: 'return size > 0 && this.#byteAt(size - 1) === NEWLINE;',
    tests: ['test/store/parts/event-log.test.ts'],
  },
  {
    file: 'src/store/parts/event-log.ts',
    from: 'if (tail.tornFrom !== undefined) return',
    to: 'if (tail.tornFrom) return',
    tests: ['test/store/parts/event-log.test.ts', 'test/store/operations/append-events.test.ts'],
  },
  {
    file: 'src/store/parts/locked-session.ts',
    from: 'if (eventCount > 0 && !this.log.exists())',
    to: 'if (eventCount >= 0 && !this.log.exists())',
    tests: ['test/store/operations/append-events.test.ts'],
  },
  {
    file: 'src/store/parts/locked-session.ts',
    from: 'const last = Math.max(eventCount,',
    to: 'const last = Math.min(eventCount,',
    tests: ['test/store/operations/append-events.test.ts'],
  },
  {
    file: 'src/store/parts/locked-session.ts',
    from: 'if (this.#hold.appendOnly !== undefined)',
    to: 'if (this.#hold.appendOnly === undefined)',
    tests: ['test/store/operations/append-events.test.ts'],
  },
  {
    file: 'src/store/operations/append-events.ts',
    from: 'if (expected !== undefined && expected !== current)',
    to: 'if (expected !== undefined && expected === current)',
    tests: ['test/store/operations/append-events.test.ts'],
  },
  {
    file: 'src/store/recovery/recover.ts',
    from: 'return sequence <= eventCount && type ===',
    to: 'return sequence >= eventCount && type ===',
    tests: ['test/store/operations/append-events.test.ts'],
  },
  {
    file: 'src/store/recovery/recover.ts',
    from: 'if (item.event.sequence <= sequence) break;',
    to: 'if (item.event.sequence >= sequence) break;',
    tests: ['test/store/operations/append-events.test.ts'],
  },
  // Sessions that are made, listed and read.
  {
    file: 'src/store/parts/publish-session.ts',
    from: 'stat.mtimeMs > CLAIM_MS',
    to: 'stat.mtimeMs >= CLAIM_MS',
    tests: ['test/store/parts/publish-session.test.ts'],
  },
  {
    file: 'src/store/parts/publish-session.ts',
    from: 'some(({ name }) => name !== LOCK_FILE)',
    to: 'every(({ name }) => name !== LOCK_FILE)',
    tests: ['test/store/parts/publish-session.test.ts'],
  },
  {
    file: 'src/store/operations/create-session.ts',
    from: 'Number.isSafeInteger(depth) && depth >= 0',
    to: 'Number.isSafeInteger(depth) && depth > 0',
    tests: ['test/store/operations/create-session.test.ts'],
  },
  {
    file: 'src/plan/session-order.ts',
    from: 'active: parseInstantNs(updatedAt)',
    to: 'active: updatedAt',
    tests: ['test/store/queries/list-sessions.test.ts'],
  },
  {
    file: 'src/store/parts/metadata-file.ts',
    from: 'if (inside !== id) {',
    to: 'if (inside === id) {',
    tests: ['test/store/parts/metadata-file.test.ts'],
  },
  {
    file: 'src/store/queries/read-events.ts',
    from: 'backwards ? sequence < from : sequence > to',
    to: 'backwards ? sequence > to : sequence < from',
    tests: ['test/store/queries/read-events.test.ts'],
  },
  {
    file: 'src/store/parts/session-folder.ts',
    from: 'deps.fs.lstat(paths.metadata) !== undefined || deps.fs.lstat(paths.events) !== undefined',
    to: 'deps.fs.lstat(paths.metadata) !== undefined && deps.fs.lstat(paths.events) !== undefined',
    tests: ['test/store/queries/read-events.test.ts'],
  },
  // Contents that are kept, and logs that are cut.
  {
    file: 'src/store/parts/blob-store.ts',
    from: 'if (bytes > limit) return undefined;',
    to: 'if (bytes >= limit) return undefined;',
    tests: ['test/store/parts/blob-store.test.ts'],
  },
  {
    file: 'src/store/operations/capture-checkpoint.ts',
    from: 'if (stat.size > checkpoints.maxBytes)',
    to: 'if (stat.size >= checkpoints.maxBytes)',
    cases: 'checkpoint/',
  },
  {
    file: 'src/store/operations/capture-checkpoint.ts',
    from: 'if (where.missingFolders > 0) return',
    to: 'if (where.missingFolders < 0) return',
    cases: 'checkpoint/',
  },
  {
    file: 'src/store/rewind/apply-rewind.ts',
    from: 'keeps: ({ sequence }) => sequence <= target,',
    to: 'keeps: ({ sequence }) => sequence < target,',
    cases: '(truncate|rewind)/',
  },
  {
    file: 'src/store/rewind/rewind-transaction.ts',
    from: 'dropsEvents || changes.length > 0 || restoreLog !== undefined)',
    to: 'dropsEvents && changes.length > 0 && restoreLog !== undefined)',
    cases: '(truncate|rewind)/',
  },
];
