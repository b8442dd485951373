/** One place of the sources, and what somebody might have written there. */
export interface Edit {
  /** Below src/. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly old: string;
  readonly new: string;
}

/** A fault planted in the production code, which the suite has to find. */
export interface SeededFault {
  /** The step of RELIABILITY.md, 2.2 that it breaks. */
  readonly step: string;
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The scenarios that find it. */
  readonly scenarios: readonly string[];
  /** The invariant that it breaks, as the enumerator names it; the name of the test for the suite of faults. */
  readonly breaks: string;
  /** `crashes` when left out. */
  readonly suite?: 'crashes' | 'faults' | 'deaths';
}

function fault(
  step: string,
  name: string,
  edit: Edit | readonly Edit[],
  scenarios: readonly string[],
  breaks: string,
  suite: SeededFault['suite'] = 'crashes',
): SeededFault {
  return { step, name, edits: [edit].flat() as readonly Edit[], scenarios, breaks, suite };
}

const DURABLE = 'fs/durable-file.ts';
const PUBLISH = 'store/parts/publish-session.ts';
const LOCKED = 'store/parts/locked-session.ts';
const REWIND = 'store/rewind/rewind-transaction.ts';
const REWRITE = 'store/parts/rewrite-log.ts';
const CHANGE = 'store/workspace/change-files.ts';
const STAGED = 'store/workspace/staged-files.ts';
// biome-ignore lint/suspicious/noTemplateCurlyInString: a line of the sources, as it stands there
const RENAME_INTO_PLACE = '      fs.rename(`${folder.path}/${this.#staged.nameFor(path)}`, entry);\n';
const RECOVER = 'store/recovery/recover.ts';

export const SEEDED_FAULTS: readonly SeededFault[] = [
  // create
  fault(
    'create: F of metadata and log',
    'a new file is not synced',
    {
      file: DURABLE,
      old: '    syncFile(fs, fd, path);\n  } catch (error) {\n    closeQuietly',
      new: '  } catch (error) {\n    closeQuietly',
    },
    ['create'],
    'readable before recovery',
  ),
  fault(
    'create: F of the hidden folder',
    'the hidden folder is not synced',
    { file: PUBLISH, old: '    syncFolder(fs, hidden.folder);\n', new: '' },
    ['create'],
    'readable before recovery',
  ),
  fault(
    'create: F of the root',
    'the root is not synced',
    { file: PUBLISH, old: '  syncFolder(fs, deps.root);\n  return document;', new: '  return document;' },
    ['create'],
    'acknowledged sessions are listed',
  ),
  fault(
    'create: built aside',
    'the metadata are written after the rename',
    [
      { file: PUBLISH, old: '    createFile(fs, hidden.metadata, encodeMetadata(document), FILE_MODE);\n', new: '' },
      {
        file: PUBLISH,
        old: '  syncFolder(fs, deps.root);\n  return document;',
        new: '  createFile(fs, pathsOf(deps, id).metadata, encodeMetadata(document), FILE_MODE);\n  syncFolder(fs, pathsOf(deps, id).folder);\n  syncFolder(fs, deps.root);\n  return document;',
      },
    ],
    ['create'],
    'readable before recovery',
  ),
  fault(
    'create: hidden folders are swept',
    'what a crash left is never swept',
    { file: PUBLISH, old: '  sweepHidden(deps);\n', new: '' },
    ['create'],
    'no temporary file is left',
  ),
  // append
  fault(
    'append: F of the log',
    'an append is not synced',
    {
      file: DURABLE,
      old: '    try {\n      fs.fsync(fd);\n    } catch (cause) {\n      fs.truncate(fd, before);',
      new: '    try {\n      fs.fstat(fd);\n    } catch (cause) {\n      fs.truncate(fd, before);',
    },
    ['append'],
    'all or nothing',
  ),
  fault(
    'append: log first, metadata second',
    'the metadata are counted up before the log is written',
    {
      file: LOCKED,
      old: '    this.log.append(joinBytes(events.map(encodeEventLine)));\n    this.recordAppended(events, changes);\n',
      new: '    this.recordAppended(events, changes);\n    this.log.append(joinBytes(events.map(encodeEventLine)));\n',
    },
    ['append'],
    'all or nothing',
  ),
  fault(
    'append: one write',
    'a batch goes out line by line, each counted before the next',
    {
      file: LOCKED,
      old: '    this.log.append(joinBytes(events.map(encodeEventLine)));\n    this.recordAppended(events, changes);\n',
      new: '    this.recordAppended(events, changes);\n    for (const event of events) this.log.append(joinBytes([encodeEventLine(event)]));\n',
    },
    ['batch of 3'],
    'all or nothing',
  ),
  fault(
    'append: a torn tail is sealed',
    'lines are put behind a fragment',
    {
      file: 'store/parts/event-log.ts',
      old: '    if (tail.tornFrom !== undefined) return this.#moveTornTail(tail.tornFrom, tail.size);\n',
      new: '    if (tail.tornFrom === -1) return this.#moveTornTail(tail.tornFrom, tail.size);\n',
    },
    ['append'],
    'an append works',
  ),
  fault(
    'append: a whole line gets its newline',
    'lines are put behind a line without newline',
    {
      file: 'store/parts/event-log.ts',
      old: '    const opens = this.#endsOpen(this.size());\n',
      new: '    const opens = this.size() < 0;\n',
    },
    ['append'],
    'an append works',
  ),
  fault(
    'append: zeros behind a whole line are cut off',
    'a newline is put behind zeros',
    {
      file: 'store/parts/event-log.ts',
      old: '    if (tail.lacksNewline && tail.last !== undefined && this.#endsInZeros(tail)) this.cut(tail.lastEnd);\n',
      new: '',
    },
    ['append behind an open line'],
    'an append works',
  ),
  fault(
    'append: a failed sync is not tried again',
    'a second fsync is believed',
    {
      file: DURABLE,
      old: '    try {\n      fs.fsync(fd);\n    } catch (cause) {\n      fs.truncate(fd, before);',
      new: '    try {\n      try {\n        fs.fsync(fd);\n      } catch {\n        fs.fsync(fd);\n      }\n    } catch (cause) {\n      fs.truncate(fd, before);',
    },
    ['batch of 3'],
    '20. fsync of the log gives EIO',
    'faults',
  ),
  fault(
    'append: metadata that lag are put right',
    'recovery leaves the metadata as they are',
    {
      file: RECOVER,
      old: '  mendMetadata(session, rolledBack ? session.log.tail() : tail);\n',
      new: '  if (tail.size < 0) mendMetadata(session, rolledBack ? session.log.tail() : tail);\n',
    },
    ['append'],
    'all or nothing',
  ),
  // what a killed process leaves behind unsynced
  fault(
    'append: F of what one who was killed wrote',
    'a line is counted before it is synced',
    [
      { file: LOCKED, old: '    if (this.#document !== stored) this.log.sync();\n', new: '' },
      // Which makes the same sure for whoever appends, and not for whoever only writes metadata.
      { file: DURABLE, old: '    if (before > 0) syncFile(fs, fd, path);\n', new: '' },
    ],
    ['append'],
    'readable before recovery',
    'deaths',
  ),
  fault(
    'append: F of what is there, first',
    'lines are put behind a cut that is not synced',
    { file: DURABLE, old: '    if (before > 0) syncFile(fs, fd, path);\n', new: '' },
    ['recovery from an interrupted rewind'],
    'readable before recovery',
    'deaths',
  ),
  fault(
    'append: F of the root for a young session',
    'the name of a session is taken for synced',
    { file: 'store/recovery/session-lock.ts', old: '    secureName(session);\n', new: '' },
    ['create'],
    'acknowledged sessions are listed',
    'deaths',
  ),
  fault(
    'create: F of the folder of a new root',
    'a root that is there is taken for synced',
    { file: PUBLISH, old: "  if (isNew && path !== '') secureName(deps, path);\n", new: '' },
    ['create the first'],
    'acknowledged sessions are listed',
    'deaths',
  ),
  fault(
    'createChild: F of the root before a late link',
    'a child is linked that may not be there after a crash',
    [
      { file: 'store/operations/create-child.ts', old: '      syncFolder(deps.fs, deps.root);\n', new: '' },
      // The parent of the scenario is young, too, and so is synced once more.
      { file: 'store/recovery/session-lock.ts', old: '    secureName(session);\n', new: '' },
    ],
    ['createChild'],
    'all or nothing',
    'deaths',
  ),
  fault(
    'capture: F of folders that are there',
    'only a folder that was made is synced into the one above',
    {
      file: DURABLE,
      old: '  if (found === undefined) makeFolder(fs, path, mode);\n',
      new: "  if (found === 'directory') return;\n  if (found === undefined) makeFolder(fs, path, mode);\n",
    },
    ['capture 2 files'],
    'readable before recovery',
    'deaths',
  ),
  fault(
    'rewind: F of what a recovery put back that was killed',
    'files that are as they were before are taken for synced',
    {
      file: 'store/recovery/roll-back.ts',
      old: '      inside.flatMap(({ resolved }) => [...foldersAbove(resolved), resolved]),\n',
      new: '      [],\n',
    },
    ['recovery from an interrupted rewind'],
    'acknowledged',
    'deaths',
  ),
  fault(
    'rewind: settling takes away what a settling left that was cut short',
    'a record of something that never happened stays',
    {
      file: 'store/rewind/settle-rewind.ts',
      old: '  discardUncommittedRecord(session);\n',
      new: '',
    },
    ['abort of an interrupted rewind'],
    'kept records are those of what happened',
  ),
  // metadata: title, model
  fault(
    'title: one rename',
    'the metadata are replaced in place',
    {
      file: DURABLE,
      old: '  createFile(fs, tempPath, bytes, mode);\n  try {\n    fs.rename(tempPath, path);',
      new: '  removeQuietly(fs, path);\n  createFile(fs, path, bytes, mode);\n  try {\n    fs.lstat(tempPath);',
    },
    ['updateTitle'],
    'readable before recovery',
  ),
  fault(
    'title: F of the folder',
    'the folder of the metadata is not synced',
    {
      file: DURABLE,
      old: '    removeQuietly(fs, tempPath);\n    throw error;\n  }\n  syncFolderOf(fs, path);\n',
      new: '    removeQuietly(fs, tempPath);\n    throw error;\n  }\n',
    },
    ['updateTitle'],
    'acknowledged is durable',
  ),
  fault(
    'title: temporary files are swept',
    'recovery sweeps nothing',
    { file: RECOVER, old: '  sweepTemps(session);\n', new: '  if (session.id.length === 0) sweepTemps(session);\n' },
    ['updateTitle'],
    'no temporary file is left',
  ),
  // capture
  fault(
    'capture: F of checkpoints and of the session folder',
    'folders for blobs are not synced into the ones above',
    {
      file: DURABLE,
      old: "  else if (found !== 'directory') throw new UnexpectedKindError(path, found);\n  syncFolderOf(fs, path);\n",
      new: "  else if (found !== 'directory') throw new UnexpectedKindError(path, found);\n",
    },
    ['capture 2 files'],
    'readable before recovery',
  ),
  fault(
    'capture: F of a blob',
    'a blob is not synced before it gets its name',
    { file: 'store/parts/blob-store.ts', old: '    syncFile(fs, to, path);\n', new: '    syncFile;\n' },
    ['capture 2 files'],
    'readable before recovery',
  ),
  fault(
    'capture: F of blobs',
    'the folder of the blobs is not synced',
    {
      file: 'store/parts/blob-store.ts',
      old: '      syncFolder(fs, this.#paths.blobs);\n',
      new: '',
    },
    ['capture 2 files'],
    'readable before recovery',
  ),
  // rewind
  fault(
    'rewind: F of every present file',
    'what a rewind goes back to is not synced',
    {
      file: REWIND,
      old: '      reachable.map(({ path }) => path),\n',
      new: '      reachable.slice(changes.length).map(({ path }) => path),\n',
    },
    ['rewind of unsynced edits'],
    'all or nothing',
  ),
  fault(
    'rewind: F of files that need no change',
    'files that have their content already are not synced',
    {
      file: REWIND,
      old: '  if (workspace !== undefined) syncPresent(session, workspace, settled);\n',
      new: '  if (workspace !== undefined) syncPresent(session, workspace, settled.slice(settled.length));\n',
    },
    ['rewind of unsynced edits'],
    'all or nothing',
  ),
  fault(
    'rewind: the intent comes first',
    'files are changed without an intent',
    { file: REWIND, old: '    session.log.append(encodeEventLine(announcement));\n', new: '' },
    ['rewind 3 files'],
    'no temporary file is left',
  ),
  fault(
    'rewind: staged files are synced',
    'a staged file is not synced before it is renamed',
    { file: STAGED, old: '        syncFile(fs, target, tempPath);\n', new: '' },
    ['rewind 3 files'],
    'all or nothing',
  ),
  fault(
    'rewind: files appear by one rename',
    'a file is removed before its new content is renamed',
    {
      file: CHANGE,
      old: RENAME_INTO_PLACE,
      new: `      if (fs.lstat(entry) !== undefined) fs.unlink(entry);\n${RENAME_INTO_PLACE}`,
    },
    ['rewind 3 files'],
    'all or nothing',
  ),
  fault(
    'rewind: F of each parent folder',
    'the folder of a restored file is not synced',
    {
      file: CHANGE,
      old: `${RENAME_INTO_PLACE}      folder.sync();\n`,
      new: RENAME_INTO_PLACE,
    },
    ['rewind 3 files'],
    'all or nothing',
  ),
  fault(
    'rewind: files before the commit',
    'the log is put in place before the files',
    [
      {
        file: REWIND,
        old: '      files.make(changes, (path) => changed.add(path));\n',
        new: '',
      },
      {
        file: REWIND,
        old: '      this.#commit(begun);\n',
        new: '      this.#commit(begun);\n      files.make(changes, (path) => changed.add(path));\n',
      },
    ],
    ['rewind 3 files'],
    'all or nothing',
  ),
  fault(
    'rewind: folders before the commit',
    'folders are removed after the commit',
    [
      {
        file: REWIND,
        old: "      for (const { path, wanted } of changes) {\n        if (wanted.kind === 'absent') files.removeEmptyFolders(path, wanted.newDirs);\n      }\n      this.#commit(begun);\n",
        new: "      this.#commit(begun);\n      for (const { path, wanted } of changes) {\n        if (wanted.kind === 'absent') files.removeEmptyFolders(path, wanted.newDirs);\n      }\n",
      },
    ],
    ['rewind 3 files'],
    'all or nothing',
  ),
  fault(
    'rewind: F of the new log',
    'the new log is not synced before its rename',
    { file: REWRITE, old: '      syncFile(fs, to, temp);\n', new: '' },
    ['rewind 3 files'],
    'readable before recovery',
  ),
  fault(
    'rewind: F of the session folder',
    'the commit itself is not synced',
    {
      file: REWRITE,
      old: '    removeQuietly(fs, temp);\n    throw error;\n  }\n  syncFolder(fs, session.paths.folder);\n',
      new: '    removeQuietly(fs, temp);\n    throw error;\n  }\n',
    },
    ['restoreToSequence'],
    'acknowledged is durable',
  ),
  fault(
    'rewind: the old log is kept first',
    'the blobs of a kept record are not synced',
    {
      file: 'store/parts/blob-store.ts',
      old: '    syncFolder(fs, this.#paths.keptBlobs);\n',
      new: '',
    },
    ['rewind 3 files'],
    'kept records are those of what happened',
  ),
  fault(
    'rewind: blobs are linked before the commit',
    'the blobs of the old log are looked for in the new one',
    [
      {
        file: REWIND,
        old: '      keepBlobs(session, [...this.#survey.blobs, ...announced], newLog);\n',
        new: '',
      },
      {
        file: REWIND,
        old: '      rewriteLog(session, newLog);\n',
        new: '      rewriteLog(session, newLog);\n      keepBlobs(session, [...this.#survey.blobs, ...announced], newLog);\n',
      },
    ],
    ['rewind 3 files'],
    'kept records are those of what happened',
  ),
  fault(
    'rewind: taken back, the files come first',
    'the intent goes before the files are back',
    [
      {
        file: 'store/recovery/roll-back.ts',
        old: '  back.apply(changes);\n  takeIntentOff',
        new: '  takeIntentOff(session, intent);\n  back.apply(changes);\n  takeIntentOff',
      },
      { file: 'store/recovery/roll-back.ts', old: '  takeIntentOff(session, intent);\n  return', new: '  return' },
    ],
    ['rewind 3 files'],
    'all or nothing',
  ),
  fault(
    'rewind: a record that came to nothing goes',
    'a kept record of a commit that did not come stays',
    {
      file: RECOVER,
      old: '  discardUncommittedRecord(session);\n',
      new: '  if (session.id.length === 0) discardUncommittedRecord(session);\n',
    },
    ['truncateEvents'],
    'kept records are those of what happened',
  ),
  fault(
    'rewind: metadata follow the log',
    'a goal that was dropped stays in the metadata',
    {
      file: RECOVER,
      old: '      ...specAndGoalNow(session, eventsAfter(session, eventCount)),\n',
      new: '      ...(eventCount < 0 ? specAndGoalNow(session, []) : specAndGoalAfter(eventsAfter(session, eventCount))),\n',
    },
    ['rewind 3 files'],
    'all or nothing',
  ),
  // fork
  fault(
    'fork: F of the copied log',
    'the log of a fork is not synced',
    { file: 'store/parts/new-log.ts', old: '    syncFile(fs, fd, path);\n', new: '    syncFile;\n' },
    ['fork'],
    'all or nothing',
  ),
  // createChild
  fault(
    'createChild: the child first',
    'the parent is linked before there is a child',
    [
      {
        file: 'store/operations/create-child.ts',
        old: '  const child = publishWithEvent(',
        new: '  parent.append([link]);\n  const child = publishWithEvent(',
      },
      {
        file: 'store/operations/create-child.ts',
        old: '  parent.append([link]);\n  return child;',
        new: '  return child;',
      },
    ],
    ['createChild'],
    'all or nothing',
  ),
  // ensureSpec, spec, goal
  fault(
    'ensureSpec: the prompt inside',
    'an implementation appears before its prompt',
    [
      {
        file: 'store/operations/create-session.ts',
        old: '    createFile(deps.fs, hidden.events, encodeEventLine(event), FILE_MODE);\n',
        new: '    createFile(deps.fs, hidden.events, encodeEventLine(event).subarray(0, 0), FILE_MODE);\n',
      },
      {
        file: 'store/operations/create-session.ts',
        old: 'newMetadataDocument({ ...start, eventCount: 1, lastEventType: type })',
        new: 'newMetadataDocument({ ...start, eventCount: 0, lastEventType: undefined })',
      },
      {
        file: 'store/operations/record-spec.ts',
        old: '  if (!isNew) {\n',
        new: '  {\n',
      },
    ],
    ['ensureSpecImplementation'],
    'all or nothing',
  ),
  fault(
    'spec: event first, metadata second',
    'the metadata of a spec are written before its event',
    {
      file: 'store/operations/record-spec.ts',
      old: '    const payload = encodeJson(fields);\n',
      new: '    const payload = encodeJson(fields);\n    session.updateMetadata(fields);\n',
    },
    ['recordSpec'],
    'all or nothing',
  ),
];
