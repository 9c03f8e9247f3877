import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

/** Returns by how many pixels a page is wider than the window. */
export const getOverflow = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");

/**
 * Finds times that are broken across lines, and tables that are wider than their container, where readers would
 * not look for more on the right.
 */
export const findCutTexts = (page: Page) =>
  page.evaluate<string[]>(`[
    ...[...document.querySelectorAll("td time")]
      .filter((time) => !time.textContent.includes(" ") && time.getClientRects().length > 1)
      .slice(0, 1)
      .map((time) => "broken: " + time.textContent),
    ...[...document.querySelectorAll(".scroll")]
      .filter((table) => table.scrollWidth > table.clientWidth)
      .map((table) => "cut: " + table.getAttribute("aria-label")),
  ]`);

/** Runs axe through the debugger, because the page's policy rightly blocks its script. */
export async function findBarriers(page: Page): Promise<string[]> {
  const source = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: source });
  const { result } = await session.send("Runtime.evaluate", {
    expression: "axe.run().then(({ violations }) => JSON.stringify(violations))",
    awaitPromise: true,
  });
  const violations = JSON.parse(String(result.value)) as {
    id: string;
    impact: string;
    nodes: { html: string }[];
  }[];
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
