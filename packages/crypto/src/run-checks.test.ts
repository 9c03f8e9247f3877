import { describe, expect, it } from "vitest";
import {
  buildRefusal,
  type Check,
  completeChecks,
  completeChecksAsync,
  runChecks,
  runLocalChecks,
  toVerdict,
} from "./run-checks.ts";

interface Question {
  readonly about: string;
}

/** Each result by the name of its check; names with "!" refuse, the others warn. */
type Results = Readonly<Record<string, boolean | undefined>>;

function buildChecks(names: readonly string[]): readonly Check<Results, void, string, string>[] {
  return names.map((name) => {
    const test = (results: Results) => results[name];
    return name.endsWith("!")
      ? { name, test, refusal: `refused at ${name}` }
      : { name, test, warning: `failed ${name}` };
  });
}

describe("runs of checks", () => {
  it.each<[string, Results, readonly string[], string | undefined]>([
    ["lists the checks that pass", { a: true, "b!": true }, ["a", "b!"], undefined],
    ["skips a check that does not apply", { a: undefined, "b!": true }, ["b!"], undefined],
    ["lists a failed check as a warning", { a: false, "b!": true }, ["a", "b!"], undefined],
    ["ends at the check that refuses", { "a!": false, b: true }, ["a!"], "refused at a!"],
  ])("a run of checks %s", (_, results, names, code) => {
    const verdict = toVerdict(
      runLocalChecks(buildChecks(Object.keys(results)), results, undefined),
    );
    const listed = names.map((name) => ({
      name,
      ok: results[name],
      ...(results[name] === false && {
        code: name.endsWith("!") ? `refused at ${name}` : `failed ${name}`,
      }),
    }));
    expect(verdict).toEqual({
      valid: code === undefined,
      ...(code !== undefined && { code }),
      checks: [{ name: "structure", ok: true }, ...listed],
      nested: [],
    });
  });

  const asking: readonly Check<string, void, "denied", never, Question>[] = [
    { name: "asked", refusal: "denied", test: (document) => ({ about: document }) },
  ];

  it.each([
    [true, undefined],
    [false, "denied"],
  ])("a run of checks takes the answer %s of its caller", async (answer, refusal) => {
    const asked: string[] = [];
    const reply = ({ about }: Question) => {
      asked.push(about);
      return answer;
    };
    const run = () => runChecks(asking, "a document", undefined);
    expect(completeChecks(run(), reply).refusal).toBe(refusal);
    const replyLater = async (question: Question) => reply(question);
    expect((await completeChecksAsync(run(), replyLater)).refusal).toBe(refusal);
    expect(asked).toEqual(["a document", "a document"]);
  });
});

it("the verdict on a document whose structure is refused has one failed check", () => {
  expect(toVerdict(buildRefusal("structure", "malformed"))).toEqual({
    valid: false,
    code: "malformed",
    checks: [{ name: "structure", ok: false, code: "malformed" }],
    nested: [],
  });
});
