import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import { askForMoney, type ConsoleWorld, createConsoleWorld } from "./world/console-world.ts";
import { unwrapBody } from "./world/real-agent.ts";
import { openConsole, openWindow } from "./world/watched-page.ts";

const executablePath = findBrowser();
const MASTER_TOKEN = "test-master-token-0123456789";

describe.skipIf(executablePath === undefined)("Acting in the console", { timeout: 120_000 }, () => {
  let browser: Browser;
  let relay: RelayProcess;
  let world: ConsoleWorld;
  const watch = { messages: [] as string[], requests: [] as string[] };

  beforeAll(async () => {
    relay = await startRelayProcess(undefined, { AGENT_RATE_LIMIT_SCALE: "0" });
    browser = await openBrowser(executablePath ?? "");
    world = await createConsoleWorld(relay.baseUrl);
    await world.askFiles("read the report");
    await askForMoney(world.research, 1.5);
  }, 120_000);
  afterAll(async () => {
    world?.close();
    await browser?.close();
    await relay?.stop();
  });

  /** Presses Tab until an element with this name has the focus; fails if that never happens. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    for (let presses = 0; presses < 150; presses += 1) {
      await page.keyboard.press("Tab");
      // Both are read at once, because reloading a list may replace the element.
      const [focused, outline] = await page.evaluate<[string, string]>(
        `((element) => [
          (element.ariaLabel || element.closest("label")?.textContent || element.textContent || "").trim(),
          getComputedStyle(element).outlineStyle,
        ])(document.activeElement ?? document.body)`,
      );
      if (!name.test(focused)) continue;
      expect(outline).not.toBe("none");
      return;
    }
    throw new Error(`no element is named ${name}`);
  }

  async function press(page: Page, name: RegExp): Promise<void> {
    await tabTo(page, name);
    await page.keyboard.press("Enter");
  }

  async function typeInto(page: Page, name: RegExp, text: string): Promise<void> {
    await tabTo(page, name);
    await page.keyboard.type(text);
  }

  it("the console is used by the keyboard alone: sign in, read a failure, pay out, freeze and unfreeze", async () => {
    const { page, context } = await openWindow(browser, watch);
    await page.goto(`${relay.baseUrl}/console`);
    await page.waitForSelector("input[type=password]:focus");
    await page.keyboard.type(MASTER_TOKEN);
    await page.keyboard.press("Enter");
    await page.waitForSelector("[data-live=live]");

    await press(page, /^Tasks$/);
    await page.waitForSelector("h1:has-text('Tasks'):focus");
    await press(page, /^unsuccessful$/);
    await page.waitForSelector("tbody tr.bad");
    await press(page, /^….{8}$/);
    await page.waitForSelector(".bad-end");
    expect(await page.locator(".bad-end").innerText()).toContain("no such file");

    await press(page, /^Money/);
    await page.waitForSelector("h1:has-text('Money'):focus");
    await press(page, /^Withdrawals/);
    await page.waitForSelector("text=Complete");
    await press(page, /^Complete$/);
    await page.waitForSelector("dialog[open]");
    await typeInto(page, /^Reference/, "SEPA 4711");
    await typeInto(page, /^Reason/, "the weekly run");
    await press(page, /^Complete$/);
    await page.waitForSelector("dialog >> text=is completed");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog", { state: "detached" });
    await page.waitForSelector("text=No withdrawal is in this state");

    await press(page, /^Freeze$/);
    // A view that opens takes the focus and closes any dialog, so an earlier key press would be lost.
    await page.waitForSelector("h1:has-text('Freeze'):focus");
    await page.waitForSelector("[data-frozen=false]");
    await press(page, /^Freeze$/);
    await page.waitForSelector("dialog[open]");
    await typeInto(page, /^Reason/, "an audit");
    await typeInto(page, /^Type freeze/, "freeze");
    await press(page, /^Freeze$/);
    // The dialog remains, although the box with its button is replaced as soon as the relay is frozen.
    await page.waitForSelector("dialog >> text=is frozen");
    await page.waitForSelector("[data-frozen=true]");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog", { state: "detached" });
    expect(await page.locator(".pill.bad").innerText()).toBe("FROZEN: an audit");
    await press(page, /^Unfreeze$/);
    await page.waitForSelector("dialog[open]");
    await typeInto(page, /^Reason/, "the audit is over");
    await press(page, /^Unfreeze$/);
    await page.waitForSelector("dialog >> text=accepts writes again");
    await page.waitForSelector("[data-frozen=false]");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog", { state: "detached" });

    const { entries } = unwrapBody(await world.operator.listOperatorAudit());
    const acts = entries.filter(({ action }) =>
      ["freeze", "unfreeze", "completeWithdrawal"].includes(action),
    );
    expect(acts.map(({ detail }) => detail)).toEqual([
      expect.stringContaining("the audit is over"),
      expect.stringContaining("an audit"),
      expect.stringContaining("the weekly run"),
    ]);
    expect(
      acts.every(({ actor, result }) => actor.startsWith("session:") && result === "200"),
    ).toBe(true);
    await context.close();
  });

  it("the console keeps the focus in a dialog, and returns it to the button afterwards", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, {
      place: "#/freeze",
    });
    await page.focus("main button.act");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    for (let presses = 0; presses < 12; presses += 1) {
      await page.keyboard.press("Tab");
      const isOutside = await page.evaluate<boolean>(
        "document.activeElement !== document.body && document.activeElement.closest('dialog') === null",
      );
      expect(isOutside).toBe(false);
    }
    await page.keyboard.press("Escape");
    await page.waitForSelector("main button.act:focus");
    await context.close();
  });

  it("the console does not run a destructive action without the typed word", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, {
      place: "#/freeze",
    });
    await page.click("main button.act");
    await page.fill("dialog [name=reason]", "a mistake");
    await page.fill("dialog [name=typed]", "freez");
    await page.click("dialog [type=submit]");
    expect(await page.locator("dialog [name=typed]:invalid").count()).toBe(1);
    expect(unwrapBody(await world.operator.getFreeze()).frozen).toBe(false);
    await context.close();
  });

  it("a dialog of the console deposits only once, and asks again about an id that no agent has", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, {
      place: "#/money",
    });
    await page.click("text=Deposit");
    await page.fill("dialog [name=agent]", "01234567-89ab-7def-8123-456789abcdef");
    await page.fill("dialog [name=amount]", "2.5");
    await page.fill("dialog [name=reference]", "cash 1");
    await page.fill("dialog [name=reason]", "paid at the desk");
    await page.click("dialog [type=submit]");
    await page.waitForSelector("dialog >> text=No agent has the id");
    await page.click("dialog [type=submit]");
    await page.waitForSelector("dialog >> text=now has 2.50 USD");
    await page.click("dialog >> text=Close");
    await page.waitForSelector("text=no agent has this id");
    const { accounts } = unwrapBody(await world.operator.listAccounts());
    const unknown = accounts.filter(({ agent_known }) => !agent_known);
    expect(unknown.map(({ balance }) => balance)).toEqual([2.5]);
    await context.close();
  });

  it("the console shows the buttons to a read-only session, which cannot use them", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, {
      place: "#/freeze",
      level: "view",
    });
    expect(await page.locator(".session summary").innerText()).toBe("view");
    expect(await page.locator("main button.act").getAttribute("aria-disabled")).toBe("true");
    await page.focus("main button.act");
    await page.keyboard.press("Enter");
    // The dialog also has a form by which the session may make changes again.
    const act = page.locator("dialog form:has(.consequence) [type=submit]");
    expect(await act.isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await page.click(".session summary");
    await page.fill(".session input", MASTER_TOKEN);
    await page.click(".session [type=submit]");
    await page.waitForSelector("summary:has-text('operate 10 min')");
    await page.click("main button.act");
    expect(await act.isDisabled()).toBe(false);
    await context.close();
  });
});
