import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The public surface of the library, read from the declarations that the build writes. */
export interface ApiReport {
  /** Every exported signature, one a line, sorted; members of interfaces and classes under the name of theirs. */
  readonly lines: readonly string[];
  /** Types of ours that a signature names and that a caller cannot import; brands are made by parsing only. */
  readonly missing: readonly string[];
}

/** Reads the surface from `index.d.ts` in a folder of declarations. */
export function readApiReport(folder: string): ApiReport {
  const exported = exportsOf(join(folder, 'index.d.ts'));
  const lines: string[] = [];
  const named = new Set<string>();
  for (const { name, file, isType } of exported) {
    const { members: all, declared } = declarationOf(name, file);
    const members = isType ? all.filter((member) => !member.startsWith(`${name}: constructor(`)) : all;
    lines.push(...members);
    for (const word of members.join(' ').match(/\b[A-Z]\w+/g) ?? []) if (declared.has(word)) named.add(word);
  }
  const known = new Set(exported.map(({ name }) => name));
  return { lines: lines.sort(), missing: [...named].filter((name) => !known.has(name) && name !== 'Branded').sort() };
}

interface Exported {
  readonly name: string;
  /** A class whose instances are given out, and that nobody can make one of. */
  readonly isType: boolean;
  readonly file: string;
}

function exportsOf(index: string): readonly Exported[] {
  const text = withoutComments(readFileSync(index, 'utf8'));
  return [...text.matchAll(/export (type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(([, type, names = '', from = '']) =>
    names
      .split(',')
      .map((each) => each.replace(/\btype\b/, '').trim())
      .filter((name) => name !== '')
      .map((name) => ({
        name,
        isType: type !== undefined,
        file: join(dirname(index), from.replace(/\.js$/, '.d.ts')),
      })),
  );
}

/** Gives a declaration line by line, and the names of all types that its file declares or imports of ours. */
function declarationOf(name: string, file: string): { members: readonly string[]; declared: ReadonlySet<string> } {
  const text = withoutComments(readFileSync(file, 'utf8'));
  const start = new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const) ${name}\\b`,
    'm',
  ).exec(text);
  if (start === null) throw new Error(`${file} does not declare ${name}`);
  const parts = statements(text.slice(start.index));
  const whole = parts[0] ?? '';
  // One function may have several signatures.
  const all = /function/.test(whole)
    ? parts.filter((part) => new RegExp(`\\bfunction ${name}\\b`).test(part))
    : [whole];
  return { members: all.flatMap((part) => membersOf(name, part)), declared: typesOf(text) };
}

function membersOf(name: string, declaration: string): readonly string[] {
  const plain = declaration.replace(/^export /, '').replace(/^declare /, '');
  if (!/^(?:abstract )?(?:class|interface) /.test(plain)) return [oneLine(plain)];
  const open = plain.indexOf('{');
  const inside = statements(plain.slice(open + 1, plain.lastIndexOf('}')));
  const members = inside.map(oneLine).filter((member) => member !== '' && !/^(?:private\b|#)/.test(member));
  return [oneLine(plain.slice(0, open)), ...members.map((member) => `${name}: ${member}`)];
}

function typesOf(text: string): ReadonlySet<string> {
  const declared = [...text.matchAll(/^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type) (\w+)/gm)];
  const imported = [...text.matchAll(/import (?:type )?\{([^}]*)\} from '\.[^']+'/g)].flatMap(([, names = '']) =>
    names.split(',').map((each) => each.replace(/\btype\b/, '').trim()),
  );
  return new Set([...declared.map(([, name = '']) => name), ...imported]);
}

/** Splits at what ends a statement outside of every bracket. */
function statements(text: string): readonly string[] {
  const found: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if ('{(['.includes(character)) depth += 1;
    if ('})]'.includes(character)) depth -= 1;
    const endsBlock =
      character === '}' &&
      depth === 0 &&
      /^\s*\n(?:export|declare|interface|type|\s*$)/.test(text.slice(at + 1, at + 40));
    if ((character === ';' && depth === 0) || endsBlock) {
      found.push(text.slice(from, at + 1).trim());
      from = at + 1;
    }
  }
  return [...found, text.slice(from).trim()].filter((part) => part !== '');
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/;$/, '').trim();
}
