import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers, findCutTexts, getOverflow } from "../page-checks.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import {
  askForMoney,
  askForVotes,
  type ConsoleWorld,
  createConsoleWorld,
  LONELY_ID,
  waitForEnd,
} from "./world/console-world.ts";
import { unwrapBody } from "./world/real-agent.ts";
import { seedOnlineHistory } from "./world/seed-online-history.ts";
import { createRelayNetwork, type RelayNetwork } from "./world/relay-network.ts";
import { openConsole, type OpenedPage, waitForParts } from "./world/watched-page.ts";

const executablePath = findBrowser();
const screenshots = new URL("../../docs/screenshots/", import.meta.url).pathname;
const PROMPTS = ["glass", "paper", "bridges", "tides", "clocks", "maps"];

describe.skipIf(executablePath === undefined)(
  "The screenshots of the console",
  { timeout: 240_000 },
  () => {
    let browser: Browser;
    let relay: RelayProcess;
    let world: ConsoleWorld;
    let network: RelayNetwork | undefined;
    let completed = "";
    let failed = "";
    const folder = mkdtempSync(join(tmpdir(), "relay-screenshots-"));
    const watch = { messages: [] as string[], requests: [] as string[] };

    beforeAll(async () => {
      const path = join(folder, "relay.db");
      await seedOnlineHistory(path, LONELY_ID);
      const env = {
        AGENT_DB_PATH: path,
        AGENT_RATE_LIMIT_SCALE: "0",
        AGENT_RELAY_NAME: "north",
      };
      relay = await startRelayProcess(undefined, env);
      browser = await openBrowser(executablePath ?? "");
      world = await createConsoleWorld(relay.baseUrl);
      for (const prompt of PROMPTS) completed = await world.askResearch(`the history of ${prompt}`);
      failed = await world.askFiles("read report-2026.md");
      await waitForEnd(world.operator, completed);
      await askForMoney(world.research, 1.5);
      await askForMoney(world.linguist, 0.8);
      await askForVotes(world);
      await world.submitOpen("wait for me");
    }, 180_000);
    afterAll(async () => {
      world?.close();
      await browser?.close();
      await relay?.stop();
      await network?.close();
      rmSync(folder, { recursive: true });
    });

    /** Takes a screenshot of a page's visible part at both widths; returns the faults of the page. */
    async function take(name: string, baseUrl: string, place: string, wait: string) {
      const opened: OpenedPage[] = [];
      // Both are taken before the slower checks, because a suspended peer is soon removed.
      for (const width of [1280, 390]) {
        const height = width === 390 ? 844 : 900;
        const options = { width, height, place };
        const { page, context } = await openConsole(browser, baseUrl, watch, options);
        await page.waitForSelector(wait, { timeout: 150_000 });
        await waitForParts(page);
        // The outline of the keyboard focus does not belong in the screenshot.
        await page.evaluate("document.activeElement.blur()");
        await page.screenshot({ path: join(screenshots, `console-${name}-${width}.png`) });
        opened.push({ page, context });
      }
      const faults: (string | number)[] = [];
      for (const { page, context } of opened) {
        const overflow = await getOverflow(page);
        faults.push(...(overflow === 0 ? [] : [overflow]), ...(await findCutTexts(page)));
        faults.push(...(await findBarriers(page)));
        await context.close();
      }
      return faults;
    }

    it.each<readonly [name: string, toPlace: () => string, wait: string]>([
      ["overview", () => "#/", ".uplot canvas"],
      ["task-completed", () => `#/tasks/${completed}`, "[data-verified=true]"],
      ["task-failed", () => `#/tasks/${failed}`, ".bad-end"],
      ["tasks", () => "#/tasks", "tbody tr.bad"],
      ["agent", () => `#/agents/${world.lonely.agentId}`, ".checks .fails"],
      ["money-holds", () => "#/money/holds", "tbody tr"],
      ["money-withdrawals", () => "#/money/withdrawals", "tbody tr"],
      ["money-books", () => "#/money/books", ".checks .holds"],
      ["approvals", () => "#/approvals", "tbody tr"],
      ["audit", () => "#/audit", "tbody tr"],
    ])("a screenshot shows %s", async (name, toPlace, wait) => {
      expect(await take(name, relay.baseUrl, toPlace(), wait)).toEqual([]);
    });

    it("a screenshot shows an overview that is frozen", async () => {
      unwrapBody(
        await world.operator.freeze({ body: { reason: "the bank reports a wrong payment" } }),
      );
      expect(await take("frozen", relay.baseUrl, "#/", ".pill.bad")).toEqual([]);
      unwrapBody(await world.operator.unfreeze({ body: {} }));
    });

    it("a screenshot shows three relays, one suspended and one that owes", async () => {
      // A peer is suspended after three missed heartbeats and removed after five.
      network = await createRelayNetwork({ heartbeatMs: 12_000 });
      const { baseUrl } = network.middle;
      expect(await take("federation", baseUrl, "#/federation", ".peer.suspended circle")).toEqual(
        [],
      );
    });

    it("the console leaves no message in the browser while screenshots are taken", () => {
      expect(watch.messages).toEqual([]);
    });
  },
);
