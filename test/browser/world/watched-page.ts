import { createRelayClient } from "@agent/client";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { MASTER_TOKEN } from "../../start-relay-process.ts";
import { unwrapBody } from "./real-agent.ts";

/** The messages and requests of all pages in a test file. */
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
  /** The route in the console, such as `#/tasks`. */
  readonly place?: string;
  readonly level?: "view";
}

/** Opens a window whose messages and requests are recorded. */
export async function openWindow(
  browser: Browser,
  watch: PageWatch,
  { width = 1280, height = 900, scheme = "light" }: PageOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await context.newPage();
  page.on("console", (message) => {
    // The message about a file that failed to load has the file's address; all others get that of the page.
    const place = message.location().url === "" ? page.url() : message.location().url;
    watch.messages.push(`${message.text()} at ${place}`);
  });
  page.on("pageerror", (error) => watch.messages.push(error.message));
  page.on("request", (request) => watch.requests.push(request.url()));
  return { page, context };
}

/** Creates a link to the console like the one that `agent-relay console` prints. */
export async function createConsoleLink(baseUrl: string, level?: "view"): Promise<string> {
  const operator = createRelayClient({ baseUrl, identity: { masterToken: MASTER_TOKEN } });
  const body = level === undefined ? {} : { level };
  const { code } = unwrapBody(await operator.createSessionCode({ body }));
  return `${baseUrl}/console#code=${code}`;
}

/** Opens the console with a new code and goes to a route in it. */
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

/** Goes to a route and waits until the view is complete. */
export async function goToPlace(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
  await page.waitForSelector(`main[data-place=${JSON.stringify(place)}]`);
  await waitForParts(page);
}

/** Waits until nothing on the page is loading any more. */
export async function waitForParts(page: Page): Promise<void> {
  await page.waitForSelector("h1");
  await page.waitForSelector(".loading", { state: "detached" });
}
