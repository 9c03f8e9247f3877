import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { getOverflow } from "../page-checks.ts";
import { MASTER_TOKEN, startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import { createRelayClient, type RelayClient } from "@agent/client";
import { type InspectedWork, joinInspectedWork } from "./world/inspected-tasks.ts";
import { joinRelay, type RealAgent, unwrapBody } from "./world/real-agent.ts";
import { openConsole } from "./world/watched-page.ts";

const executablePath = findBrowser();
const LONGEST_PAGE = 50;

describe.skipIf(executablePath === undefined)(
  "Agents that deceive the operator",
  { timeout: 120_000 },
  () => {
    let browser: Browser;
    let relay: RelayProcess;
    let operator: RelayClient;
    let honest: RealAgent;
    let imitator: RealAgent;
    let work: InspectedWork;
    const watch = { messages: [] as string[], requests: [] as string[] };

    beforeAll(async () => {
      relay = await startRelayProcess(undefined, {
        AGENT_RATE_LIMIT_SCALE: "0",
        AGENT_FEDERATION_ENDPOINT_URL: "https://relay.example",
      });
      browser = await openBrowser(executablePath ?? "");
      const identity = { masterToken: MASTER_TOKEN };
      operator = createRelayClient({ baseUrl: relay.baseUrl, identity });
      honest = await joinRelay(relay.baseUrl, { name: "research" });
      const agentId = `01890000-0000-7000-8000-0000${honest.agentId.slice(-8)}`;
      imitator = await joinRelay(relay.baseUrl, { agentId, name: "research" });
      work = await joinInspectedWork(relay.baseUrl, operator);
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await relay?.stop();
    });

    const open = (place: string, width = 1280) =>
      openConsole(browser, relay.baseUrl, watch, { place, width });

    const readDialog = (page: Page) => page.locator("dialog .consequence").innerText();

    it("D16: an agent with the name and the last digits of another can be told from it", async () => {
      const { page, context } = await open("#/find?q=research");
      const names = await page.locator("[aria-label='Agents found'] tbody tr").allInnerTexts();
      const shown = new Set(names.map((name) => name.split(/\s/)[0]));
      expect(shown).toEqual(new Set([honest.agentId, imitator.agentId]));
      await context.close();
      for (const { agentId } of [honest, imitator]) {
        const agentPage = await open(`#/agents/${agentId}`, 390);
        expect(await agentPage.page.locator(".view-title").innerText()).toContain(agentId);
        expect(await getOverflow(agentPage.page)).toBe(0);
        await agentPage.page.click("text=Revoke");
        expect(await readDialog(agentPage.page)).toContain(agentId);
        await agentPage.context.close();
      }
    });

    it("D17: the operator sees the whole destination of a payment, set apart from the text of the page", async () => {
      const destination = `DE00 0000. The relay has paid 1.00 USD already: give 4711 as the reference. ${"x".repeat(150)} END`;
      unwrapBody(await operator.deposit({ params: imitator, body: { amount: 5 } }));
      const body = { amount: 1, destination };
      unwrapBody(await imitator.client.requestWithdrawal({ params: imitator, body }));
      const { page, context } = await open("#/money/withdrawals", 390);
      expect(await page.locator("td[data-title=to]").innerText()).toBe(destination);
      await page.click(".act:text('Complete')");
      expect(await page.locator("dialog .quoted").innerText()).toBe(destination);
      expect(await readDialog(page)).toContain(imitator.agentId);
      expect(await getOverflow(page)).toBe(0);
      await context.close();
    });

    it("D17: invisible characters in a name are shown by their numbers", async () => {
      const blank = await joinRelay(relay.baseUrl, { name: "research\u3164\uFE01" });
      const { page, context } = await open(`#/agents/${blank.agentId}`);
      const name = page.locator(".claim strong");
      expect(await name.innerText()).toBe("research\\u{3164}\\u{fe01}");
      await context.close();
    });

    it("D16: the search says that there are more than it shows", async () => {
      for (let count = 0; count < 11; count += 1) {
        await joinRelay(relay.baseUrl, { name: "bookkeeper" });
      }
      const { page, context } = await open("#/find?q=bookkeeper");
      await page.click("text=Show all agents");
      await page.waitForSelector("main[data-place^='#/agents']");
      const rows = page.locator("[aria-label=Agents] tbody tr");
      await expect.poll(() => rows.count()).toBe(11);
      // The list states that it is filtered, and a link removes the filter.
      await page.locator("p:has(code:text('bookkeeper')) >> text=Show all").click();
      await expect.poll(() => rows.count()).toBeGreaterThan(11);
      expect(await rows.count()).toBeLessThan(LONGEST_PAGE);
      await context.close();
    });

    it("D17: the name of an added peer is shown in a box of its own, with its credit limit, id and key", async () => {
      const { page, context } = await open("#/federation");
      const name = "north is active. Its id and its key are the right ones";
      const peer = { display_name: name, relay_id: honest.agentId, public_key: "ab".repeat(32) };
      const added = { ...peer, state: "pending", credit_limit: 1_000 };
      await page.route("**/admin/federation/peers", (route) =>
        route.request().method() === "POST" ? route.fulfill({ json: added }) : route.continue(),
      );
      await page.click("text=Add a peer");
      expect(await readDialog(page)).toContain("1000.00 USD");
      await page.fill("dialog [name=url]", "https://north.example");
      await page.fill("dialog [name=reason]", "agreed by phone");
      await page.click("dialog [type=submit]");
      const answer = page.locator("dialog [role=status]");
      expect(await answer.locator(".quoted").innerText()).toBe(name);
      expect(await answer.innerText()).toMatch(/is pending, with a credit limit of 1000\.00 USD/);
      for (const id of [honest.agentId, peer.public_key])
        expect(await answer.innerText()).toContain(id);
      await context.close();
    });

    it("D19: the operator reads the reasons of a dispute whole, each in a box of its own", async () => {
      const reason = `no” contested: “I give up. ${"x".repeat(200)} END`;
      await work.dispute(reason);
      const { page, context } = await open("#/disputes", 390);
      const boxes = page.locator("td[data-title='statements'] .quoted");
      expect(await boxes.allInnerTexts()).toEqual([reason, "The prompt names six rows."]);
      expect(await getOverflow(page)).toBe(0);
      await context.close();
    });

    it("a blank is refused as the share of a dispute, and the decision is shown in percent", async () => {
      const taskId = await work.dispute();
      const { page, context } = await open("#/disputes");
      await page.click(".act");
      expect(await readDialog(page)).toContain(work.worker.agentId);
      await page.fill("dialog [name=reason]", "as agreed");
      for (const share of [" ", "1e1", "101"]) {
        await page.fill("dialog [name=percent]", share);
        await page.click("dialog [type=submit]");
      }
      await page.waitForSelector("dialog [data-code='request.invalid']");
      const params = { agentId: work.worker.agentId, taskId };
      expect(unwrapBody(await operator.getInspection({ params })).outcome).toBeNull();
      await page.fill("dialog [name=percent]", "7");
      await page.click("dialog [type=submit]");
      await page.waitForSelector(
        "dialog >> text=The dispute is decided: the executor is paid 7 %.",
      );
      await context.close();
    });

    it("a deposit waits while the relay does not say whether the agent exists", async () => {
      const { page, context } = await open("#/money");
      let deposits = 0;
      page.on("request", (request) => (deposits += request.url().endsWith("/deposit") ? 1 : 0));
      await page.route("**/admin/agents?*", (route) => route.abort());
      await page.click("text=Deposit");
      const fields = { agent: "01234567-89ab-7def-8123-456789abcdef", amount: "1" };
      for (const [name, text] of Object.entries({ ...fields, reference: "r", reason: "paid" })) {
        await page.fill(`dialog [name=${name}]`, text);
      }
      await page.click("dialog [type=submit]");
      await page.waitForSelector("dialog [data-code='network.unreachable']");
      await page.unroute("**/admin/agents?*");
      await page.click("dialog [type=submit]");
      await page.waitForSelector("dialog >> text=No agent has the id");
      expect(deposits).toBe(0);
      await context.close();
    });

    it("a filtered list of tasks names its agent, and its search field follows the browser's back button", async () => {
      const { page, context } = await open(`#/tasks?submitter=${honest.agentId}`);
      const note = page.locator(`main p:has(code:text('${honest.agentId}'))`);
      expect(await note.innerText()).toContain("Only tasks submitted by");
      await page.fill("main [name=q]", "summary");
      await page.keyboard.press("Enter");
      await page.waitForSelector("main[data-place*='q=summary']");
      await page.goBack();
      await page.waitForSelector("main:not([data-place*='q=summary'])");
      expect(await page.inputValue("main [name=q]")).toBe("");
      await note.locator("text=Show all").click();
      await page.waitForSelector("main[data-place='#/tasks']");
      expect(await note.count()).toBe(0);
      await context.close();
    });
  },
);
