import type { DemoStore } from '../commands/demo-store.js';
import type { Page } from '../page.js';
import { wrapLine } from './wrap.js';

/** A tour: what was tried and what came of it, with words between. */
export interface DemoView {
  readonly steps: readonly DemoStep[];
  readonly demo: DemoStore;
}

/** One stop of the tour. */
export interface DemoStep {
  readonly words: string;
  /** As a person would type it. */
  readonly commandLine: string;
  /** What it printed. */
  readonly output: string;
}

const WIDEST = 80;

/** Gives a tour as text: before each command line what it is for, after it what it printed. */
export function renderDemo({ steps, demo }: DemoView, page: Page): string {
  const width = Math.min(page.width ?? WIDEST, WIDEST);
  const paragraph = (words: string) => wrapLine(words, width).join('\n');
  const { style } = page;
  const stops = steps.map(({ words, commandLine, output }, at) => {
    const text = paragraph(`${at + 1}. ${words}`);
    return `${text}\n\n${style.code(`$ ${commandLine}`)}\n${output.trimEnd()}`;
  });
  const opening =
    'zero-sessions reads, forks and rewinds the sessions that the Zero coding agent keeps. This tour works on a store ' +
    'of its own, made just now; your sessions are not touched.';
  const closing = [
    paragraph('That was it. The store stays where it is, so that you can look around in it:'),
    '',
    `  zero-sessions tree --root ${demo.root}`,
    '  zero-sessions --help',
    '',
    paragraph('When you have seen enough:'),
    '',
    `  rm -r ${demo.folder}`,
  ].join('\n');
  return `${[paragraph(opening), ...stops, closing].join('\n\n')}\n`;
}
