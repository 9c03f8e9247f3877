import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { join } from "node:path";
import { generateKeyPair, parseJsonText, publicKeyToDidKey } from "@agent/crypto";
import { verifyArtifact } from "@agent/verify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadBundleExamples, READABLE_TITLE, type BundleExample } from "../load-bundle-examples.ts";
import { loadLogExamples, WITNESSED_TITLE } from "../load-log-examples.ts";
import { findBrowser } from "../open-browser.ts";
import { findBarriers, getOverflow } from "../page-checks.ts";
import { getExpected } from "./world/expected-verdict.ts";
import { loadVectors } from "./world/load-vectors.ts";
import {
  giveFiles,
  nameKeys,
  NOW,
  readShown,
  startVerifier,
  type Verifier,
  waitForArticles,
} from "./world/verifier.ts";

const root = new URL("../..", import.meta.url).pathname;
const screenshots = join(root, "docs/screenshots");

const executablePath = findBrowser();
if (executablePath === undefined) {
  console.warn("\n*** NO BROWSER FOUND: the pages are NOT tested. Install Chromium. ***\n");
}

describe.skipIf(executablePath === undefined)("The page /verify", { timeout: 240_000 }, () => {
  let verifier: Verifier;
  let examples: readonly BundleExample[];

  beforeAll(async () => {
    verifier = await startVerifier(executablePath ?? "");
    examples = await loadBundleExamples();
  }, 120_000);
  afterAll(() => verifier?.stop());

  it("the page /verify shows index, head and witnesses of a log, and verifies again when the named keys change", async () => {
    const examples = await loadLogExamples();
    const witnessed = examples.find(({ title }) => title === WITNESSED_TITLE)!;
    const { page, context } = await verifier.openPage();
    await nameKeys(page, witnessed);
    await giveFiles(page, [witnessed.text]);
    const facts = await page.locator(".facts.log").innerText();
    expect(facts).toContain("whose key you named");
    const stamp = await page.locator(".stamp").innerText();
    expect(stamp).toContain(
      "The log that you named holds it, and 2 of your witnesses have seen it.",
    );
    expect(facts).toMatch(/entries 0, 1, 2 of 40/);
    expect(facts).toContain("2 of the 3 that you named: w2.example/witness, w3.example/witness");
    const command = await page.locator(".yourself pre").innerText();
    expect(command).toContain(`--log '${witnessed.log.log}'`);
    expect(command.match(/--witness/g)).toHaveLength(3);
    expect(command).toContain("--quorum 2");
    await page.fill("#quorum", "3");
    await page.waitForSelector("article.refused[data-code='log.quorum_missing']");
    await page.fill("#quorum", "4");
    await page.waitForSelector("[role=alert]");
    expect(await page.locator("article").count()).toBe(0);
    await nameKeys(page, { keys: witnessed.keys, log: {} });
    await page.waitForSelector("article.confirmed");
    expect(await page.locator(".facts.log").innerText()).toContain("only the relay states");
    await context.close();
  });

  it("the page /verify says where a file is not readable", async () => {
    const { page, context } = await verifier.openPage();
    await page.setInputFiles("input[type=file]", {
      name: "image.png",
      mimeType: "image/png",
      buffer: Buffer.from([123, 10, 34, 0xff, 0xfe]),
    });
    const text = await page.locator("article").innerText();
    expect(text).toContain("Not readable");
    expect(text).toContain("line 2, byte 4");
    await context.close();
  });

  it("the page /verify does not call a receipt changed where the key of its relay is named", async () => {
    const receipt = readFileSync(new URL("../../examples/receipt.json", import.meta.url), "utf8");
    const { page, context } = await verifier.openPage();
    await page.fill("#keys", publicKeyToDidKey(generateKeyPair().publicKey));
    await giveFiles(page, [receipt, receipt.replace("to 2, be", "to 3, be")]);
    const stamps = await page.locator("article .stamp").allInnerTexts();
    expect(stamps.toSorted()).toEqual([
      expect.stringContaining("It was signed by a key that you did not name for its agent."),
      expect.stringContaining("The receipt is not the one that the agent signed."),
    ]);
    await context.close();
  });

  it("the page /verify is green only while a fitting key is named, and follows the field", async () => {
    const { text, keys } = getNamedExample(examples);
    const { page, context } = await verifier.openPage();
    await giveFiles(page, [text]);
    expect(await readShown(page)).toMatchObject([{ state: "unconfirmed" }]);
    await page.fill("#keys", keys.join(" "));
    await page.waitForSelector("article.confirmed");
    await page.fill("#keys", "0".repeat(64));
    await page.waitForSelector("article.refused");
    await page.fill("#keys", "no key");
    await page.waitForSelector("[role=alert]");
    expect(await page.locator("article").count()).toBe(0);
    await page.fill("#keys", "");
    await page.waitForSelector("article.unconfirmed");
    await context.close();
  });

  it("the page /verify does not show the result of a refused file until the reader opens it", async () => {
    const { text, keys } = getNamedExample(examples);
    const { page, context } = await verifier.openPage();
    await page.fill("#keys", keys.join(" "));
    await giveFiles(page, [text.replace('"amount_settled":2', '"amount_settled":3')]);
    await page.waitForSelector("article.refused");
    const result = page.locator("details.result");
    expect(await result.getAttribute("open")).toBe(null);
    expect(await result.innerText()).toBe("Result (not proven)");
    await context.close();
  });

  it("the page /verify shows a file with a failed check differently from one in which every check holds", async () => {
    const warned = loadVectors("receipts").find(({ receipt = "", key = "" }) => {
      const { valid, checks } = verifyArtifact(receipt, { publicKey: key, now: NOW });
      return valid && checks.some(({ ok }) => !ok);
    });
    const { page, context } = await verifier.openPage();
    await page.fill("#keys", warned?.["key"] ?? "");
    await giveFiles(page, [warned?.["receipt"] ?? ""]);
    expect(await page.locator("article[data-warned]").innerText()).toContain(
      "not every check holds",
    );
    await context.close();
  });

  it("the page /verify verifies many nested receipts in the worker", async () => {
    const large = examples.find(({ text }) => text.split('"prompt_hash"').length > 21);
    expect(large).toBeDefined();
    const { page, context } = await verifier.openPage();
    expect(page.workers().length).toBe(1);
    await giveFiles(page, [large?.text ?? ""]);
    expect(await readShown(page)).toMatchObject([
      { state: getExpected(large?.text ?? "", []).state },
    ]);
    await context.close();
  });

  it("the page /verify shows each verdict once it is known, and none for other keys than those named", async () => {
    const { page, context } = await verifier.openPage();
    const some = examples.slice(0, 40).map(({ text }) => text);
    // The articles are counted in the page at every change, because a poll might miss the first ones.
    await page.evaluate(WATCH_ARTICLES);
    await giveFiles(page, some);
    const counts = await page.evaluate<number[]>("globalThis.articleCounts");
    expect(counts.filter((count) => count > 0 && count < some.length).length).toBeGreaterThan(5);
    await page.evaluate("globalThis.articleCounts = []");
    await page.fill("#keys", getNamedExample(examples).keys[0] ?? "");
    await waitForArticles(page, some.length);
    expect(await page.evaluate("globalThis.articleCounts[0]")).toBeLessThan(2);
    await context.close();
  });

  it("the page /verify works without a network once it has loaded, and every connection is blocked", async () => {
    const { page, context } = await verifier.openPage();
    await context.setOffline(true);
    const before = verifier.requests.length;
    await giveFiles(page, [getNamedExample(examples).text]);
    expect(verifier.requests.slice(before)).toEqual([]);
    await context.setOffline(false);
    const seen = verifier.messages.length;
    const answer = await page.evaluate(() =>
      fetch("/live").then(
        () => "answered",
        (error: Error) => error.name,
      ),
    );
    expect(answer).toBe("TypeError");
    // Only this attempt may cause a message.
    expect(verifier.messages.splice(seen).join()).toContain("Content Security Policy");
    await context.close();
  });

  it("the page /verify shows hostile texts as text", async () => {
    const hostile = `<img src=x onerror=alert(1)> \u202eevil\u202c javascript:alert(1) ${"W".repeat(20_000)}`;
    const { text } = getNamedExample(examples);
    const bundle = (parseJsonText(text)?.value ?? {}) as { task: object; receipt: object };
    const changed = JSON.stringify({
      ...bundle,
      task: { ...bundle.task, prompt: hostile, submitted_by: hostile },
      receipt: { ...bundle.receipt, result: hostile, agent_id: hostile },
    });
    const { page, context } = await verifier.openPage("/verify", {
      viewport: { width: 390, height: 844 },
    });
    await giveFiles(page, [changed], `${hostile.slice(0, 200)}'; rm -rf.json`);
    expect(await page.locator("article img").count()).toBe(0);
    const shown = await page.locator("article").innerText();
    expect(shown).not.toContain("\u202e");
    expect(shown).toContain(String.raw`\u{202e}`);
    expect(await getOverflow(page)).toBe(0);
    await context.close();
  });

  it("the page /verify stores keys in the browser only if the reader asks for it", async () => {
    const { keys } = getNamedExample(examples);
    const { page, context } = await verifier.openPage();
    await page.fill("#keys", keys[0] ?? "");
    expect(await page.evaluate("localStorage.length")).toBe(0);
    await page.click("text=Keys kept in this browser");
    await page.fill(".kept input", "the operator's letter");
    await page.click("text=Keep the key in this browser");
    await page.reload();
    await page.waitForSelector("main[data-ready]");
    expect(await page.inputValue("#keys")).toBe("");
    await page.click("text=Keys kept in this browser (1)");
    await page.click("text=Use");
    expect(await page.inputValue("#keys")).toBe(keys[0]);
    await page.click("text=Remove");
    expect(await page.evaluate("localStorage.length")).toBe(0);
    await context.close();
  });

  it.each([
    ["valid-named", 1280, "light"],
    ["valid-unnamed", 1280, "light"],
    ["refused", 1280, "light"],
    ["valid-named", 390, "light"],
    ["valid-unnamed", 390, "light"],
    ["refused", 390, "light"],
    ["valid-named", 1280, "dark"],
    ["valid-unnamed", 390, "dark"],
    ["refused", 390, "dark"],
    ["witnessed", 1280, "light"],
    ["witnessed", 390, "light"],
    ["witnessed", 1280, "dark"],
  ] as const)(
    "the page /verify shows %s at %i px, %s, without overflow and faults of accessibility",
    async (name, width, scheme) => {
      const { text, keys } = getNamedExample(examples);
      const { page, context } = await verifier.openPage("/verify", {
        viewport: { width, height: 900 },
        colorScheme: scheme,
      });
      if (name !== "valid-unnamed") await page.fill("#keys", keys.join(" "));
      const changed = text.replace('"amount_settled":2', '"amount_settled":3');
      if (name === "witnessed") {
        const examples = await loadLogExamples();
        const witnessed = examples.find(({ title }) => title === WITNESSED_TITLE)!;
        await nameKeys(page, witnessed);
        await giveFiles(page, [witnessed.text]);
        await page.evaluate("document.querySelector('article').scrollIntoView()");
      } else {
        await giveFiles(page, [name === "refused" ? changed : text]);
      }
      expect(await getOverflow(page)).toBe(0);
      expect(await findBarriers(page)).toEqual([]);
      if (scheme === "light") {
        await page.screenshot({ path: join(screenshots, `verify-${name}-${width}.png`) });
      }
      await context.close();
    },
  );

  it.each([
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)(
    "the page / shows the relay at its address at %i px, %s",
    async (width, colorScheme) => {
      const viewport = { width, height: 700 };
      const { page, context } = await verifier.openPage("/", { viewport, colorScheme });
      expect(await page.locator("button").count()).toBe(3);
      expect(await getOverflow(page)).toBe(0);
      expect(await findBarriers(page)).toEqual([]);
      await page.click("text=Verify");
      await page.waitForSelector("main[data-ready]");
      await context.close();
    },
  );

  it("the page /verify works as one file without a server", async () => {
    const { text, keys } = getNamedExample(examples);
    const context = await verifier.browser.newContext({ offline: true });
    const page = await context.newPage();
    page.on("console", (message) => verifier.messages.push(message.text()));
    await page.goto(`file://${join(root, "apps/relay/assets/console/agent-verify.html")}`);
    await page.waitForSelector("main[data-ready]");
    await page.fill("#keys", keys.join(" "));
    await giveFiles(page, [text]);
    expect(await readShown(page)).toMatchObject([{ state: "confirmed" }]);
    await context.close();
  });

  it("the page /verify fits one sheet of paper and 70 kB", async () => {
    const { text, keys } = getNamedExample(examples);
    const { page, context } = await verifier.openPage();
    await page.fill("#keys", keys.join(" "));
    await giveFiles(page, [text]);
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    expect(pdf.match(/\/Type\s*\/Page\b(?!s)/g)?.length).toBe(1);
    await context.close();
    const loaded = await fetch(`${verifier.baseUrl}/verify`).then((answer) => answer.text());
    const files = [...loaded.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path]) => path ?? "");
    const sizes = await Promise.all(
      files.map(async (path) => {
        const answer = await fetch(`${verifier.baseUrl}/${path}`);
        return gzipSync(await answer.bytes(), { level: 9 }).length;
      }),
    );
    expect(files.length).toBe(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(70_000);
  });

  it("the page /verify causes no message in the browser's console and requests nothing from other origins", () => {
    expect(verifier.messages).toEqual([]);
    expect(
      verifier.requests.filter(
        (url) => !url.startsWith(verifier.baseUrl) && !url.startsWith("blob:"),
      ),
    ).toEqual([]);
  });
});

function getNamedExample(examples: readonly BundleExample[]): BundleExample {
  const found = examples.find(({ title }) => title === READABLE_TITLE);
  if (found === undefined) throw new Error("the readable example is missing");
  return found;
}

const WATCH_ARTICLES = `
  globalThis.articleCounts = [];
  new MutationObserver(() => articleCounts.push(document.querySelectorAll("article").length))
    .observe(document.querySelector("main"), { childList: true, subtree: true });
`;
