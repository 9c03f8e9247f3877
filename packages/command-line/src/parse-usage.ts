/** One form of a command, such as `withdrawals complete ID --payout-reference R`. */
export interface UsageForm {
  /** The command's name and the words that distinguish this form, such as `complete`. */
  readonly words: readonly string[];
  /** The names of the arguments after the words that must be given, in order. */
  readonly required: readonly string[];
  /** The maximum number of arguments after the words. */
  readonly maxArguments: number;
  readonly options: readonly UsageOption[];
}

/** An option of a form. */
export interface UsageOption {
  readonly name: string;
  readonly isRequired: boolean;
  readonly hasValue: boolean;
}

const FORM_SEPARATOR = " | ";
const MANY = "...";

/**
 * Parses the usage of a command: forms separated by ` | `, each with its words in lower case, then its
 * arguments in upper case, then its options. Brackets mark what may be omitted, and `...` any number.
 */
export function parseUsage(usage: string): readonly UsageForm[] {
  return usage.split(FORM_SEPARATOR).map(parseForm);
}

function parseForm(text: string): UsageForm {
  const tokens = text.split(" ");
  const firstOption = tokens.findIndex((token) => /^\[?--/.test(token));
  const before = firstOption === -1 ? tokens : tokens.slice(0, firstOption);
  const names = before.filter((token) => /^[a-z-]+$/.test(token));
  const placeholders = before.slice(names.length);
  return {
    words: names,
    required: placeholders.filter((token) => !token.startsWith("[")),
    maxArguments: placeholders.some((token) => token.includes(MANY))
      ? Infinity
      : placeholders.length,
    options: firstOption === -1 ? [] : parseOptions(tokens.slice(firstOption)),
  };
}

/** Of options of which one is required, as in `--sent|--received`, the command itself checks the choice. */
function parseOptions(tokens: readonly string[]): readonly UsageOption[] {
  return tokens.flatMap((token, index) => {
    if (!/^\[?--/.test(token)) return [];
    const names = [...token.matchAll(/--([a-z-]+)/g)].map(([, name = ""]) => name);
    const isRequired = !token.startsWith("[") && names.length === 1;
    const next = tokens[index + 1];
    const hasValue = !token.endsWith("]") && next !== undefined && !/^\[?--/.test(next);
    return names.map((name) => ({ name, isRequired, hasValue }));
  });
}
