import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  createManualClock,
  createReceipt,
  createSeededRandom,
  createTestAgent,
} from "@agent/testkit";
import { formatBundle, signBundle } from "@agent/verify";
import type { Browser, Page } from "playwright-core";
import { rolldown, type OutputChunk } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  checkLogVectors,
  verifyArtifact,
  verifyCredential,
  verifyReceipt,
} from "./verifiers-script.ts";
import type { LogVectors } from "../check-log-vectors.ts";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { loadVectors } from "./world/load-vectors.ts";

const root = new URL("../..", import.meta.url).pathname;

const verifiers = { verifyArtifact, verifyCredential, verifyReceipt };

/** One call of a verifier, which is made both in Node.js and in the page. */
interface Call {
  readonly verifier: keyof typeof verifiers;
  readonly text: string;
  readonly options: { publicKey?: string; taskId?: string; now: number };
}

/** Returns a bundle that verifies, and the same bundle with one letter changed. */
function createBundles(): string[] {
  const world = { ...createManualClock(), ...createSeededRandom(1) };
  const [agent, relay] = [createTestAgent(world), createTestAgent(world)];
  const task = { task_id: "task", prompt: "work", submitted_at: world.now() };
  const text = formatBundle(
    signBundle(
      {
        task: {
          ...task,
          agent_id: agent.agentId,
          submitted_by: relay.agentId,
          assigned_to: null,
          status: "completed",
        },
        routing: { choice: null, executors: [] },
        receipt: createReceipt(agent, task),
        signers: [
          {
            agent_id: agent.agentId,
            keys: [{ public_key: agent.publicKey, valid_from: 0, valid_until: null }],
            chain: [],
            devices: [],
          },
        ],
        settlements: [],
        postings: [],
        credential: null,
        received_at: world.now(),
      },
      { ...relay, relayId: relay.agentId, now: world.now() },
    ),
  );
  return [text, text.replace("work", "walk")];
}

const now = 1_767_330_954_827;
const calls: readonly Call[] = [
  ...loadVectors("receipts").map(({ receipt: text = "", key = "", task = "" }): Call => {
    return { verifier: "verifyReceipt", text, options: { publicKey: key, taskId: task, now } };
  }),
  ...loadVectors("credentials").map(({ credential: text = "", now: at = now }): Call => {
    return { verifier: "verifyCredential", text, options: { now: at } };
  }),
  ...loadVectors("ledgers").map(({ ledger: text = "", key = "" }): Call => {
    return { verifier: "verifyArtifact", text, options: { publicKey: key, now } };
  }),
  ...createBundles().map((text): Call => ({ verifier: "verifyArtifact", text, options: { now } })),
];

/** Bundles the sources of the packages into one script for a page. */
async function bundleForPage(): Promise<OutputChunk> {
  const build = await rolldown({
    input: join(root, "test/browser/verifiers-script.ts"),
    platform: "browser",
    resolve: { conditionNames: ["agent-source", "browser", "import", "default"] },
  });
  const { output } = await build.generate({ format: "iife", name: "agent" });
  await build.close();
  return output[0];
}

describe("The browser script of the verifiers", () => {
  it("the browser script of the verifiers imports nothing from outside of itself", async () => {
    const { imports, dynamicImports, code, moduleIds } = await bundleForPage();
    expect([...imports, ...dynamicImports]).toEqual([]);
    expect(code).not.toMatch(/["'`]node:|\brequire\(/);
    expect(moduleIds.filter((id) => id.includes(".node."))).toEqual([]);
    expect(moduleIds.some((id) => id.endsWith("ed25519-portable.ts"))).toBe(true);
  });
});

const executablePath = findBrowser();
if (executablePath === undefined) {
  console.warn(
    "\n*** NO BROWSER FOUND: the verifiers are NOT tested in one. ***\n" +
      "*** Install Chromium (apt-get install chromium) or name one in AGENT_TEST_BROWSER. ***\n",
  );
}

describe.skipIf(executablePath === undefined)("Headless Chromium", { timeout: 120_000 }, () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await openBrowser(executablePath ?? "");
    page = await browser.newPage();
    await page.addScriptTag({ content: (await bundleForPage()).code });
  }, 120_000);
  afterAll(() => browser.close());

  it("Chromium gives the same verdict as Node.js on every vector and bundle", async () => {
    const expected = calls.map(({ verifier, text, options }) => verifiers[verifier](text, options));
    const found = await page.evaluate((asked) => {
      const { agent } = globalThis as unknown as { agent: typeof verifiers };
      return asked.map(({ verifier, text, options }) => agent[verifier](text, options));
    }, calls);
    expect(calls.length).toBeGreaterThan(250);
    expect(found).toEqual(expected);
  });

  it("Chromium gives the stated verdict on every vector of a transparency log", async () => {
    const file = join(root, "vectors/own/transparency.json");
    const vectors = JSON.parse(readFileSync(file, "utf8")) as LogVectors;
    const results = await page.evaluate((given) => {
      const { agent } = globalThis as unknown as {
        agent: { checkLogVectors: typeof checkLogVectors };
      };
      return agent.checkLogVectors(given);
    }, vectors);
    expect(results.length).toBeGreaterThan(900);
    const found = results.map((each) => [each.title, each.found]);
    expect(found).toEqual(results.map((each) => [each.title, each.expected]));
  });

  it("Chromium is compared with Node.js on vectors of both verdicts, valid and invalid", () => {
    const verdicts = calls.map(({ verifier, text, options }) => verifiers[verifier](text, options));
    expect(new Set(verdicts.map(({ valid }) => valid))).toEqual(new Set([true, false]));
    expect(verdicts.slice(-2).map(({ valid }) => valid)).toEqual([true, false]);
  });
});
