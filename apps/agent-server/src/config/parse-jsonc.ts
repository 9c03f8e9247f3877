import { parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser";

/**
 * Parses JSON with comments and trailing commas, so that a configuration can be documented in
 * place. Throws a `SyntaxError` that names the line and column and quotes nothing of the text,
 * which may hold a secret.
 */
export function parseJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined || tree === undefined) throw syntaxError(text, error);
  return toValue(tree);
}

/**
 * Converts a node to its value. The library's own conversion would set the prototype for a member
 * `__proto__`; `JSON.parse` does not.
 */
function toValue({ type, value, children = [] }: Node): unknown {
  if (type === "array") return children.map(toValue);
  if (type !== "object") return value;
  const members = children.map(({ children: [name, member] = [] }) => [
    String(name?.value),
    member && toValue(member),
  ]);
  return Object.fromEntries(members);
}

function syntaxError(text: string, error: ParseError | undefined): SyntaxError {
  const lines = text.slice(0, error?.offset).split(/\r\n|\r|\n/);
  const column = (lines.at(-1)?.length ?? 0) + 1;
  const code = error === undefined ? "ValueExpected" : printParseErrorCode(error.error);
  const problem = code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return new SyntaxError(`line ${lines.length}, column ${column}: ${problem}`);
}
