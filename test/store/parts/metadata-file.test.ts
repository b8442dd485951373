import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../src/index.js';
import { parseSessionId } from '../../../src/model/ids.js';
import { changeMetadata } from '../../../src/model/metadata.js';
import { pathsOf, readMetadata, requireMetadata, writeMetadata } from '../../../src/store/parts/metadata-file.js';
import { type Fault, faultyFileSystem } from '../../support/faulty-file-system.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

const id = parseSessionId('s');
const code = (expected: ErrorCode) => expect.objectContaining({ code: expected });

describe('metadata that are read', () => {
  test('given none, then there are none, and a session that needs them says which of the two files is there', () => {
    const { deps } = tempStore([aSession('s').withoutMetadata(), aSession('t').withoutMetadata().withoutLog()]);

    expect(readMetadata(deps, id, pathsOf(deps, id))).toBeUndefined();
    expect(() => requireMetadata(deps, id)).toThrow(code('METADATA_MISSING'));
    expect(() => requireMetadata(deps, parseSessionId('t'))).toThrow(code('SESSION_NOT_FOUND'));
  });

  test.each(['t', 'S', ' s', 's/..'])(
    'given the id %j inside, then they are damaged and both names are told',
    (inside) => {
      const { deps } = tempStore(aSession().withMetadata({ sessionId: inside }));

      expect(() => requireMetadata(deps, id)).toThrow(
        expect.objectContaining({
          code: 'METADATA_DAMAGED',
          message: expect.stringContaining(JSON.stringify(inside)) as string,
        }),
      );
    },
  );

  test('given no id inside, then the folder’s name is it, also where they are written again', () => {
    const { deps, text } = tempStore(aSession().withMetadataText('{"title":"t","x":1}'));
    const document = requireMetadata(deps, id);

    writeMetadata(deps, pathsOf(deps, id), changeMetadata(document, { title: 'u' }));

    expect(JSON.parse(text('metadata.json'))).toEqual({
      sessionId: 's',
      title: 'u',
      createdAt: '',
      updatedAt: '',
      eventCount: 0,
      x: 1,
    });
  });

  test('given malformed ones, then the error names session, file and reason', () => {
    const { deps, path } = tempStore(aSession().withMetadataText('{"title":1}'));

    expect(() => requireMetadata(deps, id)).toThrow(
      expect.objectContaining({ sessionId: 's', path: path('metadata.json'), reason: 'has a title that is no text' }),
    );
  });
});

describe('metadata that are written', () => {
  const faults: readonly Fault['as'][] = ['EIO', 'ENOSPC', 'half', 'short'];

  test.each(faults)(
    'given %s at any call, then the file is the old or the new one, whole, and no temp file stays',
    (as) => {
      const before = aSession().build().metadata?.toString() ?? '';
      for (let nth = 1; ; nth += 1) {
        const fileSystem = faultyFileSystem({ nth, as });
        const { deps, text, path } = tempStore(aSession(), { fileSystem });
        const document = changeMetadata(requireMetadata(deps, id), { title: 'new' });
        let failed = false;
        try {
          writeMetadata(deps, pathsOf(deps, id), document);
        } catch {
          failed = true;
        }
        if (!fileSystem.hit) break;

        const after = text('metadata.json');
        // The rename is done before the folder is synced: a failure there leaves the new file.
        if (failed && after === before) expect(after).toBe(before);
        else expect(JSON.parse(after)).toMatchObject({ sessionId: 's', title: 'new' });
        expect(readdirSync(path()).sort()).toEqual(['events.jsonl', 'metadata.json']);
      }
    },
  );

  test('given a reader that has the old file open, then it reads the old one to its end', () => {
    const { deps, path } = tempStore(aSession().withMetadata({ title: 'old' }));
    const fd = deps.fs.openRead(path('metadata.json'));

    writeMetadata(deps, pathsOf(deps, id), changeMetadata(requireMetadata(deps, id), { title: 'new' }));

    expect(readFileSync(fd, 'utf8')).toContain('"title": "old"');
    deps.fs.close(fd);
  });
});
