import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ExactJson, ExactObject, isList, parseExact } from './exact-json.js';
import type { FileTree, TreeNode } from './file-tree.js';
import { isUlid } from './tokens.js';

const MARKER = 'session_rewind';
const ID = 'rewindId';

/**
 * The markers of rewinds that were applied in a case. Each has a `rewindId` of ours, which is checked when the marker is
 * written and then taken out of what is compared (DIFFERENCES.md, rule 2). The id of nobody else's marker is.
 */
export class AppliedRewinds {
  readonly #ids = new Set<string>();

  /**
   * Notes the rewind that has just been applied to a session.
   * @throws Error when the log does not end with a marker whose payload ends with a ULID as `rewindId`, after `report`.
   */
  note(root: string, sessionId: string): void {
    const log = readFileSync(join(root, sessionId.trim(), 'events.jsonl'), 'utf8');
    const line = parseExact(log.trimEnd().split('\n').at(-1) ?? '');
    const payload = line instanceof ExactObject && line.get('type') === MARKER ? line.get('payload') : undefined;
    if (!(payload instanceof ExactObject)) throw new Error('the log does not end with a rewind');
    const [[before] = [], [name, id] = []] = payload.members.slice(-2);
    if (before !== 'report' || name !== ID || typeof id !== 'string' || !isUlid(id)) {
      throw new Error('the payload of the rewind does not end with its rewindId after its report');
    }
    this.#ids.add(id);
  }

  /** Gives a result without the ids of these rewinds, in the payloads of markers alone. */
  withoutIds(result: ExactJson): ExactJson {
    if (isList(result)) return result.map((item) => this.withoutIds(item));
    if (!(result instanceof ExactObject)) return result;
    const isMarker = result.members.some(([name, value]) => name === 'type' && value === MARKER);
    return new ExactObject(
      result.members.map(([name, value]) => [
        name,
        isMarker && name === 'payload' ? this.#withoutId(value) : this.withoutIds(value),
      ]),
    );
  }

  /** Gives a store without the ids of these rewinds, in the lines of markers alone. */
  withoutIdsIn(store: FileTree): FileTree {
    return new Map([...store].map(([path, node]) => [path, this.#isLog(path) ? this.#lessIds(node) : node]));
  }

  #withoutId(payload: ExactJson): ExactJson {
    if (!(payload instanceof ExactObject)) return payload;
    return new ExactObject(
      payload.members.filter(([name, value]) => name !== ID || typeof value !== 'string' || !this.#ids.has(value)),
    );
  }

  #isLog(path: string): boolean {
    return this.#ids.size > 0 && path.endsWith('/events.jsonl');
  }

  #lessIds(node: TreeNode): TreeNode {
    if (node.kind !== 'file') return node;
    // Byte by byte the same but for the id: one character of latin1 is one byte.
    const lines = Buffer.from(node.bytes).toString('latin1').split('\n');
    const less = lines.map((line) => (line.includes(`"type":"${MARKER}"`) ? this.#lessId(line) : line));
    return { ...node, bytes: Buffer.from(less.join('\n'), 'latin1') };
  }

  #lessId(line: string): string {
    return [...this.#ids].reduce((text, id) => text.replace(`,"${ID}":"${id}"`, ''), line);
  }
}
