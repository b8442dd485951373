import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Where it begins, from 1. */
  readonly line: number;
}

/** A command that a page shows, and what it says comes out. */
export interface Shown {
  readonly command: string;
  readonly output: readonly string[];
  readonly line: number;
}

/** Reads a page of the project. */
export function readPage(path: string): string {
  return readFileSync(`${PROJECT}/${path}`, 'utf8');
}

/** Gives the fenced blocks of a page; one that is not closed is an error. */
export function blocksOf(page: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { language: string; lines: string[]; line: number } | undefined;
  for (const [at, line] of page.split('\n').entries()) {
    if (!line.startsWith('```')) open?.lines.push(line);
    else if (open === undefined) open = { language: line.slice(3).trim(), lines: [], line: at + 1 };
    else {
      blocks.push({ language: open.language, text: open.lines.join('\n'), line: open.line });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`The block in line ${open.line} has no end`);
  return blocks;
}

/** Gives the commands of a console block, each with the lines below it. */
export function commandsOf({ text, line }: Block): readonly Shown[] {
  const commands: { command: string; output: string[]; line: number }[] = [];
  for (const [at, each] of text.split('\n').entries()) {
    if (each.startsWith('$ ')) commands.push({ command: each.slice(2), output: [], line: line + at + 1 });
    else {
      const last = commands.at(-1);
      if (last === undefined) throw new Error(`Line ${line + at + 1} stands before the first command`);
      last.output.push(each);
    }
  }
  return commands;
}

/** Gives the page without its fenced and indented code, and without code in lines. */
export function proseOf(page: string): string {
  return page.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
}

/** Gives the anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const headings = page.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
