import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type JsonView,
  openJsonDocument,
  openJsonLines,
  renderJsonDocument,
  renderJsonLine,
  renderJsonValue,
} from '../../../src/cli/render/json.js';

const RAW = Buffer.from('{"n":9007199254740993,"x":1.0,"b":"\\u003c"}');
const ZERO = Buffer.from('0');
const ASCII = fc.string({ unit: 'grapheme-ascii', maxLength: 8 });

describe('a document', () => {
  test('given members, then the version comes first and the rest in its order, indented by two', () => {
    expect(text(renderJsonDocument({ sessions: [], hidden: {}, last: null, none: undefined }))).toBe(
      '{\n  "schemaVersion": 1,\n  "sessions": [],\n  "hidden": {},\n  "last": null\n}\n',
    );
  });

  test('given raw JSON, then it stands byte for byte on its line', () => {
    expect(text(renderJsonDocument({ events: [{ id: 'e', payload: RAW, none: undefined }] }))).toBe(
      [
        '{',
        '  "schemaVersion": 1,',
        '  "events": [',
        '    {',
        '      "id": "e",',
        `      "payload": ${RAW.toString()}`,
        '    }',
        '  ]',
        '}',
        '',
      ].join('\n'),
    );
  });

  test('given raw bytes that are not UTF-8, then they are not changed', () => {
    const raw = Buffer.from([0x22, 0xff, 0xfe, 0x22]);

    expect(Buffer.from(renderJsonLine({ payload: raw })).includes(raw)).toBe(true);
  });

  test('given any ASCII value, then it is what the engine prints, also beside raw JSON', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        ASCII,
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(ASCII, tie('value'), { maxKeys: 3 }),
    })).value;
    fc.assert(
      fc.property(value, (own) => {
        const view = own as JsonView;

        expect(text(renderJsonValue(view))).toBe(`${JSON.stringify(view, null, 2)}\n`);
        expect(text(renderJsonLine(view))).toBe(`${JSON.stringify(view)}\n`);
        expect(text(renderJsonValue([{ view }, ZERO]))).toBe(`${JSON.stringify([{ view }, 0], null, 2)}\n`);
        expect(text(renderJsonLine([{ view }, ZERO]))).toBe(`${JSON.stringify([{ view }, 0])}\n`);
      }),
    );
  });

  test('given control, bidi and zero-width characters, then they are escaped and read back the same', () => {
    const title = '\u001b[2J\u007f\u009b\u202e\u2066\u200b\ufeff\u2028\n\ud800\u{e0041}';

    const json = text(renderJsonDocument({ title, [title]: RAW }));

    expect(json.replaceAll('\n', '')).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(json)).toMatchObject({ title, [title]: {} });
  });

  test('given a lineage 5,000 deep, then it is printed, and no deeper indented than a screen', () => {
    let tree: JsonView = { session: { id: 'leaf' }, children: [] };
    for (let at = 0; at < 5_000; at += 1) tree = { session: { id: `s${at}` }, children: [tree] };

    const json = text(renderJsonDocument({ trees: [tree] }));

    expect(json.length).toBeLessThan(1_000_000);
    expect(json.split('"session"')).toHaveLength(5_002);
  });
});

describe('a document with a long array', () => {
  test.each([0, 1, 3, 500])('given %i elements, then it is the document made at once', async (count) => {
    const items = Array.from({ length: count }, (_, at) => ({
      sequence: at,
      tags: ['a'],
      payload: RAW,
      text: 'x'.repeat(400),
    }));
    const sink = aSink();

    const document = openJsonDocument(sink, { session: { id: 's' }, none: undefined }, 'events');
    for (const item of items) await document.item(item);
    await document.close({ damage: [{ line: 3 }] });

    expect(sink.text()).toBe(text(renderJsonDocument({ session: { id: 's' }, events: items, damage: [{ line: 3 }] })));
  });

  test('given many elements, then they leave before the end and in few writes', async () => {
    const sink = aSink();
    const document = openJsonDocument(sink, {}, 'events');
    for (let at = 0; at < 3_000; at += 1) await document.item({ at, text: 'x'.repeat(90) });
    const before = sink.writes();

    await document.close({});

    expect(before).toBeGreaterThan(0);
    expect(sink.writes()).toBeLessThan(20);
  });

  test('given one large element, then its bytes are handed on, not copied', async () => {
    const large = Buffer.from(`"${'x'.repeat(500_000)}"`);
    const sink = aSink();
    const document = openJsonDocument(sink, {}, 'events');

    await document.item({ payload: large });

    expect(sink.parts.some((part) => part === large)).toBe(true);
  });
});

describe('lines', () => {
  test('given values, then each is a line, and a flush shows what there is', async () => {
    const sink = aSink();
    const lines = openJsonLines(sink);

    await lines.item({ id: 'a', payload: RAW });
    await lines.item({ id: 'b' });
    expect(sink.text()).toBe('');
    await lines.flush();
    await lines.flush();

    expect(sink.text()).toBe(`{"id":"a","payload":${RAW.toString()}}\n{"id":"b"}\n`);
    expect(sink.writes()).toBe(1);
  });
});

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

function aSink() {
  const parts: Uint8Array[] = [];
  return {
    parts,
    write: async (bytes: Uint8Array) => {
      parts.push(bytes);
    },
    text: () => Buffer.concat(parts).toString(),
    writes: () => parts.length,
  };
}
