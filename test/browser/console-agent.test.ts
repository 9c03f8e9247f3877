import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers, getOverflow } from "../page-checks.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import { joinRelay } from "./world/real-agent.ts";
import { LONELY_ID } from "./world/console-world.ts";
import { AWAY, STOPPED, seedOnlineHistory } from "./world/seed-online-history.ts";
import { openConsole, type OpenedPage } from "./world/watched-page.ts";

const executablePath = findBrowser();
const STRIPS = ".online-strip";

describe.skipIf(executablePath === undefined)("The page of an agent", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-online-"));
  const path = join(folder, "relay.db");
  const watch = { messages: [] as string[], requests: [] as string[] };
  let browser: Browser;
  let relay: RelayProcess;

  beforeAll(async () => {
    await seedOnlineHistory(path, LONELY_ID);
    relay = await startRelayProcess(undefined, {
      AGENT_DB_PATH: path,
      AGENT_RATE_LIMIT_SCALE: "0",
    });
    browser = await openBrowser(executablePath ?? "");
    await joinRelay(relay.baseUrl, { agentId: LONELY_ID, name: "lonely" });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await relay?.stop();
    rmSync(folder, { recursive: true });
  });

  const open = (
    width: number,
    scheme: "light" | "dark",
    agentId = LONELY_ID,
  ): Promise<OpenedPage> =>
    openConsole(browser, relay.baseUrl, watch, { width, scheme, place: `#/agents/${agentId}` });

  it.each([
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)(
    "the page of an agent shows its online history at %i px, %s, without faults of accessibility",
    async (width, scheme) => {
      const { page, context } = await open(width, scheme);
      const places = await page.evaluate<string[][]>(
        `[...document.querySelectorAll("${STRIPS} svg")].map((svg) =>
        [...svg.querySelectorAll("rect")].map((rect) => rect.getAttribute("class")))`,
      );
      const count = (strip: number, kind: string) =>
        (places[strip] ?? []).filter((name) => name === kind).length;
      const lastDay = AWAY.filter(([from]) => from < 1_440);
      // Each absence of the agent divides a span, and so does each stop of the relay.
      expect([count(0, "offline"), count(0, "online")]).toEqual([1, lastDay.length + 1]);
      expect([count(1, "offline"), count(1, "online")]).toEqual([
        STOPPED.length + 1,
        AWAY.length + STOPPED.length + 1,
      ]);
      await page.click(".box summary:has-text('periods')");
      expect(await getOverflow(page)).toBe(0);
      expect(await findBarriers(page)).toEqual([]);
      await context.close();
    },
  );

  it("the page of an agent keeps the labels of times apart on a narrow screen", async () => {
    const { page, context } = await open(390, "light");
    const gaps = await page.evaluate<number[]>(
      `[...document.querySelectorAll(".marks")].flatMap((marks) => {
        const boxes = [...marks.children].map((mark) => {
          const range = document.createRange();
          range.selectNodeContents(mark);
          return range.getBoundingClientRect();
        });
        return boxes.slice(1).map((box, at) => box.left - boxes[at].right);
      })`,
    );
    expect(gaps).toHaveLength(4 + 7);
    expect(Math.min(...gaps)).toBeGreaterThan(4);
    await context.close();
  });

  it("the page of an agent says in a sentence and a table for how long it was online", async () => {
    const { page, context } = await open(1280, "light");
    const sentences = await page.locator(`${STRIPS} strong`).allInnerTexts();
    const away = 3 * 60 + 20;
    const [day = "", week = ""] = sentences;
    const share = Number(/Online for ([\d.]+) % of the last 24 hours\./.exec(day)?.[1]);
    expect(share).toBeCloseTo((1 - away / 1_440) * 100, 0);
    expect(week).toMatch(
      /^Online for [\d.]+ % of the 6 d 14 h that the relay checked in the last 7 days\.$/,
    );
    await page.click(".box summary:has-text('periods')");
    const rows = page.locator("[aria-label='Periods in which it was online'] tbody tr");
    expect(await rows.count()).toBe(AWAY.length + STOPPED.length + 1);
    expect(await rows.nth(1).innerText()).toMatch(/\t8 h$/);
    await context.close();
  });

  /** Lets an agent join, and returns its page's first sentence about online times and its number of lists of them. */
  async function readPageOfNewAgent() {
    const { agentId } = await joinRelay(relay.baseUrl, { name: "stranger" });
    const { page, context } = await open(1280, "light", agentId);
    const [sentence] = await page.locator(`${STRIPS} strong`).allInnerTexts();
    const lists = await page.locator(".box summary:has-text('periods')").count();
    await context.close();
    return { sentence, lists };
  }

  it("the page of an agent states no online times of a new agent", async () => {
    // The relay checks once a minute, which can happen before the page is shown.
    await expect
      .poll(readPageOfNewAgent, { timeout: 90_000 })
      .toEqual({ sentence: "The relay has not checked in the last 24 hours.", lists: 0 });
  });

  it("the page of an agent causes no message in the browser's console", () => {
    expect(watch.messages).toEqual([]);
  });
});
