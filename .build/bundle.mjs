import { build } from 'rolldown';

// The program as it is shipped: CommonJS in a few pieces, one for each command. Node starts that in a third of the time
// that the modules of dist/ take, each of which is a file to find, read and link. The library stays as it is.

/** Loads a builtin at the first use of one of its names: `tty` and `child_process` cost 3 to 5 ms each. */
const builtinsWhenUsed = {
  name: 'builtins-when-used',
  renderChunk(code) {
    const builtins = [];
    let text = code.replace(/^let (\w+) = require\("(node:[\w/]+)"\);\n(?:\1 = [^\n]+\n)?/gm, (_, name, builtin) => {
      builtins.push([name, builtin]);
      return '';
    });
    // A default import of a builtin is the builtin.
    for (const [name] of builtins) text = text.replace(new RegExp(`\\b${name}(?:\\.default)?\\b`, 'g'), `${name}()`);
    return builtins.map(([name, builtin]) => `const ${name} = () => require("${builtin}");\n`).join('') + text;
  },
};

/** What two packages do when they are loaded, and nobody here wants done. A version that reads otherwise ends the build. */
const LOADED_FOR_NOTHING = [
  // It looks at stdout, which loads streams and terminals. Whether there are colours is decided in render/style.ts.
  { package: 'picocolors', text: '(p.stdout || {}).isTTY', instead: 'false' },
  // For subcommands that are programs of their own.
  {
    package: 'commander',
    text: "const childProcess = require('node:child_process');",
    instead: 'const childProcess = {};',
  },
];

const found = new Set();

const nothingForNothing = {
  name: 'nothing-for-nothing',
  transform(code, id) {
    const known = LOADED_FOR_NOTHING.find(
      (each) => id.includes(`/node_modules/${each.package}/`) && code.includes(each.text),
    );
    if (known === undefined) return undefined;
    found.add(known);
    return code.replace(known.text, known.instead);
  },
  buildEnd() {
    const missing = LOADED_FOR_NOTHING.filter((each) => !found.has(each));
    if (missing.length > 0)
      this.error(`Not found: ${missing.map((each) => `${each.text} in ${each.package}`).join(', ')}`);
  },
};

await build({
  logLevel: 'warn',
  input: { main: 'dist/cli/main.js' },
  platform: 'node',
  // It is asked for by require, when a table is drawn on a terminal.
  external: ['cli-table3'],
  plugins: [builtinsWhenUsed, nothingForNothing],
  output: {
    dir: 'dist/program',
    cleanDir: true,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
  },
});
