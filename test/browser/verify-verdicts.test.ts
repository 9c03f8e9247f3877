import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadBundleExamples } from "../load-bundle-examples.ts";
import { loadLogExamples, loadLogVectors, type LogExample } from "../load-log-examples.ts";
import { findBrowser } from "../open-browser.ts";
import { getExpected } from "./world/expected-verdict.ts";
import { loadVectors } from "./world/load-vectors.ts";
import { giveFiles, nameKeys, readShown, startVerifier, type Verifier } from "./world/verifier.ts";

const executablePath = findBrowser();

describe.skipIf(executablePath === undefined)("Verdicts of /verify", { timeout: 240_000 }, () => {
  let verifier: Verifier;

  beforeAll(async () => {
    verifier = await startVerifier(executablePath ?? "");
  }, 120_000);
  afterAll(() => verifier?.stop());

  /** Opens the page with the keys of an example in its fields. */
  async function openNamed({ keys, log }: Pick<LogExample, "keys" | "log">) {
    const opened = await verifier.openPage();
    await nameKeys(opened.page, { keys, log });
    return opened;
  }

  /** Compares the page with Node.js on many texts at once, with the same keys. */
  async function expectSameVerdicts(
    texts: readonly string[],
    keys: readonly string[],
  ): Promise<void> {
    for (let at = 0; at < texts.length; at += 50) {
      const some = texts.slice(at, at + 50);
      const { page, context } = await verifier.openPage();
      await page.fill("#keys", keys.join(" "));
      await giveFiles(page, some);
      const expected = some.map((text) => JSON.parse(JSON.stringify(getExpected(text, keys))));
      expect(await readShown(page)).toEqual(expected);
      await context.close();
    }
  }

  it.each([
    ["receipts", "receipt"],
    ["credentials", "credential"],
    ["ledgers", "ledger"],
  ])(
    "the page /verify gives the verdict of Node.js on every vector of %s, with and without keys",
    async (name, member) => {
      const vectors = loadVectors(name);
      const texts = vectors.map((vector) => vector[member] ?? "");
      const keys = [...new Set(vectors.map(({ key }) => key ?? ""))].filter((key) =>
        /^[0-9a-f]{64}$/.test(key),
      );
      expect(texts.length).toBeGreaterThan(20);
      await expectSameVerdicts(texts, []);
      if (keys.length > 0) await expectSameVerdicts(texts, keys);
    },
  );

  it("the page /verify gives the verdict of Node.js on every example and every attack on a bundle", async () => {
    const examples = await loadBundleExamples();
    expect(examples.length).toBeGreaterThan(40);
    await expectSameVerdicts(
      examples.map(({ text }) => text),
      [],
    );
    const byKeys = Map.groupBy(examples, ({ keys }) => keys.join(" "));
    for (const [keys, some] of byKeys) {
      if (keys === "") continue;
      await expectSameVerdicts(
        some.map(({ text }) => text),
        keys.split(" "),
      );
    }
  });

  it("the page /verify gives the verdict of Node.js on every proof file and checkpoint of the vectors", async () => {
    const vectors = loadLogVectors();
    expect(vectors.length).toBeGreaterThan(60);
    const byNames = Map.groupBy(vectors, ({ log }) => JSON.stringify(log));
    for (const [, some] of byNames) {
      const { log } = some[0]!;
      const { page, context } = await openNamed({ keys: [], log });
      await giveFiles(
        page,
        some.map(({ text }) => text),
      );
      const expected = some.map(({ text }) => getExpected(text, [], { log }));
      expect(await readShown(page)).toEqual(JSON.parse(JSON.stringify(expected)));
      await context.close();
    }
  });

  it("the page /verify gives the verdict of Node.js on evidence and records in a log, and after a changed key", async () => {
    const seen = new Set<string>();
    for (const example of await loadLogExamples()) {
      const { text, keys, proof, identity } = example;
      const { page, context } = await openNamed(example);
      const companions = [proof, identity === undefined ? undefined : JSON.stringify(identity)];
      await giveFiles(page, [text, ...companions.filter((each) => each !== undefined)]);
      // Node.js would be given the wrong proof explicitly, whereas the page finds no proof that fits.
      const fits = example.title === "another proof" ? { ...example, proof: undefined } : example;
      const expected = getExpected(text, keys, fits as LogExample);
      const [shown] = await readShown(page);
      expect([example.title, shown]).toEqual([
        example.title,
        JSON.parse(JSON.stringify(expected)) as unknown,
      ]);
      seen.add(`${expected.state} ${expected.code ?? ""}`);
      await context.close();
    }
    expect([...seen].toSorted()).toEqual([
      "confirmed ",
      "refused artifact.key_unbound",
      "refused log.entry_missing",
      "refused log.inclusion_invalid",
      "refused log.quorum_missing",
      "refused log.wrong_origin",
    ]);
  });

  it("the page /verify gives the verdict of Node.js on every text that is no artifact", async () => {
    await expectSameVerdicts(
      ["", "{", "[]", "null", '{"a":1,"a":1}', "\ufeff{}", "\u0000", "a".repeat(1e6)],
      [],
    );
  });
});
