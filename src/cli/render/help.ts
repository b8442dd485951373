import { wrapLine } from './wrap.js';

/** A heading, and under it terms with what they mean. */
export interface HelpSection {
  readonly heading: string;
  readonly items: readonly (readonly [term: string, description: string])[];
}

/** What the help of a command, or of the program, says. */
export interface HelpView {
  /** An imperative line without a full stop. */
  readonly summary: string;
  readonly usage: string;
  readonly description: string;
  readonly sections: readonly HelpSection[];
  readonly examples: readonly string[];
}

const INDENT = '  ';
const LONGEST_TERM = 28;

/** Gives help as text, wrapped to `width` columns; it opens with the summary. */
export function renderHelp(view: HelpView, width: number): string {
  const sections = view.sections.filter(({ items }) => items.length > 0);
  const lengths = sections.flatMap(({ items }) => items.map(([term]) => term.length));
  const termWidth = Math.min(LONGEST_TERM, Math.max(0, ...lengths));
  const blocks = [
    view.summary,
    `Usage: ${view.usage}`,
    wrapLine(view.description, width).join('\n'),
    ...sections.map((section) => sectionText(section, termWidth, width)),
  ];
  if (view.examples.length > 0) blocks.push(['Examples:', ...view.examples.map((each) => INDENT + each)].join('\n'));
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function sectionText({ heading, items }: HelpSection, termWidth: number, width: number): string {
  return [`${heading}:`, ...items.flatMap((item) => itemLines(item, termWidth, width))].join('\n');
}

function itemLines([term, description]: HelpSection['items'][number], termWidth: number, width: number): string[] {
  const column = INDENT.length + termWidth + INDENT.length;
  const [first = '', ...rest] = wrapLine(description, Math.max(20, width - column));
  const head = INDENT + term.padEnd(termWidth + INDENT.length);
  const isLong = term.length > termWidth;
  const lines = isLong ? [INDENT + term, ' '.repeat(column) + first] : [head + first];
  return [...lines, ...rest.map((line) => ' '.repeat(column) + line)];
}
