import { parseUsage, type UsageForm } from "./parse-usage.ts";

/** The arguments after the name of a command, and the names of the options that were given. */
export interface GivenLine {
  readonly args: readonly string[];
  readonly options: readonly string[];
}

/**
 * Returns why the arguments do not fit the usage of a command, or undefined if they do. An option of another
 * form of the command is a fault too, because without effect it would look as if it had been applied.
 */
export function findUsageFault(
  usage: string,
  given: GivenLine,
  /** Options that every command of this kind has. */
  shared: readonly string[] = [],
): string | undefined {
  const forms = parseUsage(usage);
  const options = given.options.filter((name) => !shared.includes(name));
  const form = chooseForm(forms, { args: given.args, options });
  if (form === undefined) return describeNextWord(forms, given.args);
  const args = given.args.slice(form.words.length - 1);
  const foreign = options.find((name) => !form.options.some((option) => option.name === name));
  if (foreign !== undefined) return describeForeign(forms, form, foreign);
  const surplus = args[form.maxArguments];
  if (surplus !== undefined) {
    const isWord = args.length === given.args.length && listNextWords(forms).length > 0;
    if (isWord) return describeNextWord(forms, given.args);
    return `${JSON.stringify(surplus)} is an argument too many`;
  }
  const missing = [
    ...form.required.filter((_, index) => (args[index] ?? "").trim() === ""),
    ...form.options
      .filter(({ name, isRequired, hasValue }) => isRequired && hasValue && !options.includes(name))
      .map(({ name }) => `--${name}`),
  ];
  if (missing.length === 0) return undefined;
  return `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing`;
}

/** Of forms with the same words, the last one whose flags were given is meant. */
function chooseForm(
  forms: readonly UsageForm[],
  { args, options }: GivenLine,
): UsageForm | undefined {
  const fitting = forms.filter(({ words }) =>
    words.slice(1).every((word, index) => args[index] === word),
  );
  const length = Math.max(...fitting.map(({ words }) => words.length));
  const sameWords = fitting.filter(({ words }) => words.length === length);
  const isMeant = (form: UsageForm) => listFlags(form).every((name) => options.includes(name));
  return sameWords.findLast(isMeant) ?? sameWords[0];
}

/** The flags without which a form is another one. */
function listFlags({ options }: UsageForm): readonly string[] {
  return options
    .filter(({ isRequired, hasValue }) => isRequired && !hasValue)
    .map(({ name }) => name);
}

const formatName = (form: UsageForm) =>
  [...form.words, ...listFlags(form).map((name) => `--${name}`)].join(" ");

function describeForeign(forms: readonly UsageForm[], form: UsageForm, option: string): string {
  const takers = forms.filter(({ options }) => options.some(({ name }) => name === option));
  const fault = `${formatName(form)} takes no --${option}`;
  if (takers.length === 0) return fault;
  return `${fault}, but ${joinNames(takers.map(formatName))} ${takers.length === 1 ? "does" : "do"}`;
}

const listNextWords = (forms: readonly UsageForm[]) => [
  ...new Set(forms.flatMap(({ words }) => words.slice(1, 2))),
];

function describeNextWord(forms: readonly UsageForm[], [given]: readonly string[]): string {
  const name = forms[0]?.words[0] ?? "";
  const nothing = forms.some(({ words }) => words.length === 1) ? ["nothing"] : [];
  const fault = `${name} is followed by ${joinNames([...listNextWords(forms), ...nothing], "or")}`;
  return given === undefined ? fault : `${fault}, not by ${JSON.stringify(given)}`;
}

function joinNames(names: readonly string[], conjunction = "and"): string {
  const [last = "", ...others] = names.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} ${conjunction} ${last}`;
}
