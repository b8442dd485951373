import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A small file system of its own. */
export interface SmallDisk {
  readonly path: string;
  /** Mounts it anew: `ro` or `rw`. */
  remount(how: 'ro' | 'rw'): void;
}

/** Mounts a small tmpfs for one test; undefined, with a printed notice, where mounting is not allowed. */
export function smallDisk(kibibytes: number): SmallDisk | undefined {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'zs-disk-')));
  const path = join(folder, 'disk');
  mkdirSync(path);
  const mounted = mount(['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', path]);
  onTestFinished(() => {
    if (mounted) spawnSync('umount', ['-l', path]);
    rmSync(folder, { recursive: true, force: true });
  });
  if (mounted) return { path, remount: (how) => void mount(['-o', `remount,${how}`, path]) };
  process.stdout.write('\nNOTICE: no tmpfs can be mounted here (needs root): a disk in memory stands in for it\n');
  return undefined;
}

function mount(args: readonly string[]): boolean {
  return spawnSync('mount', args, { stdio: 'ignore' }).status === 0;
}
