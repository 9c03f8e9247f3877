/** A piece of a source and the line on which it begins. */
export interface Token {
  readonly line: number;
  readonly text: string;
}

export interface Tokens {
  /** Comments without their delimiters; `//` comments on consecutive lines are one comment. */
  readonly comments: readonly Token[];
  /** The contents of string and template literals, interpolations included. */
  readonly strings: readonly Token[];
  /** Every identifier and keyword outside of comments, strings and regular expressions. */
  readonly names: readonly Token[];
}

/** Splits a TypeScript source into tokens. Relies on the formatter, which puts each statement on its own line. */
export function readTokens(text: string): Tokens {
  const comments: Token[] = [];
  const strings: Token[] = [];
  const names: Token[] = [];
  const lines = createLineCounter(text);
  let lineComment: { line: number; last: number; text: string } | undefined;
  for (const { index, groups = {} } of text.matchAll(TOKEN)) {
    const line = lines(index);
    const { single, block, quoted, name } = groups;
    if (single !== undefined) {
      const words = single.slice(2).trim();
      if (lineComment !== undefined && lineComment.last === line - 1) {
        lineComment.last = line;
        lineComment.text += `\n${words}`;
      } else {
        lineComment = { line, last: line, text: words };
        comments.push(lineComment);
      }
    } else if (block !== undefined) {
      comments.push({ line, text: block.slice(2, -2).replaceAll(/^[ *]+/gm, "") });
    } else if (quoted !== undefined) {
      strings.push({ line, text: quoted.slice(1, -1) });
    } else if (name !== undefined) {
      names.push({ line, text: name });
    }
  }
  return { comments, strings, names };
}

/** Returns a function that must be called with growing offsets, so that a source is read only once. */
function createLineCounter(text: string): (offset: number) => number {
  let line = 1;
  let read = 0;
  return (offset) => {
    for (; read < offset; read++) if (text[read] === "\n") line++;
    return line;
  };
}

/** A slash begins a regular expression only where a value may begin. */
const REGULAR_EXPRESSION =
  /(?<=(?:[(,=:[!&|?{};>]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/;

const QUOTED =
  /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|\$\{(?:[^{}`]|\{[^{}]*\}|`(?:\\.|[^`\\])*`)*\}|[^`\\])*`/;

const TOKEN = new RegExp(
  [
    String.raw`(?<single>\/\/.*)`,
    String.raw`(?<block>\/\*[\s\S]*?\*\/)`,
    REGULAR_EXPRESSION.source,
    `(?<quoted>${QUOTED.source})`,
    String.raw`(?<name>[A-Za-z_$][\w$]*)`,
    String.raw`\d[\w.]*`,
  ].join("|"),
  "g",
);
