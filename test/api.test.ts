import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readApiReport } from './support/api-report.js';

// What is exported is a promise. A change of it is seen here; one that is meant is written down by:
// npm run build && npx vitest run test/api.test.ts --update

const { lines, missing } = readApiReport(fileURLToPath(new URL('../dist', import.meta.url)));

describe('the public surface', () => {
  test('given the declarations that were built, then they are those of docs/api.txt', async () => {
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../docs/api.txt');
  });

  test('given what its signatures name, then a caller can import it', () => {
    expect(missing).toEqual([]);
  });

  test('given what only the command line needs, then it is not among it', () => {
    const names = lines.map((line) => /^(?:abstract )?(?:class|interface|type|function|const) (\w+)/.exec(line)?.[1]);

    expect(names).toContain('SessionStore');
    expect(
      names.filter((name) => /Usage|NotYet|InterruptedError|AnswerLost|Summarizer|Shown/.test(name ?? '')),
    ).toEqual([]);
  });
});
