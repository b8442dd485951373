import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own where Zeros register the sessions that they have open. */
export class PeerRegistry {
  readonly top = temporaryFolder();
  /** Leads a store to it. */
  readonly env = { XDG_RUNTIME_DIR: this.top };
  readonly #below: readonly string[];
  #count = 0;

  constructor(below: readonly string[] = ['zero', 'peers', 'registry']) {
    this.#below = below;
    mkdirSync(this.path(), { recursive: true });
  }

  path(...names: readonly string[]): string {
    return join(this.top, ...this.#below, ...names);
  }

  add(entry: unknown): void {
    this.write(JSON.stringify(entry));
  }

  write(text: string): string {
    this.#count += 1;
    const path = this.path(`${this.#count}-entry.json`);
    writeFileSync(path, text);
    return path;
  }
}

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'zs-registry-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
