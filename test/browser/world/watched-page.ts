import { createRelayClient } from "@agent/client";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { MASTER_TOKEN } from "../../start-relay-process.ts";
import { unwrapBody } from "./real-agent.ts";

/** The messages and requests of all pages of a test file. */
export interface PageWatch {
  readonly messages: string[];
  readonly requests: string[];
}

export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  /** The place in the console, such as `#/tasks`. */
  readonly place?: string;
  readonly level?: "view";
}

/** Opens a window whose messages and requests are kept. */
export async function openWindow(
  browser: Browser,
  watch: PageWatch,
  { width = 1280, height = 900, scheme = "light" }: PageOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await context.newPage();
  page.on("console", (message) => {
    // A file that did not load is named by its own address, everything else by that of the page.
    const place = message.location().url === "" ? page.url() : message.location().url;
    watch.messages.push(`${message.text()} at ${place}`);
  });
  page.on("pageerror", (error) => watch.messages.push(error.message));
  page.on("request", (request) => watch.requests.push(request.url()));
  return { page, context };
}

/** Creates a link to the console as `agent-relay console` prints it. */
export async function createConsoleLink(baseUrl: string, level?: "view"): Promise<string> {
  const operator = createRelayClient({ baseUrl, identity: { masterToken: MASTER_TOKEN } });
  const body = level === undefined ? {} : { level };
  const { code } = unwrapBody(await operator.createSessionCode({ body }));
  return `${baseUrl}/console#code=${code}`;
}

/** Opens the console by a new code and goes to a place of it. */
export async function openConsole(
  browser: Browser,
  baseUrl: string,
  watch: PageWatch,
  options: PageOptions = {},
): Promise<OpenedPage> {
  const opened = await openWindow(browser, watch, options);
  const { page } = opened;
  await page.goto(await createConsoleLink(baseUrl, options.level));
  await page.waitForSelector("[data-live=live]");
  if (options.place !== undefined) await goToPlace(page, options.place);
  return opened;
}

/** Goes to a place and waits until its parts are there. */
export async function goToPlace(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
  await page.waitForSelector(`main[data-place=${JSON.stringify(place)}]`);
  await waitForParts(page);
}

/** Waits until nothing on the page is still loading. */
export async function waitForParts(page: Page): Promise<void> {
  await page.waitForSelector("h1");
  await page.waitForSelector(".loading", { state: "detached" });
}
