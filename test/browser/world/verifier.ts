import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import type { LogExample } from "../../load-log-examples.ts";
import { openBrowser } from "../../open-browser.ts";
import { startRelayProcess } from "../../start-relay-process.ts";

/** The time that the clock of every page shows. */
export const NOW = 1_767_330_954_827;

/** The page /verify of a started relay, and the messages and requests of all its windows. */
export interface Verifier {
  readonly browser: Browser;
  readonly baseUrl: string;
  readonly messages: string[];
  readonly requests: string[];
  readonly openPage: (
    path?: string,
    options?: Parameters<Browser["newContext"]>[0],
  ) => Promise<{ page: Page; context: BrowserContext }>;
  readonly stop: () => Promise<void>;
}

export async function startVerifier(executablePath: string): Promise<Verifier> {
  const relay = await startRelayProcess();
  const { baseUrl } = relay;
  const browser = await openBrowser(executablePath);
  const messages: string[] = [];
  const requests: string[] = [];
  return {
    browser,
    baseUrl,
    messages,
    requests,
    openPage: async (path = "/verify", options = {}) => {
      const viewport = { width: 1280, height: 900 };
      const context = await browser.newContext({ viewport, ...options });
      const page = await context.newPage();
      page.on("console", (message) => messages.push(message.text()));
      page.on("pageerror", (error) => messages.push(error.message));
      page.on("request", (request) => requests.push(request.url()));
      await page.clock.setFixedTime(NOW);
      await page.goto(`${baseUrl}${path}`);
      if (path === "/verify") await page.waitForSelector("main[data-ready]");
      return { page, context };
    },
    stop: async () => {
      await browser.close();
      await relay.stop();
    },
  };
}

/** Gives texts to the page as files, and waits for all verdicts. */
export async function giveFiles(page: Page, texts: readonly string[], name = "evidence.json") {
  const mimeType = "application/json";
  const files = texts.map((text) => ({ name, mimeType, buffer: Buffer.from(text) }));
  await page.setInputFiles("input[type=file]", files);
  await waitForArticles(page, texts.length);
}

export const waitForArticles = (page: Page, count: number) =>
  expect
    .poll(() => page.locator("article").count(), { timeout: 120_000, interval: 100 })
    .toBe(count);

/** Writes the keys of an example into the fields of the page. */
export async function nameKeys(page: Page, { keys, log }: Pick<LogExample, "keys" | "log">) {
  await page.fill("#keys", keys.join(" "));
  if (!(await page.isVisible("#log"))) await page.click("text=Log and witnesses");
  await page.fill("#quorum", "");
  await page.fill("#log", log.log ?? "");
  await page.fill("#witnesses", log.witness?.join("\n") ?? "");
  await page.fill("#quorum", log.quorum ?? "");
}

/** A verdict as the page shows it. */
export interface Shown {
  readonly state: string;
  readonly code: string | undefined;
  readonly levels: readonly string[];
  /** The root of the log's head; absent if no log contains the file. */
  readonly head?: string;
}

/** Reads the verdicts that the page shows. */
export const readShown = (page: Page) => page.evaluate<Shown[]>(READ_SHOWN);

/** Evaluated in the page, which does not have the types of this file. */
const READ_SHOWN = `[...document.querySelectorAll("article")].map((article) => ({
  state: article.className,
  code: article.dataset.code,
  levels: [...article.querySelectorAll(":scope > section > .levels > li")].map((level) => level.className),
  head: article.querySelector(".facts.log [data-head]")?.textContent,
}))`;
