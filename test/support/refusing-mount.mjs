// Loaded before the built program (node --import): every mount refuses modes, times, hard links and the fsync of folders,
// as WSL, SMB and FUSE do, with the error that REFUSED_WITH names.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const code = process.env.REFUSED_WITH ?? 'EPERM';
const refusal = (syscall) => Object.assign(new Error(`${code}: refused, ${syscall}`), { code, errno: -1, syscall });

for (const [name, syscall] of [
  ['fchmodSync', 'fchmod'],
  ['chmodSync', 'chmod'],
  ['lutimesSync', 'lutime'],
  ['utimesSync', 'utime'],
  ['linkSync', 'link'],
]) {
  fs[name] = () => {
    throw refusal(syscall);
  };
}
for (const [name, syscall] of [
  ['chmod', 'chmod'],
  ['fchmod', 'fchmod'],
  ['utimes', 'utime'],
]) {
  fs[name] = (...args) => process.nextTick(args.at(-1), refusal(syscall));
}
fs.promises.chmod = () => Promise.reject(refusal('chmod'));
const { fsyncSync } = fs;
fs.fsyncSync = (fd) => {
  if (fs.fstatSync(fd).isDirectory()) throw refusal('fsync');
  fsyncSync(fd);
};
const handle = await fs.promises.open('/', 'r');
Object.getPrototypeOf(handle).chmod = () => Promise.reject(refusal('fchmod'));
await handle.close();
syncBuiltinESMExports();
