import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of this package: two levels up from here, as the sources are built and as the program is bundled. */
export function packageFolder(): string {
  return fileURLToPath(new URL('../..', import.meta.url));
}

/** Gives the version of this package. */
export function packageVersion(): string {
  const manifest = readFileSync(`${packageFolder()}/package.json`, 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
