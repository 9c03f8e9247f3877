import { parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser";

/**
 * Reads JSON in which comments and commas behind the last member are allowed, so that a configuration can
 * explain itself. Throws a `SyntaxError` that names the line and column and quotes nothing of the text,
 * which may hold a secret.
 */
export function parseJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined || tree === undefined) throw syntaxError(text, error);
  return valueOf(tree);
}

/** The library's own values would take a member `__proto__` for the prototype; `JSON.parse` does not. */
function valueOf({ type, value, children = [] }: Node): unknown {
  if (type === "array") return children.map(valueOf);
  if (type !== "object") return value;
  const members = children.map(({ children: [name, member] = [] }) => [
    String(name?.value),
    member && valueOf(member),
  ]);
  return Object.fromEntries(members);
}

function syntaxError(text: string, error: ParseError | undefined): SyntaxError {
  const lines = text.slice(0, error?.offset).split(/\r\n|\r|\n/);
  const column = (lines.at(-1)?.length ?? 0) + 1;
  const code = error === undefined ? "ValueExpected" : printParseErrorCode(error.error);
  const what = code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return new SyntaxError(`line ${lines.length}, column ${column}: ${what}`);
}
