import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers, getOverflow } from "../page-checks.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import {
  askForMoney,
  askForVotes,
  type ConsoleWorld,
  createConsoleWorld,
  waitForEnd,
} from "./world/console-world.ts";
import { joinRelay } from "./world/real-agent.ts";
import { goToPlace, openConsole, openWindow, waitForParts } from "./world/watched-page.ts";

const executablePath = findBrowser();
const NO_LIMITS = { AGENT_RATE_LIMIT_SCALE: "0" };

describe.skipIf(executablePath === undefined)("The console", { timeout: 240_000 }, () => {
  let browser: Browser;
  let relay: RelayProcess;
  let world: ConsoleWorld;
  let taskId: string;
  let failedId: string;
  const watch = { messages: [] as string[], requests: [] as string[] };

  beforeAll(async () => {
    relay = await startRelayProcess(undefined, NO_LIMITS);
    browser = await openBrowser(executablePath ?? "");
    world = await createConsoleWorld(relay.baseUrl);
    taskId = await world.askResearch("the history of glass");
    failedId = await world.askFiles("read the report");
    await waitForEnd(world.operator, taskId);
    await askForMoney(world.research, 1.5);
    await askForVotes(world);
    await world.submitOpen("wait for me");
  }, 120_000);
  afterAll(async () => {
    world?.close();
    await browser?.close();
    await relay?.stop();
  });

  const listPlaces = (): readonly string[] => [
    "#/",
    "#/tasks",
    "#/tasks?failed=1",
    `#/tasks/${taskId}`,
    `#/tasks/${failedId}`,
    "#/agents",
    `#/agents/${world.research.agentId}`,
    `#/agents/${world.lonely.agentId}`,
    "#/money",
    "#/money/holds",
    "#/money/withdrawals",
    "#/money/books",
    `#/accounts/${world.editor.agentId}`,
    "#/federation",
    "#/approvals",
    "#/disputes",
    "#/disputes?state=all",
    "#/processes",
    "#/log",
    "#/audit",
    "#/freeze",
    "#/sessions",
    "#/find?q=write",
    "#/nowhere",
  ];

  it.each([
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)(
    "the console shows every page at %i px, %s, without overflow and faults of accessibility",
    async (width, scheme) => {
      const { page, context } = await openConsole(browser, relay.baseUrl, watch, { width, scheme });
      const faults: unknown[] = [];
      for (const place of listPlaces()) {
        await goToPlace(page, place);
        const overflow = await getOverflow(page);
        const barriers = await findBarriers(page);
        if (overflow !== 0 || barriers.length > 0) faults.push({ place, overflow, barriers });
      }
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  it("the console shows what was delegated, verified and replayed in the browser, with money that adds up", async () => {
    const place = `#/tasks/${taskId}`;
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, { place });
    await page.waitForSelector("[data-verified=true]");
    expect(await page.locator(".receipts .holds").count()).toBe(2);
    expect(await page.locator(".sum").innerText()).toBe("✓ they add up to 0.00 USD");
    await page.waitForSelector("[data-replayed=true]");
    expect(await page.locator(".route-graph .node").count()).toBeGreaterThanOrEqual(3);
    expect(await page.locator("main").innerText()).not.toContain("the history of glass");
    await page.click("text=Show the texts");
    await page.waitForSelector("pre >> text=the history of glass");
    await goToPlace(page, "#/audit?action=getTaskTexts");
    expect(await page.locator("tbody tr").count()).toBeGreaterThan(0);
    await context.close();
  });

  it("the console says that evidence that the relay has changed is refused", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    await page.route("**/evidence", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace("A report of three", "A report of four ");
      await route.fulfill({ response, body });
    });
    await goToPlace(page, `#/tasks/${taskId}`);
    await page.waitForSelector("[data-verified=false]");
    expect(await page.locator("[data-verified=true]").count()).toBe(0);
    await context.close();
  });

  it("the console shows the reason of a failure first", async () => {
    const place = `#/tasks/${failedId}`;
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, { place });
    const texts = await page.locator("main > div, main section").allInnerTexts();
    expect(texts.find((text) => text !== "")).toMatch(/^no such file: report-2026\.md\s+failed/);
    await context.close();
  });

  it("the console names what keeps an agent from being found, and the remedy", async () => {
    const place = `#/agents/${world.lonely.agentId}`;
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, { place });
    expect(await page.locator(".checks .fails").count()).toBeGreaterThan(0);
    await context.close();
  });

  it("the console finds a task and an agent by the end of their ids", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    await page.fill(".find input", taskId.slice(-8));
    await page.keyboard.press("Enter");
    await page.waitForURL(`${relay.baseUrl}/console#/tasks/${taskId}`);
    // A view that opens takes the focus, so an earlier key press would not reach the field.
    await page.waitForSelector("h1:has-text('Task'):focus");
    await page.fill(".find input", world.files.agentId);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${relay.baseUrl}/console#/agents/${world.files.agentId}`);
    await waitForParts(page);
    expect(await page.locator("main .claim").innerText()).toContain("files");
    await context.close();
  });

  it("the console saves a statement as the relay writes it, in which no spreadsheet reads a cell as a formula", async () => {
    const place = `#/accounts/${world.editor.agentId}`;
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, { place });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.click("text=Save the statement as CSV"),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    // It is the same file as `agent-relay statement ID --csv` and the owner's page write.
    expect(text).toMatch(
      /^created_at,transaction_id,type,amount,balance_after,reference_id,description\r\n/,
    );
    expect(text).toContain(`deposit ${world.editor.agentId}`);
    await context.close();
  });

  it("OP12: the console shows names, texts and addresses of hostile agents as text", async () => {
    const hostile = `<img src=x onerror=alert(1)> \u202eevil\u202c \u0007`;
    const agent = await joinRelay(relay.baseUrl, {
      name: `${hostile}${"W".repeat(150)}`,
      description: `${hostile}${"W".repeat(3_900)}`,
      endpoint: "https://evil.example/%3Cscript%3E?javascript:alert(1)",
      capability: `=cmd|' /C calc'!A0${"W".repeat(60)}`,
      price: 0.01,
      answer: async () => ({ status: "failed", result: hostile.repeat(2_000) }),
    });
    const { task_id } = await submitTo(agent.agentId);
    await waitForEnd(world.operator, task_id);
    for (const width of [1280, 390]) {
      const { page, context } = await openConsole(browser, relay.baseUrl, watch, { width });
      for (const place of [
        "#/",
        "#/agents",
        `#/agents/${agent.agentId}`,
        "#/tasks",
        `#/tasks/${task_id}`,
      ]) {
        await goToPlace(page, place);
        expect(await page.locator("img, script:not([src])").count()).toBe(0);
        expect(await page.locator("main").innerText()).not.toContain("\u202e");
        expect([place, await getOverflow(page)]).toEqual([place, 0]);
      }
      await context.close();
    }
    agent.close();
  });

  async function submitTo(agentId: string): Promise<{ readonly task_id: string }> {
    const answer = await world.editor.client.submitTask({
      params: { agentId },
      body: { prompt: "anything", max_budget: 1 },
    });
    if (!answer.ok) throw new Error(answer.message);
    return answer.body;
  }

  // The limits of the built files are in test/page-sizes.test.ts; here the browser reports what it loads.
  it("the console loads at most 70 kB for the overview", async () => {
    const { page, context } = await openWindow(browser, watch);
    const loaded = new Map<string, number>();
    page.on("response", async (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith("/console") && response.ok()) {
        loaded.set(pathname, gzipSync(await response.body(), { level: 9 }).length);
      }
    });
    await openByToken(page);
    await page.waitForSelector(".uplot");
    expect(loaded.size).toBeGreaterThan(3);
    const sum = [...loaded.values()].reduce((total, size) => total + size, 0);
    expect(sum).toBeLessThanOrEqual(70_000);
    await context.close();
  });

  async function openByToken(page: Page): Promise<void> {
    await page.goto(`${relay.baseUrl}/console`);
    await page.fill("input[type=password]", "test-master-token-0123456789");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[data-live=live]");
    await waitForParts(page);
  }

  it("the console causes no message in the browser's console and requests nothing from other origins", () => {
    expect(watch.messages.filter((message) => !isFirstVisit(message))).toEqual([]);
    expect(
      watch.requests.filter((url) => !url.startsWith(relay.baseUrl) && !url.startsWith("blob:")),
    ).toEqual([]);
  });
});

/** The browser itself reports that there is no session, once, when the page asks for one. */
const isFirstVisit = (message: string) =>
  /401 \(Unauthorized\) at .*\/session\/renew$/.test(message);
