import { createTestAgent } from "@agent/testkit";
import { canonicalize, sha256Hex } from "@agent/crypto";
import { parseEntryBundle, parseLogEntry } from "@agent/transparency";
import type { Browser, BrowserContext, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers, getOverflow } from "../page-checks.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";

const AGENTS = 25;
const executablePath = findBrowser();
const world = {
  now: Date.now,
  randomBytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)),
};

describe.skipIf(executablePath === undefined)("The page /log", { timeout: 120_000 }, () => {
  let browser: Browser;
  let relay: RelayProcess;
  /** The artifact of the last entry. */
  let artifact: object;
  const messages: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    relay = await startRelayProcess();
    browser = await openBrowser(executablePath ?? "");
    const agents = Array.from({ length: AGENTS }, () => createTestAgent(world));
    for (const { agentId: agent_id, publicKey: public_key } of agents) {
      await fetch(`${relay.baseUrl}/api/v1/agents/bootstrap`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ agent_id, public_key }),
      });
    }
    const { agentId: agent_id, publicKey: public_key } = agents.at(-1)!;
    const valid_from = await waitForLastTime();
    artifact = { agent_id, public_key, device_id: null, valid_from };
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await relay.stop();
  });

  /** Waits until a head covers the entry of every key, and returns the time of the last entry. */
  async function waitForLastTime(): Promise<number> {
    const path = `${relay.baseUrl}/log/v1/tile/entries/000.p/${AGENTS}`;
    await vi.waitUntil(async () => (await fetch(path)).ok, { timeout: 20_000, interval: 50 });
    const bytes = new Uint8Array(await (await fetch(path)).arrayBuffer());
    const bundle = parseEntryBundle(bytes, AGENTS);
    const last = bundle.ok ? parseLogEntry(bundle.entries.at(-1)!) : bundle;
    if (!last.ok) throw new Error(last.code);
    return last.entry.time;
  }

  type ChangeAnswer = (route: Route) => Promise<void>;

  async function openPage(
    lies: Readonly<Record<string, ChangeAnswer>> = {},
    options: Parameters<Browser["newContext"]>[0] = {},
  ): Promise<{ page: Page; context: BrowserContext }> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    const page = await context.newPage();
    page.on("pageerror", (error) => messages.push(error.message));
    page.on("request", (request) => requests.push(request.url()));
    for (const [path, lie] of Object.entries(lies)) await page.route(path, lie);
    await page.goto(`${relay.baseUrl}/log`);
    await page.waitForSelector("main[data-ready]");
    return { page, context };
  }

  async function prove(page: Page, text: string): Promise<string> {
    await page.fill("#artifact", text);
    await page.click("text=Prove it");
    return page.locator(".prove [aria-live] p").innerText();
  }

  it("the page /log shows the size, the heads and the last 20 entries, newest first", async () => {
    const { page, context } = await openPage();
    expect(await page.locator("[data-size]").innerText()).toBe(String(AGENTS));
    expect(await page.locator("dl").innerText()).toContain("cosigned by no witness");
    const indexes = await page.locator("tbody td:first-child").allInnerTexts();
    expect(indexes).toEqual(Array.from({ length: 20 }, (_, at) => String(AGENTS - 1 - at)));
    expect(await page.locator("tbody td:nth-child(2)").first().innerText()).toBe("key bound");
    await context.close();
  });

  it("the page /log proves an artifact by its JSON or its hash, and not one that was changed", async () => {
    const { page, context } = await openPage();
    const proven = `In the log at index ${AGENTS - 1}, as key bound`;
    expect(await prove(page, JSON.stringify(artifact, null, 2))).toContain(proven);
    expect(await prove(page, sha256Hex(canonicalize(artifact)))).toContain(proven);
    expect(await prove(page, JSON.stringify({ ...artifact, valid_from: 1 }))).toBe(
      "It is not in this log.",
    );
    expect(await prove(page, "no artifact")).toContain("neither a JSON object");
    await context.close();
  });

  /** Answers with a body in which one byte differs from what the relay sent. */
  const changeByte = (change: (body: string) => string): ChangeAnswer => {
    return async (route) => {
      const response = await route.fetch();
      const body = Buffer.from(change((await response.body()).toString("latin1")), "latin1");
      await route.fulfill({ response, body });
    };
  };

  it("the page /log refuses a proof of another entry", async () => {
    const { page, context } = await openPage();
    const other = await (await fetch(`${relay.baseUrl}/log/v1/tile/entries/000.p/1`)).arrayBuffer();
    const entry = Buffer.from(other).subarray(2).toString("base64");
    const lie = changeByte((body) => body.replace(/^extra .*$/m, `extra ${entry}`));
    await page.route("**/log/v1/proof*", lie);
    expect(await prove(page, JSON.stringify(artifact))).toContain("log.entry_mismatch");
    await context.close();
  });

  it.each([
    [
      "**/log/v1/latest",
      (body: string) => body.replace(`\n${AGENTS}\n`, `\n${AGENTS + 1}\n`),
      "log.signature_invalid",
    ],
    [
      "**/log/v1/tile/entries/**",
      (body: string) => `${body.slice(0, 60)}\u0000\u0001${body.slice(62)}`,
      "do not match its signed head",
    ],
  ])("the page /log shows nothing of a log whose %s was changed", async (path, change, reason) => {
    const { page, context } = await openPage({ [path]: changeByte(change) });
    expect(await page.locator("[role=alert]").innerText()).toContain(reason);
    expect(await page.locator("table").count()).toBe(0);
    await context.close();
  });

  it.each([
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)(
    "the page /log fits %i px, %s, without overflow and faults of accessibility",
    async (width, colorScheme) => {
      const { page, context } = await openPage(
        {},
        { viewport: { width, height: 900 }, colorScheme },
      );
      await prove(page, JSON.stringify(artifact));
      expect(await getOverflow(page)).toBe(0);
      expect(await findBarriers(page)).toEqual([]);
      await context.close();
    },
  );

  it("the page /log sends requests only to its own relay, and never sends the artifact", () => {
    expect(messages).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(relay.baseUrl))).toEqual([]);
    expect(requests.filter((url) => url.includes("valid_from"))).toEqual([]);
  });
});
