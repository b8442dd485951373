// Loaded before the built program (node --import): counts its calls in one folder, notes their names, and sends a signal
// to its own process just before the nth.
//   CALLS_IN    the folder; calls on its files, on descriptors of them and on stdout count, and so does starting a program
//   CALLS_NOTED the file that gets the names of the calls, one a line, when the process exits
//   SIGNAL_AT   <n>:<signal>[:group], n from 1; with group it goes to the whole process group, as from a terminal
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { CALLS_IN: folder, CALLS_NOTED: noted, SIGNAL_AT: at = '' } = process.env;
const [nth, signal, receiver] = at.split(':');
const calls = [];
const descriptors = new Set([1]);
const { writeFileSync } = fs;

function count(name, target, to = '') {
  calls.push(`${name} ${target} ${to}`.trimEnd());
  if (calls.length === Number(nth)) process.kill(receiver === 'group' ? 0 : process.pid, signal);
}

function watch(module, name) {
  const call = module[name];
  module[name] = function watched(target, ...rest) {
    const isOurs =
      typeof target === 'number'
        ? descriptors.has(target)
        : [folder, '/proc/self/fd/'].some((start) => String(target).startsWith(start));
    if (isOurs) count(name, target, name === 'renameSync' ? rest[0] : '');
    const result = Reflect.apply(call, this, [target, ...rest]);
    if (name === 'openSync' && isOurs) descriptors.add(result);
    if (name === 'closeSync' && isOurs) descriptors.delete(target);
    return result;
  };
  Object.assign(module[name], call);
}

const PATHS = ['open', 'lstat', 'stat', 'readdir', 'readlink', 'mkdir', 'rename', 'link', 'symlink', 'unlink', 'rmdir'];
const MORE = ['chmod', 'utimes', 'lutimes', 'rm', 'readFile', 'realpath'];
const OPEN = ['close', 'fstat', 'read', 'write', 'ftruncate', 'fsync', 'fchmod'];
for (const name of [...PATHS, ...MORE, ...OPEN]) watch(fs, `${name}Sync`);
for (const name of ['stat', 'utimes', 'mkdir', 'rmdir']) watch(fs, name);
for (const name of [...PATHS, 'chmod', 'utimes', 'readFile']) watch(fs.promises, name);
const { spawn } = childProcess;
childProcess.spawn = (command, ...rest) => {
  count('spawn', command);
  return spawn(command, ...rest);
};
syncBuiltinESMExports();

process.on('exit', () => {
  if (noted !== undefined) writeFileSync(noted, `${calls.join('\n')}\n`);
});
